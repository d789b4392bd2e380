use super::*;
use crate::{columns, fixtures, histograms};
use fathom_core::rng::Rng;
use parquet::file::reader::{FileReader, SerializedFileReader};

fn series_file(dir: &Path, seconds: u32) -> (PathBuf, FileRecord) {
    let mut rng = Rng::new(1);
    let rows: Vec<_> = (0..seconds)
        .flat_map(|second| fixtures::second(&mut rng, second))
        .collect();
    let schema = columns::schema();
    let mut table = TableWriter::create(
        dir,
        "series.parquet",
        &schema,
        properties(&schema).expect("properties"),
    )
    .expect("created");
    table
        .write(&columns::batch_of(&schema, &rows).expect("a batch"))
        .expect("written");
    let record = table.finish().expect("finished");
    (dir.join("series.parquet"), record)
}

/// Compression, encodings and statistics are as chosen, column by column.
#[test]
fn properties_are_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, _) = series_file(dir.path(), 600);
    let reader = SerializedFileReader::new(File::open(path).expect("opened")).expect("parquet");
    let metadata = reader.metadata();
    assert!(
        metadata
            .file_metadata()
            .created_by()
            .is_some_and(|by| by.starts_with("fathom "))
    );
    assert_eq!(metadata.num_row_groups(), 1);
    for column in metadata.row_group(0).columns() {
        let name = column.column_path().string();
        assert!(matches!(column.compression(), Compression::ZSTD(_)), "{name}");
        assert!(column.statistics().is_some(), "{name}");
        let encodings: Vec<Encoding> = column.encodings().collect();
        match name.as_str() {
            "op" => assert!(
                encodings.contains(&Encoding::RLE_DICTIONARY),
                "{name}: {encodings:?}"
            ),
            "ramp" => {}
            _ => {
                assert!(
                    encodings.contains(&Encoding::DELTA_BINARY_PACKED),
                    "{name}: {encodings:?}"
                );
                assert!(
                    column.dictionary_page_offset().is_none(),
                    "{name} has a dictionary"
                );
            }
        }
    }
}

#[test]
fn the_checksum_tells_damage() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, record) = series_file(dir.path(), 5);
    read(&path, Some(&record), |_| Ok(())).expect("whole");
    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    let error = read(&path, Some(&record), |_| Ok(())).expect_err("changed");
    assert!(error.to_string().contains("checksum"), "{error}");
    bytes.pop();
    std::fs::write(&path, &bytes).expect("written");
    let error = read(&path, Some(&record), |_| Ok(())).expect_err("shorter");
    assert!(error.to_string().contains("bytes"), "{error}");
}

/// XXH64 of a known text, so that another program can check the record.
#[test]
fn the_checksum_is_xxh64_with_seed_0() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("x");
    std::fs::write(&path, "abc").expect("written");
    let record = record_of(&path, &path).expect("read");
    assert_eq!(record.xxh64, "44bc2cf5ad770999");
    assert_eq!((record.size_bytes, record.name.as_str()), (3, "x"));
}

#[test]
fn a_large_table_comes_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let rows = fixtures::histograms();
    let schema = histograms::schema();
    let mut table = TableWriter::create(dir.path(), "h", &schema, properties(&schema).expect("properties"))
        .expect("created");
    for some in rows.chunks(777) {
        table
            .write(&histograms::batch_of(&schema, some).expect("a batch"))
            .expect("written");
    }
    let record = table.finish().expect("finished");
    let path = dir.path().join("h");
    let mut back = Vec::new();
    read(&path, Some(&record), |batch| {
        histograms::rows_of(batch, &path, &mut back)
    })
    .expect("read");
    assert_eq!(back, rows);
}
