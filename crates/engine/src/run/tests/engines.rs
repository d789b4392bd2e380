//! Every engine does what was asked, to the byte, and gets back what it wrote.

use super::{BLOCK, MIB, job, run_or_skip};
use fathom_core::run::Status;
use fathom_core::workload::{EngineKind, Job, Mix, Verify, VerifyAlgorithm};

const KINDS: [EngineKind; 7] = [
    EngineKind::Sync,
    EngineKind::Psync,
    EngineKind::Pvsync,
    EngineKind::Pvsync2,
    EngineKind::Mmap,
    EngineKind::Libaio,
    EngineKind::IoUring,
];

fn verifying(job: &mut Job, only: bool) {
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Crc32c,
        interval_bytes: 0,
        pattern: Vec::new(),
        only,
        read_back: true,
        fatal: false,
        ..Verify::default()
    });
}

#[test]
fn every_engine_moves_what_was_asked_and_verifies_it() {
    for kind in KINDS {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job(
            "mixed",
            kind,
            Mix::ReadWrite { read_percent: 50 },
            directory.path(),
        );
        verifying(&mut job, false);
        job.sync.fsync_at_end = true;
        let test = format!("every_engine_moves_what_was_asked_and_verifies_it {kind:?}");
        let Some(results) = run_or_skip(&test, &[job]) else {
            continue;
        };
        let summary = &results.jobs[0];
        assert_eq!(results.status, Status::Complete, "{kind:?}: {:?}", summary.errors);
        assert!(summary.errors.is_empty());
        let (reads, writes, checked) = (summary.read.ios, summary.write.ios, summary.verified_ios);
        assert_eq!(checked, writes, "{kind:?}");
        assert_eq!(reads - checked + writes, MIB / BLOCK, "{kind:?}");
        assert_eq!(summary.write.bytes, writes * BLOCK, "{kind:?}");
        assert_eq!(summary.read.bytes, reads * BLOCK, "{kind:?}");
        assert_eq!((summary.read.short_ios, summary.write.short_ios), (0, 0));
        assert_eq!(summary.sync.ios, 1, "{kind:?}");
        let asynchronous = kind.is_asynchronous();
        assert_eq!(summary.read.slat_ns.n, if asynchronous { reads } else { 0 });
        assert_eq!(summary.read.lat_ns.n, reads);
        assert_eq!(summary.read.response_ns.n, 0);
        assert_eq!(results.groups[0].read, summary.read);
        assert_eq!(results.groups[0].write, summary.write);
    }
}

/// What one engine wrote, every other finds; a byte that changed since, none accepts.
#[test]
fn engines_find_what_others_wrote() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = job("shared", EngineKind::Psync, Mix::Write, directory.path());
    verifying(&mut writer, false);
    assert!(run_or_skip("engines_find_what_others_wrote", &[writer]).is_some());
    let path = directory.path().join("shared.0.0");
    let check = |kind: EngineKind| {
        let mut checker = job("shared", kind, Mix::Write, directory.path());
        // Another order: contents belong to places.
        checker.pattern.random = false;
        verifying(&mut checker, true);
        run_or_skip("engines_find_what_others_wrote", &[checker])
    };
    for kind in KINDS {
        let before = std::fs::read(&path).expect("the file");
        let Some(results) = check(kind) else { continue };
        let summary = &results.jobs[0];
        assert_eq!(results.status, Status::Complete, "{kind:?}: {:?}", summary.errors);
        assert_eq!(summary.verified_ios, MIB / BLOCK);
        assert_eq!(summary.write.ios, 0);
        assert_eq!(
            std::fs::read(&path).expect("the file"),
            before,
            "{kind:?}: only checked"
        );
    }
    let mut contents = std::fs::read(&path).expect("the file");
    contents[777_777] ^= 0x10;
    std::fs::write(&path, contents).expect("written");
    for kind in KINDS {
        let Some(results) = check(kind) else { continue };
        assert_eq!(results.status, Status::Failed, "{kind:?}");
        let error = &results.jobs[0].errors[0];
        assert_eq!((error.what.as_str(), error.count), ("verify", 1), "{kind:?}");
        assert_eq!(error.offset_bytes, 777_777 / BLOCK * BLOCK);
        assert_eq!(error.path, path.display().to_string());
        assert_eq!(results.jobs[0].verified_ios, MIB / BLOCK);
    }
}

#[test]
fn direct_io_is_verified_too() {
    for kind in [
        EngineKind::Psync,
        EngineKind::Pvsync2,
        EngineKind::Libaio,
        EngineKind::IoUring,
    ] {
        // Not in memory: tmpfs has no O_DIRECT.
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job("direct", kind, Mix::Write, directory.path());
        job.direct = true;
        verifying(&mut job, false);
        let Some(results) = run_or_skip("direct_io_is_verified_too", &[job]) else {
            continue;
        };
        assert_eq!(
            results.status,
            Status::Complete,
            "{kind:?}: {:?}",
            results.jobs[0].errors
        );
        assert_eq!(results.jobs[0].verified_ios, MIB / BLOCK, "{kind:?}");
    }
}

