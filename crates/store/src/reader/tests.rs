use super::*;
use crate::{RunWriter, fixtures};
use expect_test::{Expect, expect};
use fathom_core::rng::Rng;
use fathom_core::run::SeriesSink;
use std::fs;
use tempfile::TempDir;

/// A directory with a run of three seconds, its end still to come.
fn killed() -> (TempDir, Vec<SeriesRow>) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = RunWriter::create(dir.path(), &fixtures::run()).expect("created");
    let mut rng = Rng::new(4);
    let mut all = Vec::new();
    for second in 0..3 {
        let rows = fixtures::second(&mut rng, second);
        writer.rows(&rows).expect("kept");
        all.extend(rows);
    }
    (dir, all)
}

fn finished() -> (TempDir, Vec<SeriesRow>) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = RunWriter::create(dir.path(), &fixtures::run()).expect("created");
    let rows = fixtures::second(&mut Rng::new(4), 0);
    writer.rows(&rows).expect("kept");
    let histograms = fixtures::histograms().into_iter().take(300);
    writer
        .finish(&fixtures::finished(), histograms)
        .expect("finished");
    (dir, rows)
}

fn check(dir: &TempDir, expect: &Expect) {
    let error = read(dir.path()).expect_err("a broken run");
    let place = dir.path().display().to_string();
    let message = error.to_string().replace(&place, "DIR");
    // Sizes change with the version.
    let words = message.split(' ').map(|word| match word.parse::<u64>() {
        Ok(size) if size > 1000 => "SIZE",
        _ => word,
    });
    expect.assert_eq(&words.collect::<Vec<_>>().join(" "));
}

fn cut(path: &Path, bytes: u64) {
    let file = File::options().write(true).open(path).expect("opened");
    let size = file.metadata().expect("a size").len();
    file.set_len(size - bytes).expect("cut");
}

#[test]
fn recovery() {
    let (dir, rows) = killed();
    cut(&dir.path().join(SERIES_STREAM_FILE), 10);
    let stored = read(dir.path()).expect("read");
    assert_eq!(stored.series, rows[..6]);
    assert!(!stored.complete);

    let recovered = recover_with(dir.path(), |run, series| {
        run.command.push(format!("{} rows", series.len()));
    });
    let recovered = recovered.expect("recovered");
    assert_eq!((recovered.rows, recovered.changed), (6, true));
    assert!(recovered.lost.expect("a loss").starts_with("the last second"));
    assert_eq!(recovered.run.status, Status::Interrupted);
    assert_eq!(recovered.run.command[1], "6 rows");

    let stored = read(dir.path()).expect("read");
    assert_eq!(stored.series, rows[..6]);
    assert!(stored.complete);
    assert_eq!(stored.run, recovered.run);
    assert!(!dir.path().join(SERIES_STREAM_FILE).exists());

    let again = recover(dir.path()).expect("nothing to do");
    assert_eq!((again.changed, again.lost), (false, None));
    assert_eq!(read(dir.path()).expect("read"), stored);
}

#[test]
fn recovery_of_finished_runs_changes_nothing() {
    let (dir, _) = finished();
    let before = fs::read(dir.path().join("run.json")).expect("read");
    assert!(!recover(dir.path()).expect("nothing to do").changed);
    assert_eq!(fs::read(dir.path().join("run.json")).expect("read"), before);
}

/// Killed between the list of files and the removal of the stream.
#[test]
fn recovery_removes_a_stream_that_is_no_longer_needed() {
    let (dir, rows) = finished();
    fs::write(dir.path().join(SERIES_STREAM_FILE), "left over").expect("written");
    assert_eq!(read(dir.path()).expect("read").series, rows);
    let recovered = recover(dir.path()).expect("recovered");
    assert!(recovered.changed && recovered.run.status == Status::Complete);
    assert!(!dir.path().join(SERIES_STREAM_FILE).exists());
}

#[test]
fn recovery_keeps_what_is_before_the_damage() {
    let (dir, rows) = killed();
    let path = dir.path().join(SERIES_STREAM_FILE);
    let mut bytes = fs::read(&path).expect("read");
    let last = bytes.len() - 40;
    let start = bytes[..last]
        .windows(4)
        .rposition(|w| w == [0xff; 4])
        .expect("a message");
    bytes[start] = 0;
    fs::write(&path, &bytes).expect("written");
    let error = read(dir.path()).expect_err("damage");
    assert!(error.to_string().contains("fathom recover"), "{error}");
    let recovered = recover(dir.path()).expect("recovered");
    assert_eq!(recovered.rows, 6);
    assert!(recovered.lost.expect("a loss").contains("after byte"));
    assert_eq!(read(dir.path()).expect("read").series, rows[..6]);
}

