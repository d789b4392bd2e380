//! Each I/O of a run is recorded, as it was counted.

use super::*;
use crate::recording::IoRecording;
use fathom_core::backend::Op;
use fathom_core::record::IoRecord;
use std::collections::BTreeSet;

fn recorded(jobs: &[Job], workers: usize) -> Option<(Results, Vec<IoRecord>, Arc<IoRecording>)> {
    let recording = Arc::new(IoRecording::rings(workers));
    let options = Options {
        recording: Some(Arc::clone(&recording)),
        ..options()
    };
    let results = match run(&plan(jobs), &options, &mut NoHooks) {
        Err(RunError::Start { failure, .. }) => {
            fathom_testkit::skipped("recorded", format!("{}: {}", failure.what.name(), failure.source));
            return None;
        }
        results => results.expect("a run"),
    };
    let mut rows = Vec::new();
    recording.drain(&mut |some| rows.extend_from_slice(some));
    Some((results, rows, recording))
}

#[test]
fn the_rows_are_the_ios_that_were_counted() {
    let directory = tempfile::tempdir().expect("a directory");
    for kind in [EngineKind::Psync, EngineKind::Libaio, EngineKind::IoUring] {
        let mut jobs = [
            job("one", kind, Mix::ReadWrite { read_percent: 50 }, directory.path()),
            job("two", kind, Mix::Write, directory.path()),
        ];
        jobs[0].numjobs = 2;
        jobs[1].sync.fsync_every = 16;
        let Some((results, rows, recording)) = recorded(&jobs, 3) else {
            continue;
        };
        assert_eq!(recording.dropped(), 0);
        for (number, summary) in (0..).zip(&results.jobs) {
            for op in [Op::Read, Op::Write, Op::Sync] {
                let of_op = || {
                    rows.iter()
                        .filter(|row| row.job == number && row.op.index() == op.index())
                };
                let counted = summary.op(op);
                assert_eq!(of_op().count() as u64, counted.ios, "{kind:?} {number} {op:?}");
                assert_eq!(
                    of_op().map(|row| u64::from(row.len_bytes)).sum::<u64>(),
                    counted.bytes
                );
                let longest = of_op().map(IoRecord::lat_ns).max().unwrap_or(0);
                assert_eq!(longest, counted.lat_ns.max, "{kind:?} {number} {op:?}");
            }
        }
        for row in &rows {
            assert!(row.intended_ns <= row.created_ns && row.created_ns <= row.submitted_ns);
            assert!(row.submitted_ns <= row.completed_ns);
            let depth = if kind.is_asynchronous() { 8 } else { 1 };
            assert!((1..=depth).contains(&row.depth), "{kind:?}: {}", row.depth);
        }
        let tasks = recording.tasks();
        let of: BTreeSet<(u32, u32)> = tasks.iter().map(|task| (task.job, task.worker)).collect();
        assert_eq!(of, BTreeSet::from([(0, 0), (0, 1), (1, 0)]));
        let tids: BTreeSet<u32> = tasks.iter().map(|task| task.tid).collect();
        assert_eq!(tids.len(), 3, "each has a thread of its own");
    }
}

#[test]
fn a_failed_io_has_its_errno() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("short");
    std::fs::write(&path, vec![0; 1 << 20]).expect("a file");
    let mut reads = job("reads", EngineKind::Psync, Mix::Read, directory.path());
    reads.on_error.read = true;
    reads.direct = false;
    reads.files.names = vec![path.clone()];
    let jobs = [reads];
    // The plan stands when the file loses its end: reads there find nothing.
    let recording = Arc::new(IoRecording::rings(1));
    let options = Options {
        recording: Some(Arc::clone(&recording)),
        ..options()
    };
    let mut plan = plan(&jobs);
    make_ready(&mut plan, &options.permits, &options.stop, &mut ()).expect("files");
    std::fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(1 << 19))
        .expect("a shorter file");
    let results = super::super::run(&plan, &options, &mut NoHooks).expect("a run");
    let mut rows = 0;
    recording.drain(&mut |some| rows += some.len() as u64);
    let counted = &results.jobs[0].read;
    assert!(counted.errors > 0, "{counted:?}");
    assert_eq!(
        rows,
        counted.ios + counted.errors,
        "what failed is recorded as well"
    );
}