#[test]
fn the_null_engine_counts_like_the_others() {
    for iodepth in [1, 32] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job(
            "null",
            EngineKind::Null,
            Mix::ReadWrite { read_percent: 50 },
            directory.path(),
        );
        job.depth = crate::testing::depth(iodepth);
        let results = run_or_skip("null", &[job]).expect("always there");
        let summary = &results.jobs[0];
        assert_eq!(summary.total_ios(), MIB / BLOCK);
        assert_eq!(summary.read.bytes + summary.write.bytes, MIB);
        assert_eq!(
            summary.read.slat_ns.n,
            if iodepth > 1 { summary.read.ios } else { 0 }
        );
        assert_eq!(
            std::fs::read_dir(directory.path()).expect("a directory").count(),
            0
        );
    }
}

/// Several workers and files each.
#[test]
fn workers_have_their_own_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job("many", EngineKind::Psync, Mix::Write, directory.path());
    job.numjobs = 3;
    job.files.nrfiles = 4;
    let results = run_or_skip("workers_have_their_own_files", &[job]).expect("always there");
    let summary = &results.jobs[0];
    assert_eq!((summary.workers, summary.write.bytes), (3, 3 * MIB));
    let mut names: Vec<String> = std::fs::read_dir(directory.path())
        .expect("a directory")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    let expected: Vec<String> = (0..3)
        .flat_map(|job| (0..4).map(move |file| format!("many.{job}.{file}")))
        .collect();
    assert_eq!(names, expected);
}

/// A job of one size each that reads and flushes: a file that is too short is an error with its place.
#[test]
fn a_file_that_shrank_is_an_error_with_its_place() {
    for kind in [EngineKind::Psync, EngineKind::IoUring, EngineKind::Libaio] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job("shrunk", kind, Mix::Read, directory.path());
        job.pattern.random = false;
        job.depth = crate::testing::depth(1);
        job.numjobs = 2;
        if run_or_skip("a_file_that_shrank_is_an_error_with_its_place", &[job.clone()]).is_none() {
            continue;
        }
        let plan = super::plan(&[job]);
        let path = directory.path().join("shrunk.1.0");
        let file = std::fs::File::options()
            .write(true)
            .open(&path)
            .expect("the file");
        file.set_len(10 * BLOCK).expect("cut");
        let results = super::run(&plan, &super::options(), &mut super::NoHooks).expect("it starts");
        assert_eq!(results.status, Status::Failed);
        let error = &results.jobs[0].errors[0];
        assert_eq!(
            (error.what.as_str(), error.offset_bytes),
            ("read", 10 * BLOCK),
            "{kind:?}"
        );
        assert_eq!(error.path, path.display().to_string(), "of the second worker");
        assert_eq!(results.jobs[0].read.ios, MIB / BLOCK + 10);
    }
}

/// Of a mapping too: the errno stays, and the message says what happened.
#[test]
fn a_mapped_file_that_shrank_is_named_with_its_size() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job("mapped", EngineKind::Mmap, Mix::Read, directory.path());
    job.pattern.random = false;
    run_or_skip("a_mapped_file_that_shrank", &[job.clone()]).expect("always there");
    // Planned at its full size, cut after that.
    let plan = super::plan(&[job]);
    let file = std::fs::File::options()
        .write(true)
        .open(directory.path().join("mapped.0.0"));
    file.expect("the file").set_len(10 * BLOCK).expect("cut");
    let results = crate::run::run(&plan, &super::options(), &mut super::NoHooks).expect("it starts");
    let error = &results.jobs[0].errors[0];
    assert_eq!((error.errno, error.offset_bytes), (5, 10 * BLOCK));
    assert_eq!(
        error.message,
        "the file shrank to 40960 bytes while mapped (Input/output error (os error 5))"
    );
}

/// Cold pages cannot be had without waiting: as fio, an error that ends the job.
#[test]
fn nowait_gives_eagain_where_it_would_wait() {
    for kind in [EngineKind::Pvsync2, EngineKind::Libaio, EngineKind::IoUring] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job("cold", kind, Mix::Read, directory.path());
        job.depth = crate::testing::depth(1);
        job.region.number_ios = Some(20);
        for nowait in [false, true] {
            job.engine.nowait = nowait;
            let test = format!("nowait_gives_eagain_where_it_would_wait {kind:?}");
            let Some(results) = run_or_skip(&test, &[job.clone()]) else {
                break;
            };
            let summary = &results.jobs[0];
            if !nowait {
                assert!(summary.errors.is_empty(), "{:?}", summary.errors);
                continue;
            }
            match summary.errors.as_slice() {
                [] => fathom_testkit::skipped(&test, "a file system with pages to be dropped"),
                [error] if error.errno == 95 => fathom_testkit::skipped(&test, "RWF_NOWAIT here"),
                [error] => {
                    assert_eq!((error.what.as_str(), error.errno), ("read", 11), "{kind:?}");
                    assert_eq!(results.status, Status::Failed);
                }
                several => panic!("{several:?}"),
            }
        }
    }
}
