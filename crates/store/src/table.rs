//! Tables at rest: Parquet files written with every property set on purpose, read with suspicion.
//!
//! Data in: record batches. Data out: a file that `DuckDB`, Spark, Polars and their like read; record batches
//! again. It must not know what the columns mean.

use crate::StoreError;
use crate::document::FileRecord;
use crate::error::{RESTORE, guarded};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh64::Xxh64;

/// Rows that the writer holds in memory before it writes them: three days of one job's seconds.
const ROW_GROUP_ROWS: usize = 1 << 18;

/// How columns are kept. Explicit, since the default is uncompressed and tries a dictionary on every column,
/// which costs memory and gains nothing on counters.
fn properties(schema: &SchemaRef) -> Result<WriterProperties, ParquetError> {
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("fathom version ", env!("CARGO_PKG_VERSION")).to_owned())
        // Version 2 has the delta encodings (of the common readers Spark came last, with 3.3).
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN);
    for field in schema.fields() {
        let column = ColumnPath::from(field.name().as_str());
        builder = match field.data_type() {
            // Few different words (op, metric): a dictionary of at most a page.
            DataType::Utf8 => builder
                .set_column_dictionary_enabled(column.clone(), true)
                .set_column_dictionary_page_size_limit(column, 4096),
            // Numbers that grow or repeat: the differences are small.
            DataType::UInt32 | DataType::UInt64 => {
                builder.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
            }
            DataType::Boolean => builder.set_column_encoding(column, Encoding::RLE),
            _ => builder,
        };
    }
    Ok(builder.build())
}

/// A table being written: a temporary file until [`TableWriter::finish`].
pub(crate) struct TableWriter {
    writer: ArrowWriter<File>,
    path: PathBuf,
    temporary: PathBuf,
}

impl TableWriter {
    pub(crate) fn create(dir: &Path, name: &str, schema: &SchemaRef) -> Result<Self, StoreError> {
        let path = dir.join(name);
        let temporary = dir.join(format!(".{name}.tmp"));
        let file = File::create(&temporary).map_err(|source| StoreError::io("create", &temporary, source))?;
        let writer = properties(schema)
            .and_then(|properties| ArrowWriter::try_new(file, SchemaRef::clone(schema), Some(properties)))
            .map_err(|error| failed(&path, error))?;
        Ok(Self {
            writer,
            path,
            temporary,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.writer
            .write(batch)
            .map_err(|error| failed(&self.path, error))
    }

    /// Completes the file, waits until it is on the disk and gives it its name.
    pub(crate) fn finish(mut self) -> Result<FileRecord, StoreError> {
        self.writer.finish().map_err(|error| failed(&self.path, error))?;
        let io = |source| StoreError::io("write", &self.path, source);
        self.writer.inner().sync_all().map_err(io)?;
        let record = record_of(&self.temporary, &self.path)?;
        std::fs::rename(&self.temporary, &self.path).map_err(io)?;
        Ok(record)
    }
}

/// An error of writing: mostly the disk's.
fn failed(path: &Path, error: ParquetError) -> StoreError {
    let source = match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(inner) => io::Error::other(inner.to_string()),
        },
        other => io::Error::other(other.to_string()),
    };
    StoreError::io("write", path, source)
}

/// Size and checksum of a file that is to be called `path`.
pub(crate) fn record_of(file: &Path, path: &Path) -> Result<FileRecord, StoreError> {
    let io = |source| StoreError::io("read", file, source);
    let mut input = File::open(file).map_err(io)?;
    let mut hash = Xxh64::new(0);
    let mut size_bytes = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                hash.update(&buffer[..n]);
                size_bytes += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(io(source)),
        }
    }
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(FileRecord {
        name,
        size_bytes,
        xxh64: format!("{:016x}", hash.digest()),
    })
}

/// Reads a table, batch by batch, after comparing it with its record.
///
/// # Errors
/// It cannot be read, is not what was recorded, or is no Parquet file; or an error of `take`.
pub(crate) fn read(
    path: &Path,
    record: Option<&FileRecord>,
    mut take: impl FnMut(&RecordBatch) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    if let Some(record) = record {
        let found = record_of(path, path)?;
        if found.size_bytes != record.size_bytes {
            let detail = format!(
                "it has {} bytes, {} were written",
                found.size_bytes, record.size_bytes
            );
            return Err(StoreError::corrupt(path, detail, RESTORE));
        }
        if found.xxh64 != record.xxh64 {
            let detail = "its checksum is not the one in run.json";
            return Err(StoreError::corrupt(path, detail, RESTORE));
        }
    }
    let file = File::open(path).map_err(|source| StoreError::io("open", path, source))?;
    guarded(path, RESTORE, || {
        let bad = |error: ParquetError| StoreError::corrupt(path, error.to_string(), RESTORE);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(ParquetRecordBatchReaderBuilder::build)
            .map_err(bad)?;
        for batch in reader {
            take(&batch.map_err(|error| StoreError::corrupt(path, error.to_string(), RESTORE))?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
