//! Between the first and the last I/O of a worker nothing is allocated and nothing freed, whatever the backend.

use fathom_core::units::Nanos;
use fathom_core::workload::{
    Arrival, BlockSize, Depth, Distribution, EngineKind, FileChoice, IoPriority, Job, Mix, Rate, Verify,
    VerifyAlgorithm, Workload, Zone, ZoneSize,
};
use fathom_door::Permits;
use fathom_engine::Boundary;
use fathom_engine::plan::Plan;
use fathom_engine::recording::IoRecording;
use fathom_engine::run::{NoHooks, Options, RunError, run};
use fathom_sys::clock::HostClock;
use fathom_sys::counting_allocator::{self, CountingAllocator};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static FREES: AtomicU64 = AtomicU64::new(0);
static LOOPS: AtomicU64 = AtomicU64::new(0);
/// The counters are shared: one run at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Called in the worker's thread.
fn count(boundary: Boundary) {
    match boundary {
        Boundary::Start => counting_allocator::start(),
        Boundary::Stop => {
            let counts = counting_allocator::stop();
            ALLOCATIONS.fetch_add(counts.allocations, Ordering::Relaxed);
            FREES.fetch_add(counts.frees, Ordering::Relaxed);
            LOOPS.fetch_add(1, Ordering::Relaxed);
        }
    }
}

const KINDS: [EngineKind; 8] = [
    EngineKind::Null,
    EngineKind::Sync,
    EngineKind::Psync,
    EngineKind::Pvsync,
    EngineKind::Pvsync2,
    EngineKind::Mmap,
    EngineKind::Libaio,
    EngineKind::IoUring,
];

fn job(kind: EngineKind, mix: Mix, iodepth: u32, directory: &std::path::Path) -> Job {
    let mut job = Job {
        name: String::from("job"),
        ..Job::default()
    };
    job.engine.kind = kind;
    job.pattern.mix = mix;
    job.pattern.random = true;
    job.depth = Depth {
        iodepth,
        batch_submit: 0,
        batch_complete_min: 1,
        batch_complete_max: 0,
        low: iodepth,
    };
    job.files.directories = vec![directory.to_owned()];
    job.region.size = Some(fathom_core::workload::Amount::Bytes(4 << 20));
    job.limit.runtime = Some(Nanos::from_millis(60));
    job.limit.time_based = true;
    job
}

fn lock() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `job` and says what its loop asked of the allocator.
fn check(what: &str, job: &Job) {
    let _one = lock();
    let workload = Workload {
        jobs: vec![job.clone()],
    };
    let mut plan = Plan::new(&workload).expect("a plan");
    let touched = plan.files.iter().filter(|action| action.touches());
    let permits = Permits::unasked(touched.map(|action| action.path.as_path())).expect("permits");
    let options = Options {
        permits: Arc::new(permits),
        hook: Some(count),
        // Rings that are full as well: what is dropped must cost nothing either.
        recording: Some(Arc::new(IoRecording::rings(1 << 20))),
        ..Options::new(Arc::default(), HostClock::new())
    };
    fathom_engine::layout::make_ready(&mut plan, &options.permits, &options.stop, &mut ()).expect("files");
    for counter in [&ALLOCATIONS, &FREES, &LOOPS] {
        counter.store(0, Ordering::Relaxed);
    }
    let results = match run(&plan, &options, &mut NoHooks) {
        Ok(results) => results,
        Err(RunError::Start { failure, .. }) if job.engine.kind.is_asynchronous() => {
            fathom_testkit::skipped(
                &format!("no_allocation {what}"),
                format!("{}: {}", failure.what.name(), failure.source),
            );
            return;
        }
        Err(error) => panic!("{what}: {error}"),
    };
    let summary = &results.jobs[0];
    assert!(summary.errors.is_empty(), "{what}: {:?}", summary.errors);
    assert!(summary.total_ios() > 10, "{what}: {} I/Os", summary.total_ios());
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    assert_eq!(load(&LOOPS), u64::from(job.numjobs), "{what}: both ends are told");
    assert_eq!(
        (load(&ALLOCATIONS), load(&FREES)),
        (0, 0),
        "{what}: allocations and frees in {} I/Os",
        summary.total_ios()
    );
}

/// The count itself works: a loop that allocates is found.
#[test]
fn the_counter_counts() {
    let _one = lock();
    counting_allocator::start();
    drop(std::hint::black_box(vec![1u8; 100]));
    let counts = counting_allocator::stop();
    assert_eq!((counts.allocations, counts.frees), (1, 1));
}

