use super::*;
use crate::{columns, fixtures};
use arrow_schema::DataType;
use fathom_core::rng::Rng;
use fathom_core::run::SeriesRow;

impl ArrowStream {
    fn rows(&mut self, rows: &[SeriesRow]) -> io::Result<()> {
        self.write(&columns::batch_of(&columns::schema(), rows).expect("a batch"))
    }
}

/// A stream of so many seconds, its rows, and where it was whole.
fn stream(dir: &Path, seconds: u32, end: bool) -> (PathBuf, Vec<Vec<SeriesRow>>, Vec<u64>) {
    let path = dir.join("series.arrows");
    let mut stream = ArrowStream::create(&path, &columns::schema()).expect("created");
    let mut rng = Rng::new(3);
    let (mut rows, mut whole) = (Vec::new(), vec![stream.whole_bytes]);
    for second in 0..seconds {
        let some = fixtures::second(&mut rng, second);
        stream.rows(&some).expect("written");
        rows.push(some);
        whole.push(stream.whole_bytes);
    }
    if end {
        stream.end().expect("ended");
    }
    (path, rows, whole)
}

/// The rows of a file and how it ends.
fn read(path: &Path) -> (Vec<SeriesRow>, Tail) {
    let mut reader = StreamReader::open(path, &columns::schema()).expect("opened");
    let mut rows = Vec::new();
    while let Some(batch) = reader.next().expect("read") {
        columns::rows_of(&batch, path, &mut rows).expect("our columns");
    }
    (rows, reader.tail())
}

#[test]
fn rows_come_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, rows, _) = stream(dir.path(), 5, true);
    assert_eq!(read(&path), (rows.concat(), Tail::Ended));
}

#[test]
fn an_empty_second_writes_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("series.arrows");
    let mut stream = ArrowStream::create(&path, &columns::schema()).expect("created");
    let before = stream.whole_bytes;
    stream.rows(&[]).expect("nothing to do");
    assert_eq!(stream.whole_bytes, before);
    assert_eq!(read(&path), (Vec::new(), Tail::Torn { left_over_bytes: 0 }));
}

/// Cut anywhere, the stream yields the seconds that were whole, and says what is left over.
#[test]
fn torn_at_every_byte() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, rows, whole) = stream(dir.path(), 2, false);
    let torn = dir.path().join("torn");
    std::fs::copy(&path, &torn).expect("copied");
    let file = File::options().write(true).open(&torn).expect("opened");
    let size = whole.last().copied().unwrap_or(0) as usize;
    for end in (0..=size).rev() {
        file.set_len(end as u64).expect("cut");
        let (found, tail) = read(&torn);
        let batches = whole[1..].iter().filter(|&&at| at <= end as u64).count();
        assert_eq!(found, rows[..batches].concat(), "cut at {end}");
        let last = whole
            .iter()
            .rev()
            .find(|&&at| at <= end as u64)
            .copied()
            .unwrap_or(0);
        let left_over_bytes = end as u64 - last;
        assert_eq!(tail, Tail::Torn { left_over_bytes }, "cut at {end}");
    }
}

/// After a power loss a file may have its length but not its data.
#[test]
fn zeros_at_the_end_are_a_torn_tail() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, rows, whole) = stream(dir.path(), 3, false);
    let mut bytes = std::fs::read(&path).expect("read");
    bytes.truncate(whole[2] as usize);
    bytes.resize(bytes.len() + 4096, 0);
    std::fs::write(&path, &bytes).expect("written");
    let tail = Tail::Torn {
        left_over_bytes: 4096,
    };
    assert_eq!(read(&path), (rows[..2].concat(), tail));
}

/// A failed write is taken back: the seconds after it are readable.
#[test]
fn later_seconds_survive_a_failed_write() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("series.arrows");
    let mut stream = ArrowStream::create(&path, &columns::schema()).expect("created");
    let mut rng = Rng::new(3);
    let rows: Vec<_> = (0..3).map(|second| fixtures::second(&mut rng, second)).collect();
    stream.rows(&rows[0]).expect("written");
    // Half a message, as a full disk leaves it, then what `append` does on an error.
    stream.file.write_all(&[0xff; 100]).expect("written");
    stream.file.set_len(stream.whole_bytes).expect("cut");
    stream
        .file
        .seek(SeekFrom::Start(stream.whole_bytes))
        .expect("moved");
    stream.rows(&rows[2]).expect("written");
    stream.end().expect("ended");
    assert_eq!(read(&path).0, [rows[0].clone(), rows[2].clone()].concat());
}

/// The same through a real full device.
#[test]
fn a_full_disk_is_an_error() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        fathom_testkit::skipped("a_full_disk_is_an_error", "no /dev/full");
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let mut stream = ArrowStream::create(&dir.path().join("s"), &columns::schema()).expect("created");
    stream.fill_disk();
    let rows = fixtures::second(&mut Rng::new(1), 0);
    assert!(stream.rows(&rows).is_err());
}

/// One changed byte: never a panic, and what comes out before the damage is as it was written.
#[test]
fn flipped_bytes() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, _, _) = stream(dir.path(), 3, true);
    let bytes = std::fs::read(&path).expect("read");
    let changed = dir.path().join("changed");
    let seed = 20_260_101;
    let mut rng = Rng::new(seed);
    let mut damaged = 0;
    for round in 0..6_000 {
        let mut copy = bytes.clone();
        for _ in 0..=rng.below(3) {
            let at = rng.below(copy.len() as u64) as usize;
            copy[at] ^= 1 << rng.below(8);
        }
        fixtures::put(&changed, &copy);
        let Ok(mut reader) = StreamReader::open(&changed, &columns::schema()) else {
            damaged += 1;
            continue;
        };
        let mut rows = Vec::new();
        while let Ok(Some(batch)) = reader.next() {
            if columns::rows_of(&batch, &changed, &mut rows).is_err() {
                damaged += 1;
                break;
            }
        }
        assert!(rows.len() <= 9, "seed {seed}, round {round}: rows from nowhere");
        damaged += u32::from(reader.tail() != Tail::Ended);
    }
    assert!(
        damaged > 500,
        "seed {seed}: the damage was hardly noticed: {damaged} times"
    );
}

#[test]
fn other_arrow_streams_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("other");
    let schema = Arc::new(Schema::new(vec![arrow_schema::Field::new(
        "x",
        DataType::Float64,
        false,
    )]));
    let mut writer = StreamWriter::try_new(File::create(&path).expect("made"), &schema).expect("a writer");
    writer.finish().expect("written");
    let Err(error) = StreamReader::open(&path, &columns::schema()) else {
        panic!("a foreign stream was accepted");
    };
    assert!(error.to_string().contains("column `x` is Float64"), "{error}");
}
