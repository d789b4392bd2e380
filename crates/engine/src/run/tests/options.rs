//! What a job may ask for beyond its pattern: shared sequences, counts of files, I/O priorities, a store of what is written.

use super::{BLOCK, MIB, job, options, plan, run, run_jobs, run_or_skip};
use crate::run::{NoHooks, RunError, check};
use fathom_core::run::Status;
use fathom_core::units::Nanos;
use fathom_core::workload::{EngineKind, IoPriority, Job, Mix, Verify, VerifyAlgorithm};
use std::path::Path;

/// Four workers on one file of 1 MiB.
fn on_one_file(kind: EngineKind, mix: Mix, directory: &Path) -> Job {
    let mut job = job("one", kind, mix, directory);
    job.numjobs = 4;
    job.files.names = vec!["one".into()];
    job
}

#[test]
fn workers_share_a_sequence() {
    for kind in [
        EngineKind::Psync,
        EngineKind::IoUring,
        EngineKind::Libaio,
        EngineKind::Null,
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = on_one_file(kind, Mix::Write, directory.path());
        job.pattern.random = false;
        job.pattern.shared_sequence = true;
        job.count_files = true;
        let Some(results) = run_or_skip("workers_share_a_sequence", &[job]) else {
            continue;
        };
        let summary = &results.jobs[0];
        assert_eq!(
            (summary.write.bytes, summary.write.ios),
            (MIB, MIB / BLOCK),
            "{kind:?}"
        );
        let [file] = &summary.files[..] else {
            panic!("one file, not {:?}", summary.files);
        };
        assert_eq!(
            (file.write.ios, file.write.bytes, file.read.ios),
            (MIB / BLOCK, MIB, 0)
        );
        assert_eq!(file.path, directory.path().join("one").display().to_string());
        // Of synchronous engines all of the latency is completion.
        let clat = &summary.write.clat_ns;
        assert!((file.write.clat_ns_mean / clat.mean - 1.0).abs() < 1e-9);
    }
}

/// Jobs that share a sequence read a file once between them, and each is counted for itself.
#[test]
fn jobs_share_a_sequence() {
    for kind in [EngineKind::Psync, EngineKind::Libaio] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = on_one_file(kind, Mix::Write, directory.path());
        job.numjobs = 1;
        job.pattern.random = false;
        job.pattern.shared_sequence = true;
        let jobs = vec![job; 3];
        let Some(results) = run_or_skip("jobs_share_a_sequence", &jobs) else {
            continue;
        };
        let ios: Vec<u64> = results.jobs.iter().map(|job| job.write.ios).collect();
        assert_eq!(ios.iter().sum::<u64>(), MIB / BLOCK, "{kind:?}: {ios:?}");
    }
}

/// Endless, the shared sequence goes round and round; each in-flight I/O with its own goes through all of the file.
#[test]
fn shared_and_parallel_sequences_go_on_for_the_runtime() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut shared = on_one_file(EngineKind::Psync, Mix::Read, directory.path());
    shared.pattern.random = false;
    shared.pattern.shared_sequence = true;
    shared.region.size = Some(fathom_core::workload::Amount::Bytes(4 * BLOCK));
    shared.limit.runtime = Some(Nanos::from_millis(200));
    shared.limit.time_based = true;
    let mut parallel = job("parallel", EngineKind::IoUring, Mix::Read, directory.path());
    parallel.pattern.random = false;
    parallel.pattern.same_offset = true;
    let Some(results) = run_or_skip("shared_and_parallel_sequences", &[shared, parallel]) else {
        return;
    };
    assert_eq!(results.status, Status::Complete);
    assert!(results.jobs[0].read.ios > 100);
    assert_eq!(results.jobs[1].read.bytes, 8 * MIB);
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job("odd", EngineKind::Psync, Mix::Write, directory.path());
    job.pattern.random = false;
    job.pattern.shared_sequence = true;
    job.pattern.skip_bytes = -4096;
    let error = check(&plan(&[job.clone()])).expect_err("it stands still");
    assert!(matches!(error, RunError::SharedBackwards { .. }), "{error}");
    job.pattern.skip_bytes = 0;
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Crc32c,
        interval_bytes: 0,
        pattern: Vec::new(),
        only: false,
        read_back: true,
        fatal: false,
        ..Verify::default()
    });
    let error = check(&plan(&[job.clone()])).expect_err("it cannot be drawn again");
    assert_eq!(
        error.to_string(),
        "odd: verification cannot be combined with a sequence that the workers share: leave one of the two out"
    );
    job.pattern.shared_sequence = false;
    check(&plan(&[job.clone()])).expect("nothing odd");
    job.limit.cooldown_time = Nanos::from_secs(1);
    assert!(check(&plan(&[job])).is_err());
}