#[test]
fn every_backend_in_every_direction() {
    let directory = tempfile::tempdir().expect("a directory");
    for kind in KINDS {
        for mix in [Mix::Read, Mix::Write, Mix::ReadWrite { read_percent: 50 }] {
            for iodepth in [1, 32] {
                check(
                    &format!("{kind:?} {mix:?} QD{iodepth}"),
                    &job(kind, mix, iodepth, directory.path()),
                );
            }
        }
    }
}

#[test]
fn an_open_loop_of_several_files_with_flushes() {
    let directory = tempfile::tempdir().expect("a directory");
    for kind in KINDS {
        for arrival in [Arrival::Constant, Arrival::Poisson] {
            let mut job = job(kind, Mix::ReadWrite { read_percent: 30 }, 8, directory.path());
            job.pace.rate = [Some(Rate::Iops(2000)), Some(Rate::BytesPerSecond(8 << 20)), None];
            job.pace.arrival = arrival;
            job.files.nrfiles = 4;
            job.files.choice = FileChoice::Random;
            job.sync.fdatasync_every = 64;
            job.sync.fsync_at_end = true;
            check(&format!("{kind:?} {arrival:?}"), &job);
        }
    }
}

/// Mixed sizes over a bitmap, several passes, contents made and checked for each block.
#[test]
fn passes_with_verification() {
    let directory = tempfile::tempdir().expect("a directory");
    for algorithm in [
        VerifyAlgorithm::Crc32c,
        VerifyAlgorithm::Md5,
        VerifyAlgorithm::Xxhash,
        VerifyAlgorithm::Sha256,
        VerifyAlgorithm::Pattern,
    ] {
        for kind in [EngineKind::Psync, EngineKind::IoUring] {
            let mut job = job(kind, Mix::Write, 8, directory.path());
            job.region.size = Some(fathom_core::workload::Amount::Bytes(1 << 20));
            job.limit.time_based = false;
            job.limit.runtime = None;
            job.region.loops = 3;
            job.block_size[1] = BlockSize::Range {
                min: 4096,
                max: 65536,
                unaligned: false,
            };
            job.verify = Some(Verify {
                algorithm,
                interval_bytes: 0,
                pattern: b"fathom".to_vec(),
                only: false,
                read_back: true,
                fatal: false,
            });
            check(&format!("{kind:?} {algorithm:?}"), &job);
        }
    }
}

/// What is not the plain way: a store of what is written, counts of files, shared sequences and one a slot, zones, a priority,
/// a cooldown.
#[test]
fn all_that_a_job_may_ask_for_besides() {
    let directory = tempfile::tempdir().expect("a directory");
    for kind in KINDS {
        let plain = || job(kind, Mix::ReadWrite { read_percent: 50 }, 8, directory.path());
        let mut counted = plain();
        counted.buffers.source_bytes = Some(1 << 20);
        counted.engine.vectored = true;
        counted.count_files = true;
        counted.files.nrfiles = 3;
        counted.io_priority = Some(IoPriority { class: 2, level: 5 });
        counted.pattern.distribution = [0, 1, 2].map(|_| {
            let zone = |io_percent, size| Zone { io_percent, size };
            Distribution::Zones(vec![
                zone(90.0, ZoneSize::Percent(10.0)),
                zone(10.0, ZoneSize::Rest),
            ])
        });
        check(&format!("{kind:?}, store and counts"), &counted);
        counted.engine.fixed_buffers = true;
        check(&format!("{kind:?}, store and fixed buffers"), &counted);
        let mut shared = plain();
        shared.pattern.random = false;
        shared.pattern.shared_sequence = true;
        shared.numjobs = 2;
        shared.limit.ramp_time = Nanos::from_millis(20);
        shared.limit.cooldown_time = Nanos::from_millis(20);
        check(&format!("{kind:?}, shared sequence, cooldown"), &shared);
        let mut each = plain();
        each.pattern.random = false;
        each.pattern.same_offset = true;
        check(&format!("{kind:?}, a sequence a slot"), &each);
    }
}

/// Long enough for intervals to change hands: two and more whole seconds, with a ramp, several workers.
#[test]
fn intervals_change_hands() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job(EngineKind::Null, Mix::Read, 32, directory.path());
    job.numjobs = 2;
    job.limit.ramp_time = Nanos::from_millis(300);
    job.limit.runtime = Some(Nanos::from_millis(2_500));
    check("Null for 2.8 s", &job);
}
