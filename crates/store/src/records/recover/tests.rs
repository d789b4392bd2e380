use super::*;
use crate::fixtures as run_fixtures;
use crate::records::fixtures::{directory, ios, read};
use crate::{RunWriter, StreamWriter};
use fathom_core::record::RowSink;
use fathom_core::rng::Rng;
use fathom_core::run::Status;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A run under way with three segments: two whole, one begun.
fn recorded() -> (TempDir, RunWriter, StreamWriter<IoRecord>, Vec<IoRecord>) {
    let dir = tempfile::tempdir().expect("a directory");
    let run = directory(dir.path());
    let rows = ios(9, 250);
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir.path(), 100).expect("created");
    for some in rows.chunks(50) {
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
    }
    (dir, run, writer, rows)
}

/// What a kill leaves: the files as they are, without their locks.
fn killed() -> (TempDir, Vec<IoRecord>) {
    let (dir, run, writer, rows) = recorded();
    drop((run, writer));
    (dir, rows)
}

/// The directory reads, recovers, reads the same, and there is nothing left to recover.
fn check(dir: &Path, rows: &[IoRecord], lost: Option<&str>) {
    assert_eq!(read::<IoRecord>(dir).expect("read as it is").0, rows);
    let recovered = crate::recover(dir).expect("recovered");
    assert_eq!(
        (recovered.run.status, recovered.changed),
        (Status::Interrupted, true)
    );
    match (lost, &recovered.lost) {
        (None, None) => {}
        (Some(lost), Some(found)) if found.contains(lost) => {}
        (expected, found) => panic!("expected {expected:?}, found {found:?}"),
    }
    let stream = &recovered.run.summary.streams[0];
    assert_eq!((stream.kind, stream.rows), (StreamKind::Io, rows.len() as u64));
    assert!(stream.missing[0].contains("was killed"), "{stream:?}");
    assert_eq!(read::<IoRecord>(dir).expect("read"), (rows.to_vec(), true));
    for name in Folder::new(dir, StreamKind::Io).names().expect("names") {
        assert!(numbered_parquet(&name), "{name} is left over");
        let listed = crate::document::read(dir)
            .expect("read")
            .file(&format!("io/{name}"))
            .cloned();
        table::check(&dir.join("io").join(&name), &listed.expect("it is listed")).expect("its checksum");
    }
    let again = crate::recover(dir).expect("nothing to do");
    assert_eq!((again.changed, again.lost), (false, None));
}

fn numbered_parquet(name: &str) -> bool {
    name.strip_suffix(".parquet")
        .is_some_and(|n| n.len() == 6 && n.bytes().all(|b| b.is_ascii_digit()))
}

#[test]
fn a_killed_stream_becomes_parquet() {
    let (dir, rows) = killed();
    check(dir.path(), &rows, None);
}

#[test]
fn a_stream_under_way_is_left_alone() {
    let (dir, run, writer, rows) = recorded();
    let alive = crate::recover(dir.path()).expect_err("it is alive");
    assert!(matches!(alive, StoreError::StillRunning { .. }), "{alive}");
    // Its stream alone.
    drop(run);
    let alive = crate::recover(dir.path()).expect_err("it is alive");
    assert!(matches!(alive, StoreError::StillRunning { .. }), "{alive}");
    drop(writer);
    check(dir.path(), &rows, None);
}

#[test]
fn a_torn_stream_loses_what_was_being_written() {
    let (dir, rows) = killed();
    let path = dir.path().join("io/000002.arrows");
    let size = std::fs::metadata(&path).expect("a file").len();
    File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(size - 10))
        .expect("cut");
    check(
        dir.path(),
        &rows[..200],
        Some("io: the last second was being written"),
    );
}

