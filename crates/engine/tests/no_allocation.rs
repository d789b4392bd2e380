//! Between the first and the last I/O of a worker nothing is allocated and nothing freed, whatever the backend.

use fathom_core::arrival::Arrival as Recorded;
use fathom_core::backend::Op;
use fathom_core::units::Nanos;
use fathom_core::workload::{
    Arrival, BlockSize, Depth, Distribution, EngineKind, FileChoice, FileLocks, Http, HttpMode, IoPriority,
    Job, Mix, Net, NetProtocol, RangeSync, Rate, RecordFormat, Replay, ReplayOrder, Secret, Verify,
    VerifyAlgorithm, Workload, Zone, ZoneRules, ZoneSize,
};
use fathom_door::Permits;
use fathom_engine::Boundary;
use fathom_engine::plan::{Kind, Plan};
use fathom_engine::recording::IoRecording;
use fathom_engine::replay::Playback;
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
    check_playing(what, job, None);
}

/// The same of a job that plays a record.
fn check_playing(what: &str, job: &Job, playback: Option<Playback>) {
    // Rings that are full as well: what is dropped must cost nothing either.
    let recording = Arc::new(IoRecording::rings(1 << 20));
    check_recording(what, job, playback, recording);
}

/// The same with this recording.
fn check_recording(what: &str, job: &Job, playback: Option<Playback>, recording: Arc<IoRecording>) {
    let _one = lock();
    let workload = Workload {
        jobs: vec![job.clone()],
    };
    let mut plan = Plan::new(&workload).expect("a plan");
    let written = plan.files.iter().filter(|action| action.touches());
    let touched = written.filter(|action| action.kind != Kind::Remote);
    let permits = Permits::unasked(touched.map(|action| action.path.as_path())).expect("permits");
    let options = Options {
        permits: Arc::new(permits),
        hook: Some(count),
        playback: playback.map(Arc::new),
        recording: Some(recording),
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

/// What comes from servers does so without allocating either; TLS aside.
#[test]
fn servers_allocate_nothing() {
    let here = std::path::Path::new(".");
    for (mix, depth) in [
        (Mix::Read, 1),
        (Mix::ReadWrite { read_percent: 50 }, 16),
        (Mix::Trim, 4),
    ] {
        let mut job = job(EngineKind::Nbd, mix, depth, here);
        job.uri = fathom_testkit::exports::memory(4 << 20);
        job.sync.fsync_every = 8;
        check(&format!("nbd {mix:?}"), &job);
    }
    for mode in [HttpMode::Webdav, HttpMode::S3] {
        let mut job = job(EngineKind::Http, Mix::Write, 1, here);
        job.http = Http {
            host: fathom_testkit::objects::store(|_| true),
            mode,
            s3_key_id: String::from("id"),
            s3_key: Secret(String::from("key")),
            ..Http::default()
        };
        check(&format!("http {mode:?}"), &job);
    }
}

/// Nor what goes to others on a network, and comes from them.
#[test]
fn streams_allocate_nothing() {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, UdpSocket};
    let taker = TcpListener::bind("127.0.0.1:0").expect("a port");
    let giver = TcpListener::bind("127.0.0.1:0").expect("a port");
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let ports = [taker.local_addr(), giver.local_addr(), datagrams.local_addr()]
        .map(|address| address.expect("an address").port());
    let _takes = std::thread::spawn(move || {
        let (mut stream, _) = taker.accept().expect("a sender");
        let mut room = vec![0; 1 << 16];
        while stream.read(&mut room).is_ok_and(|bytes| bytes > 0) {}
    });
    let _gives = std::thread::spawn(move || {
        let (mut stream, _) = giver.accept().expect("a receiver");
        let bytes = vec![0; 1 << 16];
        while stream.write_all(&bytes).is_ok() {}
    });
    for (what, mix, protocol, port) in [
        ("to", Mix::Write, NetProtocol::Tcp, ports[0]),
        ("from", Mix::Read, NetProtocol::Tcp, ports[1]),
        ("datagrams", Mix::Write, NetProtocol::Udp, ports[2]),
    ] {
        let mut job = job(EngineKind::Net, mix, 1, std::path::Path::new("."));
        job.pattern.random = false;
        job.net = Net {
            protocol,
            port,
            host: String::from("127.0.0.1"),
            ..Net::default()
        };
        check(&format!("net {what}"), &job);
    }
}

/// Logs of every I/O and counts of each worker: whoever waits for room in its ring allocates nothing either, and no I/O is
/// lost.
#[test]
fn logs_and_counts_allocate_nothing() {
    use std::sync::atomic::AtomicBool;
    for kind in [
        EngineKind::Null,
        EngineKind::Psync,
        EngineKind::IoUring,
        EngineKind::Libaio,
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job(kind, Mix::Read, 8, directory.path());
        job.count_workers = true;
        job.numjobs = 2;
        // The smallest rings there are.
        let recording = Arc::new(IoRecording::rings(1 << 20).waiting());
        let (drained, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (rings, sum, stop) = (Arc::clone(&recording), Arc::clone(&drained), Arc::clone(&over));
        let drain = std::thread::spawn(move || {
            loop {
                let last = stop.load(Ordering::Acquire);
                let rows = rings.drain(&mut |_| {});
                sum.fetch_add(rows, Ordering::Relaxed);
                if last {
                    return;
                }
            }
        });
        check_recording(&format!("{kind:?} with logs"), &job, None, Arc::clone(&recording));
        over.store(true, Ordering::Release);
        drain.join().expect("the drain");
        assert_eq!(recording.dropped(), 0, "{kind:?}");
        assert!(drained.load(Ordering::Relaxed) > 20, "{kind:?}");
    }
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
                ..Verify::default()
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
        for random in [false, true] {
            let mut zoned = plain();
            zoned.pattern.random = random;
            zoned.pattern.zones = Some(ZoneRules {
                size_bytes: 64 << 10,
                capacity_bytes: 48 << 10,
                max_open: 3,
                max_open_per_worker: 2,
                reset_above_share: 0.1,
                reset_share: 0.1,
                ..ZoneRules::default()
            });
            zoned.numjobs = 2;
            check(&format!("{kind:?}, zones, random {random}"), &zoned);
        }
    }
}

/// Locks on files, parts of them written back, trims of what was written, a state that is kept.
#[test]
fn what_happens_around_ios() {
    let directory = tempfile::tempdir().expect("a directory");
    for kind in KINDS {
        let mut locked = job(kind, Mix::ReadWrite { read_percent: 50 }, 8, directory.path());
        locked.files.locks = FileLocks::ReadWrite;
        locked.numjobs = 2;
        locked.sync.range = RangeSync {
            every: 16,
            writes: true,
            ..RangeSync::default()
        };
        check(&format!("{kind:?}, locks and parts"), &locked);
        let mut trimmed = job(kind, Mix::Write, 8, directory.path());
        trimmed.region.size = Some(fathom_core::workload::Amount::Bytes(1 << 20));
        trimmed.limit.time_based = false;
        trimmed.limit.runtime = None;
        trimmed.verify = Some(Verify {
            algorithm: VerifyAlgorithm::Crc32c,
            trim_percent: 30,
            trim_every_ios: 16,
            ..Verify::default()
        });
        check(&format!("{kind:?}, trims"), &trimmed);
    }
}

/// A record, at its times and by who waits for whom: late ones, lanes that wait, flushes.
#[test]
fn a_record_that_is_played() {
    let directory = tempfile::tempdir().expect("a directory");
    for kind in [EngineKind::Null, EngineKind::Psync, EngineKind::IoUring] {
        for order in [ReplayOrder::Timed, ReplayOrder::Dependent, ReplayOrder::AsFast] {
            let mut job = job(kind, Mix::ReadWrite { read_percent: 50 }, 4, directory.path());
            job.limit.time_based = false;
            job.limit.runtime = None;
            job.replay = Some(Replay {
                record: String::from("made"),
                format: RecordFormat::FioIolog,
                order,
                speed_permille: 1_000,
                ios: [1_250, 2_500, 0, 1_250],
                bytes: [0; 3],
                length: Nanos::ZERO,
                extent_bytes: 4 << 20,
                fold: None,
                left_out: Vec::new(),
                layout: fathom_core::workload::ReplayLayout::default(),
            });
            let (playback, mut inlets) = Playback::new(0, 1, order, false, &Arc::default());
            for number in 0..5_000u64 {
                let op = [Op::Read, Op::Write, Op::Write, Op::DataSync][number as usize % 4];
                let arrival = Recorded {
                    due_ns: number * 20_000,
                    offset_bytes: number % 1_000 * 4096,
                    len_bytes: if op == Op::DataSync { 0 } else { 4096 },
                    op,
                    file: 0,
                    worker: number as u32 % 7,
                    depth: number as u32 % 3,
                    think_ns: 10_000,
                    took_ns: 0,
                };
                inlets.rings[0].push(arrival).expect("room");
            }
            drop(inlets);
            check_playing(&format!("{kind:?} {order:?}"), &job, Some(playback));
        }
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
