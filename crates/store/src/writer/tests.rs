use super::*;
use crate::{fixtures, read, read_histograms, read_run};
use fathom_core::rng::Rng;
use fathom_core::run::Status;
use std::fs;

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("listed");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

fn record(dir: &Path, seconds: u32) -> (RunWriter, Vec<SeriesRow>) {
    let mut writer = RunWriter::create(dir, &fixtures::run()).expect("created");
    let mut rng = Rng::new(9);
    let mut all = Vec::new();
    for second in 0..seconds {
        let rows = fixtures::second(&mut rng, second);
        writer.rows(&rows).expect("kept");
        all.extend(rows);
    }
    (writer, all)
}

#[test]
fn a_run_comes_back() {
    let parent = tempfile::tempdir().expect("a directory");
    let dir = parent.path().join("a/new/place");
    let (writer, rows) = record(&dir, 30);
    assert_eq!(names(&dir), ["run.json", "series.arrows"]);
    writer
        .finish(&fixtures::finished(), fixtures::histograms().into_iter())
        .expect("finished");
    assert_eq!(names(&dir), ["histograms.parquet", "run.json", "series.parquet"]);
    let stored = read(&dir).expect("read");
    assert_eq!(stored.run, fixtures::finished());
    assert_eq!(stored.series, rows);
    assert!(stored.complete);
    assert_eq!(read_histograms(&dir).expect("read"), fixtures::histograms());
}

#[test]
fn a_run_without_rows_comes_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let (writer, _) = record(dir.path(), 0);
    writer
        .finish(&fixtures::finished(), std::iter::empty())
        .expect("finished");
    let stored = read(dir.path()).expect("read");
    assert!(stored.series.is_empty() && stored.complete);
    assert!(read_histograms(dir.path()).expect("read").is_empty());
}

#[test]
fn nothing_of_others_is_touched() {
    let dir = tempfile::tempdir().expect("a directory");
    let precious = dir.path().join("precious");
    fs::write(&precious, "data").expect("written");
    let Err(error) = RunWriter::create(dir.path(), &fixtures::run()) else {
        panic!("a foreign directory was taken");
    };
    assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
    assert!(error.to_string().contains("-o"), "{error}");
    assert_eq!(names(dir.path()), ["precious"]);

    let Err(error) = RunWriter::create(&precious, &fixtures::run()) else {
        panic!("a file was taken for a directory");
    };
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert_eq!(fs::read(&precious).expect("read"), b"data");
}

#[test]
fn a_run_is_not_overwritten() {
    let dir = tempfile::tempdir().expect("a directory");
    let (writer, _) = record(dir.path(), 1);
    let before = fs::read(dir.path().join(RUN_FILE)).expect("read");
    for _ in 0..2 {
        let Err(error) = RunWriter::create(dir.path(), &fixtures::finished()) else {
            panic!("a run was overwritten");
        };
        assert!(matches!(error, StoreError::RunExists { .. }), "{error}");
    }
    assert_eq!(fs::read(dir.path().join(RUN_FILE)).expect("read"), before);
    drop(writer);
}

/// After a kill without any end, all seconds that were handed over are there.
#[test]
fn a_killed_run_is_readable() {
    let dir = tempfile::tempdir().expect("a directory");
    let (writer, rows) = record(dir.path(), 7);
    // While it runs:
    let stored = read(dir.path()).expect("read");
    assert_eq!((stored.run.status, stored.complete), (Status::Running, false));
    assert_eq!(stored.series, rows);
    drop(writer);
    assert_eq!(read(dir.path()).expect("read").series, rows);
    assert!(read_histograms(dir.path()).expect("read").is_empty());
}

/// Each state that a crash during `finish` can leave has the whole series, and the summary once it was written.
#[test]
fn every_step_of_finish_leaves_a_readable_run() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut writer, rows) = record(dir.path(), 4);
    let check = |step: &str, summary: bool| {
        let stored = read(dir.path()).expect(step);
        assert!(stored.series == rows && stored.complete, "{step}: series");
        assert_eq!(stored.run == fixtures::finished(), summary, "{step}: summary");
        assert_eq!(read_run(dir.path()).expect(step), stored.run);
    };
    writer.stream.end().expect("ended");
    check("ended", false);
    document::write(dir.path(), &fixtures::finished(), &[]).expect("written");
    check("summary", true);
    fs::write(dir.path().join(".series.parquet.tmp"), "PAR1 half a ta").expect("written");
    check("half a table", true);
    let (series, converted) = convert_series(dir.path()).expect("converted");
    assert_eq!((converted.rows, converted.tail), (12, Tail::Ended));
    check("table", true);
    let files = [
        series,
        write_histograms(dir.path(), HISTOGRAMS_FILE, std::iter::empty()).expect("written"),
    ];
    check("histograms", true);
    document::write(dir.path(), &fixtures::finished(), &files).expect("written");
    check("listed", true);
    remove_temporaries(dir.path()).expect("removed");
    check("done", true);
    remove_temporaries(dir.path()).expect("nothing to remove");
}