/// What is done to the folder of a stream, with the whole Parquet file of its last segment.
type Step = (&'static str, fn(&Path, &[u8]));

/// Killed between any two steps of closing a segment, each row is there once.
#[test]
fn killed_at_each_step_of_closing_a_segment() {
    let (dir, rows) = killed();
    let io = dir.path().join("io");
    // The last segment as a whole Parquet file, made aside.
    let whole = {
        let (other, _) = killed();
        crate::recover(other.path()).expect("recovered");
        std::fs::read(other.path().join("io/000002.parquet")).expect("read")
    };
    let steps: [Step; 6] = [
        ("the table is half written", |io, whole| {
            std::fs::write(io.join(".000002.parquet.tmp"), &whole[..whole.len() / 2]).expect("written");
        }),
        ("the table is written", |io, whole| {
            std::fs::write(io.join(".000002.parquet.tmp"), whole).expect("written");
        }),
        ("the table has its name", |io, whole| {
            std::fs::remove_file(io.join(".000002.parquet.tmp")).expect("removed");
            std::fs::write(io.join("000002.parquet"), whole).expect("written");
        }),
        ("the stream is gone", |io, whole| {
            std::fs::remove_file(io.join(".000002.parquet.tmp")).expect("removed");
            std::fs::write(io.join("000002.parquet"), whole).expect("written");
            std::fs::remove_file(io.join("000002.arrows")).expect("removed");
        }),
        ("the next stream is empty", |io, whole| {
            std::fs::remove_file(io.join(".000002.parquet.tmp")).expect("removed");
            std::fs::write(io.join("000002.parquet"), whole).expect("written");
            std::fs::remove_file(io.join("000002.arrows")).expect("removed");
            std::fs::write(io.join("000003.arrows"), "").expect("written");
        }),
        ("the next table is begun", |io, whole| {
            std::fs::rename(io.join(".000002.parquet.tmp"), io.join(".000003.parquet.tmp")).expect("renamed");
            std::fs::write(io.join("000002.parquet"), whole).expect("written");
            std::fs::remove_file(io.join("000002.arrows")).expect("removed");
            std::fs::write(io.join("000003.arrows"), "").expect("written");
        }),
    ];
    for (name, step) in steps {
        let copy = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(copy.path().join("io")).expect("made");
        for (from, to) in [(dir.path(), copy.path()), (&io, &copy.path().join("io"))] {
            for entry in std::fs::read_dir(from).expect("a folder") {
                let entry = entry.expect("an entry");
                if entry.file_type().expect("a type").is_file() {
                    std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
                }
            }
        }
        step(&copy.path().join("io"), &whole);
        eprintln!("{name}");
        check(copy.path(), &rows, None);
    }
}

/// After a loss of power a file may have its name but not its data: it is put aside and told, the rest is kept.
#[test]
fn a_file_without_its_data_is_put_aside() {
    let (dir, rows) = killed();
    let path = dir.path().join("io/000000.parquet");
    let size = std::fs::metadata(&path).expect("a file").len() as usize;
    std::fs::write(&path, vec![0; size]).expect("written");
    let recovered = crate::recover(dir.path()).expect("recovered");
    let lost = recovered.lost.expect("a loss");
    assert!(lost.contains("all of io/000000.parquet, now "), "{lost}");
    assert!(dir.path().join("io/000000.parquet.damaged").exists());
    assert_eq!(
        read::<IoRecord>(dir.path()).expect("read"),
        (rows[100..].to_vec(), true)
    );
}

/// Damage of a finished run is not hidden by recovery.
#[test]
fn a_listed_file_stays_as_it_is() {
    let (dir, mut run, writer, _) = recorded();
    run.stream_ended(&writer.finish().expect("finished"));
    run.finish(&run_fixtures::finished(), std::iter::empty())
        .expect("finished");
    let path = dir.path().join("io/000000.parquet");
    std::fs::write(&path, "x").expect("written");
    let recovered = crate::recover(dir.path()).expect("nothing to do");
    assert!(!recovered.changed);
    assert_eq!(std::fs::read(&path).expect("read"), b"x");
    read::<IoRecord>(dir.path()).expect_err("it is damaged");
}

const CHILD_DIR: &str = "FATHOM_STORE_RECORD_CHILD_DIR";

/// Only does anything as the child of the next test: records until it is killed, and says after each tick what it has
/// handed over.
#[test]
fn child_that_records() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let dir = Path::new(&dir);
    let _run = directory(dir);
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir, 4_000).expect("created");
    for some in ios(10, 4_000_000).chunks(500) {
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
        println!("kept {}", writer.rows_kept());
    }
}

#[test]
fn kill_9_at_random_moments() {
    if !fathom_testkit::starts_itself("records::recover::kill_9_at_random_moments") {
        return;
    }
    let expected = ios(10, 4_000_000);
    let seed = 20_261_121;
    let mut rng = Rng::new(seed);
    for round in 0..8 {
        let parent = tempfile::tempdir().expect("a directory");
        let dir = parent.path().join("run");
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args([
                "--exact",
                "records::recover::tests::child_that_records",
                "--nocapture",
            ])
            .env(CHILD_DIR, &dir)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let until = rng.below(60);
        let mut ticks = 0;
        let mut kept = 0;
        for line in lines.by_ref().map_while(Result::ok) {
            // The test harness prints its own words before the first.
            if let Some((_, number)) = line.split_once("kept ") {
                kept = number.parse::<usize>().expect("a number");
                ticks += 1;
            }
            if ticks > until {
                break;
            }
        }
        std::thread::sleep(std::time::Duration::from_micros(rng.below(3_000)));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let (rows, _) = read::<IoRecord>(&dir).expect("read");
        assert!(
            rows.len() >= kept,
            "seed {seed}, round {round}: {} of {kept}",
            rows.len()
        );
        assert_eq!(rows, expected[..rows.len()], "seed {seed}, round {round}");
        let recovered = crate::recover(&dir).expect("recovered");
        assert_eq!(recovered.run.summary.streams[0].rows, rows.len() as u64);
        assert_eq!(
            read::<IoRecord>(&dir).expect("read"),
            (rows, true),
            "seed {seed}, round {round}"
        );
    }
}
