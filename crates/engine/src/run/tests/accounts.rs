//! What each worker does by itself.

use super::{BLOCK, MIB, job, run_or_skip};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::workload::{EngineKind, Mix};

#[test]
fn workers_add_up_to_their_job() {
    for kind in [EngineKind::Psync, EngineKind::IoUring, EngineKind::Null] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job("two", kind, Mix::ReadWrite { read_percent: 50 }, directory.path());
        job.numjobs = 2;
        job.depth.iodepth = 8;
        job.depth.low = 8;
        job.sync.fsync_every = 16;
        job.count_workers = true;
        let Some(results) = run_or_skip("workers_add_up_to_their_job", &[job]) else {
            continue;
        };
        let summary = &results.jobs[0];
        assert_eq!(results.accounts.len(), 2);
        for op in [Op::Read, Op::Write, Op::Sync] {
            let mut lat = Histogram::new();
            let mut bytes = 0;
            for account in &results.accounts {
                lat.merge(&account.ops[op.index()].lat);
                bytes += account.ops[op.index()].bytes;
            }
            let whole = summary.op(op);
            assert_eq!((lat.n(), bytes), (whole.ios, whole.bytes), "{kind:?} {op:?}");
            assert_eq!(lat.summary(&[50.0, 99.0]).max, whole.lat_ns.max);
        }
        for account in &results.accounts {
            assert_eq!(account.total_ios(), MIB / BLOCK, "{kind:?}");
            let sent: u64 = account.depths.level.iter().sum();
            assert_eq!(sent, account.total_ios() + account.ops[3].ios(), "{kind:?}");
            assert!(account.began() && account.end > account.start && !account.failed);
            let taken: u64 = account.depths.complete.iter().sum();
            assert!(taken > 0 && account.depths.submit[0] == 0, "{:?}", account.depths);
        }
    }
}

#[test]
fn nobody_is_counted_unasked() {
    let directory = tempfile::tempdir().expect("a directory");
    let job = job("one", EngineKind::Psync, Mix::Read, directory.path());
    let results = run_or_skip("nobody_is_counted_unasked", &[job]).expect("psync is everywhere");
    assert!(results.accounts.is_empty());
}