#[test]
fn files_are_in_the_order_of_the_job() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job(
        "many",
        EngineKind::Psync,
        Mix::ReadWrite { read_percent: 50 },
        directory.path(),
    );
    job.files.names = vec!["b".into(), "a".into(), "c".into()];
    job.region.size = Some(fathom_core::workload::Amount::Bytes(3 * MIB));
    job.numjobs = 2;
    job.count_files = true;
    let results = run_jobs(&[job.clone()]).expect("results");
    let summary = &results.jobs[0];
    let names: Vec<&str> = (summary.files.iter())
        .map(|file| file.path.rsplit('/').next().unwrap_or_default())
        .collect();
    assert_eq!(names, ["b", "a", "c"]);
    for file in &summary.files {
        assert_eq!(file.read.bytes + file.write.bytes, 2 * MIB);
        assert!(file.read.clat_ns_mean > 0.0 && file.write.clat_ns_stddev >= 0.0);
    }
    assert_eq!(results.groups[0].files, summary.files);
    job.count_files = false;
    assert!(run_jobs(&[job]).expect("results").jobs[0].files.is_empty());
}

/// The priority is that of the worker's thread while its I/O goes on.
#[test]
fn a_worker_has_the_priority_asked_for() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static SEEN: AtomicU32 = AtomicU32::new(0);
    fn look(boundary: crate::Boundary) {
        if boundary == crate::Boundary::Start {
            let (class, level) = fathom_sys::process::ioprio().expect("ioprio_get");
            SEEN.store(u32::from(class) * 10 + u32::from(level), Ordering::Relaxed);
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job("late", EngineKind::Psync, Mix::Write, directory.path());
    for (class, level) in [(2, 6), (3, 0), (2, 1)] {
        job.io_priority = Some(IoPriority { class, level });
        let options = crate::run::Options {
            hook: Some(look),
            ..options()
        };
        run(&plan(&[job.clone()]), &options, &mut NoHooks).expect("results");
        assert_eq!(SEEN.load(Ordering::Relaxed), u32::from(class * 10 + level));
    }
    job.io_priority = Some(IoPriority { class: 2, level: 8 });
    let error = run_jobs(&[job]).expect_err("there is no level 8");
    assert_eq!(
        error.to_string(),
        "late: ioprio_set: Invalid argument (os error 22)"
    );
}

/// All that is written comes from the store, from places that are multiples of 4 KiB, and not always the same.
#[test]
fn writes_come_from_the_store() {
    const STORE: usize = 64 << 10;
    let pattern: Vec<u8> = (0..251).collect();
    let store: Vec<u8> = pattern.iter().copied().cycle().take(STORE).collect();
    for kind in [
        EngineKind::Sync,
        EngineKind::Psync,
        EngineKind::Pvsync,
        EngineKind::Pvsync2,
        EngineKind::Mmap,
        EngineKind::Libaio,
        EngineKind::IoUring,
    ] {
        for (fixed, vectored) in [(false, false), (true, false), (false, true)] {
            if kind != EngineKind::IoUring && (fixed || vectored) {
                continue;
            }
            let directory = tempfile::tempdir().expect("a directory");
            let mut job = job("stored", kind, Mix::Write, directory.path());
            (job.engine.fixed_buffers, job.engine.vectored) = (fixed, vectored);
            job.buffers.source_bytes = Some(STORE as u64);
            job.buffers.pattern.clone_from(&pattern);
            let Some(results) = run_or_skip("writes_come_from_the_store", &[job]) else {
                continue;
            };
            assert_eq!(results.jobs[0].write.bytes, MIB);
            let written = std::fs::read(directory.path().join("stored.0.0")).expect("a file");
            let mut places = std::collections::BTreeSet::new();
            for block in written.chunks(BLOCK as usize) {
                let place = (0..STORE)
                    .step_by(4096)
                    .find(|&at| store[at..].starts_with(block));
                places.insert(place.unwrap_or_else(|| panic!("{kind:?}: not from the store")));
            }
            // 256 draws of 16 places.
            assert_eq!(
                places.len(),
                STORE / 4096,
                "{kind:?}, fixed {fixed}, vectored {vectored}"
            );
        }
    }
}

#[test]
fn a_store_is_random_by_its_seed() {
    let written = |seed| {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job("stored", EngineKind::Psync, Mix::Write, directory.path());
        job.random_seed = seed;
        job.buffers.source_bytes = Some(32 << 10);
        run_jobs(&[job]).expect("results");
        std::fs::read(directory.path().join("stored.0.0")).expect("a file")
    };
    let one = written(1);
    assert!(one == written(1), "a seed writes the same again");
    assert!(one != written(2));
    assert!(
        crate::testing::count_byte(&one, 0) < one.len() / 100,
        "random bytes"
    );
}

#[test]
fn a_store_smaller_than_a_block_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job("small", EngineKind::Psync, Mix::Write, directory.path());
    job.buffers.source_bytes = Some(1024);
    let workload = fathom_core::workload::Workload { jobs: vec![job] };
    let error = crate::plan::Plan::new(&workload).expect_err("too small");
    assert_eq!(
        error.to_string(),
        "small: writes of 4 KiB cannot be taken from a store of 1 KiB: give the store at least the size of a block"
    );
}