/// Where the child of [`a_run_survives_kill_9`] writes to.
const CHILD_DIR: &str = "FATHOM_STORE_TEST_CHILD_DIR";

/// Not a test of its own: the process that is killed.
#[test]
fn child_that_is_killed() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let (writer, rows) = record(Path::new(&dir), 20);
    assert_eq!(rows.len(), 60);
    println!("recorded");
    std::thread::sleep(std::time::Duration::from_mins(1));
    drop(writer);
}

#[test]
fn a_run_survives_kill_9() {
    use std::io::{BufRead, BufReader};
    if !fathom_testkit::starts_itself("writer::a_run_survives_kill_9") {
        return;
    }
    let parent = tempfile::tempdir().expect("a directory");
    let dir = parent.path().join("run");
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "writer::tests::child_that_is_killed", "--nocapture"])
        .env(CHILD_DIR, &dir)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("a child");
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let recorded = output
        .lines()
        .any(|line| line.is_ok_and(|line| line.contains("recorded")));
    let alive = crate::recover(&dir);
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert!(recorded, "the child recorded nothing");
    assert!(
        matches!(alive, Err(StoreError::StillRunning { .. })),
        "it was alive: {alive:?}"
    );
    let stored = read(&dir).expect("read");
    assert_eq!((stored.series.len(), stored.complete), (60, false));
    let recovered = crate::recover(&dir).expect("recovered");
    assert_eq!((recovered.rows, recovered.lost), (60, None));
    assert_eq!(read(&dir).expect("read").series, stored.series);
}

#[test]
fn recovery_tells_that_the_histograms_are_missing() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut writer, rows) = record(dir.path(), 2);
    writer.stream.end().expect("ended");
    document::write(dir.path(), &fixtures::finished(), &[]).expect("written");
    drop(writer);
    let recovered = crate::recover(dir.path()).expect("recovered");
    assert_eq!(
        recovered.run,
        fixtures::finished(),
        "its status was final and stays"
    );
    assert!(recovered.lost.expect("a loss").contains("histograms"));
    assert_eq!(read(dir.path()).expect("read").series, rows);
}

/// The histograms so far are there from the first checkpoint on, each in place of the last, and gone at the end.
#[test]
fn checkpoints_follow_each_other() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut writer, _) = record(dir.path(), 3);
    assert!(read_histograms(dir.path()).expect("none yet").is_empty());
    let all = fixtures::histograms();
    for kept in [&all[..1], &all[..], &all[..2]] {
        writer.checkpoint(kept).expect("kept");
        assert_eq!(read_histograms(dir.path()).expect("read"), kept);
    }
    assert_eq!(
        names(dir.path()),
        ["histograms.so-far.parquet", "run.json", "series.arrows"]
    );
    writer
        .finish(&fixtures::finished(), all.iter().copied())
        .expect("finished");
    assert_eq!(read_histograms(dir.path()).expect("read"), all);
    assert_eq!(
        names(dir.path()),
        ["histograms.parquet", "run.json", "series.parquet"]
    );
}

/// Killed after a checkpoint: recovery makes it the run's histograms, listed with their checksum.
#[test]
fn a_killed_run_keeps_its_last_checkpoint() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut writer, rows) = record(dir.path(), 3);
    let kept = fixtures::histograms();
    writer.checkpoint(&kept).expect("kept");
    drop(writer);
    let recovered = crate::recover(dir.path()).expect("recovered");
    assert_eq!(recovered.rows as usize, rows.len());
    let lost = recovered.lost.expect("it says what is lost");
    assert_eq!(lost, "the histograms lack its last ten seconds or so");
    assert_eq!(read_histograms(dir.path()).expect("read"), kept);
    assert_eq!(
        names(dir.path()),
        ["histograms.parquet", "run.json", "series.parquet"]
    );
    // Listed: a change is found.
    let path = dir.path().join("histograms.parquet");
    let mut bytes = fs::read(&path).expect("the file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("written");
    read_histograms(dir.path()).expect_err("it was changed");
}