#[test]
fn a_living_run_is_not_recovered() {
    let dir = tempfile::tempdir().expect("a directory");
    let writer = RunWriter::create(dir.path(), &fixtures::run()).expect("created");
    assert!(matches!(
        recover(dir.path()),
        Err(StoreError::StillRunning { .. })
    ));
    drop(writer);
    assert!(recover(dir.path()).expect("recovered").changed);
}

/// Killed between its first two files.
#[test]
fn a_run_without_a_series() {
    let dir = tempfile::tempdir().expect("a directory");
    crate::document::write(dir.path(), &fixtures::run(), &[]).expect("written");
    let stored = read(dir.path()).expect("read");
    assert!(stored.series.is_empty() && !stored.complete);
    assert_eq!(
        recover(dir.path()).expect("recovered").run.status,
        Status::Interrupted
    );
    assert_eq!(read(dir.path()).expect("read").run.status, Status::Interrupted);
}

#[test]
fn errors() {
    check(
        &tempfile::tempdir().expect("a directory"),
        &expect![
            "DIR is not a run directory: it has no run.json. Give the directory that `fathom run -o` made"
        ],
    );

    let (dir, _) = finished();
    cut(&dir.path().join(SERIES_FILE), 1);
    check(
        &dir,
        &expect![
            "DIR/series.parquet is damaged: it has SIZE bytes, SIZE were written. Restore the file from a copy; the summary in run.json does not depend on it"
        ],
    );

    let (dir, _) = finished();
    fs::remove_file(dir.path().join(SERIES_FILE)).expect("removed");
    check(
        &dir,
        &expect!["cannot read DIR/series.parquet: No such file or directory (os error 2). Check the path"],
    );

    // Not listed, since the run is under way: only the decoder can tell.
    let (dir, _) = finished();
    crate::document::write(dir.path(), &fixtures::run(), &[]).expect("written");
    fs::write(dir.path().join(SERIES_FILE), "PAR1 no table PAR1").expect("written");
    check(
        &dir,
        &expect![
            "DIR/series.parquet is damaged: EOF: Parquet file too small. Size is 18 but need 543517802. Restore the file from a copy; the summary in run.json does not depend on it"
        ],
    );

    let (dir, _) = finished();
    crate::document::write(dir.path(), &fixtures::run(), &[]).expect("written");
    let histograms = dir.path().join(HISTOGRAMS_FILE);
    fs::rename(histograms, dir.path().join(SERIES_FILE)).expect("renamed");
    check(
        &dir,
        &expect![
            "DIR/series.parquet: column `second` is missing. The file was not made by this version of fathom, or was changed: restore it from a copy"
        ],
    );

    let (dir, _) = killed();
    fs::write(dir.path().join(SERIES_STREAM_FILE), "neither Arrow nor torn").expect("written");
    check(
        &dir,
        &expect![
            "DIR/series.arrows is damaged: no message begins at byte 0. Run `fathom recover` on the directory to keep the seconds before the damage"
        ],
    );

    let (dir, _) = finished();
    fs::write(dir.path().join("run.json"), "{\n \"schema\": \"fathom.run/1\", }").expect("written");
    check(
        &dir,
        &expect![
            "DIR/run.json:2:28: not a run record: trailing comma at line 2 column 28. Restore the file from a copy; the series beside it can be read with any Parquet or Arrow tool"
        ],
    );
}

/// Flipped bytes in any file of a run directory, listed or not: an answer or an error, never a panic.
#[test]
fn flipped_bytes_never_panic() {
    let seed = 77;
    let mut rng = Rng::new(seed);
    let (done, _) = finished();
    let (open, _) = killed();
    let mut unlisted = Vec::new();
    for (dir, listed) in [(&done, true), (&done, false), (&open, true)] {
        if !listed {
            crate::document::write(dir.path(), &fixtures::run(), &[]).expect("written");
        }
        for entry in fs::read_dir(dir.path()).expect("listed") {
            let path = entry.expect("an entry").path();
            let bytes = fs::read(&path).expect("read");
            for _ in 0..200 {
                let mut copy = bytes.clone();
                let at = rng.below(copy.len() as u64) as usize;
                copy[at] = rng.next_u64() as u8;
                if rng.below(4) == 0 {
                    copy.truncate(at);
                }
                fixtures::put(&path, &copy);
                let result = read(dir.path())
                    .map(|_| ())
                    .and(read_histograms(dir.path()).map(|_| ()));
                if let Err(error) = result {
                    unlisted.push(error.to_string());
                }
            }
            fixtures::put(&path, &bytes);
        }
    }
    assert!(
        unlisted.len() > 500,
        "seed {seed}: {} errors only",
        unlisted.len()
    );
    assert!(
        unlisted.iter().all(|message| message.contains(". ")),
        "each has a remedy"
    );
}
