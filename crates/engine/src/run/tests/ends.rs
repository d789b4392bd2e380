//! How runs end: done, stopped, refused, failed.

use super::{BLOCK, MIB, job, options, plan, run, run_jobs};
use crate::layout::{LayoutError, Watch, make_ready};
use crate::plan::FileAction;
use crate::run::{Hooks, NoHooks, RunError};
use crate::thread::Gate;
use fathom_core::run::{HistogramRow, Latency, SeriesRow, StartStep, Status};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{EngineKind, Job, Mix, RandomMap, Verify, VerifyAlgorithm};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn files_are_removed_where_that_was_asked() {
    for unlink in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut job = job("gone", EngineKind::Psync, Mix::Write, directory.path());
        job.files.unlink = unlink;
        run_jobs(&[job]).expect("a run");
        assert_eq!(directory.path().join("gone.0.0").exists(), !unlink);
    }
}

/// How many threads of this program have such a name. The kernel wakes who joins a thread a moment before the thread is
/// gone from its list: those that are only on their way out are waited for.
fn threads(name: &str) -> usize {
    let count = || {
        let tasks = std::fs::read_dir("/proc/self/task").expect("proc");
        tasks
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
            .filter(|comm| comm.starts_with(name))
            .count()
    };
    let begun = Instant::now();
    while count() > 0 && begun.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    count()
}

/// No such CPU: `sched_setaffinity` refuses.
fn unable(mut job: Job) -> Job {
    job.cpus_allowed = vec![1000];
    job
}

#[test]
fn a_start_failure_leaves_nothing_behind() {
    let directory = tempfile::tempdir().expect("a directory");
    let good = |name| {
        let mut job = job(name, EngineKind::Psync, Mix::Write, directory.path());
        job.numjobs = 3;
        job
    };
    let jobs = [good("fine-a"), unable(good("unable")), good("fine-b")];
    let plan = plan(&jobs);
    let options = options();
    let begun = Instant::now();
    let error = run(&plan, &options, &mut NoHooks).expect_err("it cannot start");
    assert!(begun.elapsed() < Duration::from_secs(3));
    let RunError::Start { job, failure } = &error else {
        panic!("{error}");
    };
    assert_eq!((job.as_str(), failure.what), ("unable", StartStep::SetAffinity));
    assert_eq!(
        error.to_string(),
        "unable: sched_setaffinity: Invalid argument (os error 22)"
    );
    assert_eq!(threads("fine-"), 0);
    assert_eq!(threads("unable"), 0);
    assert!(!options.stop.load(Ordering::Relaxed), "nobody asked for a stop");
}

/// What was measured before a later job failed to start is kept, and the others go on.
#[test]
fn a_late_start_failure_keeps_the_results() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let mut late = unable(job("late", EngineKind::Psync, Mix::Write, path));
    late.start.stonewall = true;
    let jobs = [
        job("early", EngineKind::Psync, Mix::Write, path),
        late,
        job("beside", EngineKind::Psync, Mix::Write, path),
    ];
    let results = run_jobs(&jobs).expect("results");
    assert_eq!(results.status, Status::Failed);
    assert_eq!(results.jobs[0].write.bytes, MIB);
    assert_eq!(results.jobs[2].write.bytes, MIB);
    assert!(results.jobs[0].errors.is_empty() && results.jobs[2].errors.is_empty());
    let late = &results.jobs[1];
    assert_eq!((late.write.ios, late.runtime_ns), (0, 0));
    assert_eq!(
        (late.errors[0].what.as_str(), late.errors[0].errno),
        ("sched_setaffinity", 22)
    );
}

fn endless(name: &str, directory: &std::path::Path) -> Job {
    let mut job = job(name, EngineKind::Psync, Mix::Read, directory);
    job.limit.runtime = Some(Nanos::from_secs(600));
    job.limit.time_based = true;
    job
}

/// Stops the run 300 ms after its first job was let go.
struct StopLater(Arc<AtomicBool>);

impl Hooks for StopLater {
    fn started(&mut self, _epoch: MonoTime) {
        let stop = Arc::clone(&self.0);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn a_stop_gives_the_results_so_far() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut waiting = endless("waiting", directory.path());
    waiting.start.stonewall = true;
    // Also one whose next I/O is far away.
    let mut slow = endless("slow", directory.path());
    slow.pace.rate[0] = Some(fathom_core::workload::Rate::BytesPerSecond(1));
    let plan = plan(&[endless("endless", directory.path()), slow, waiting]);
    let options = options();
    let mut hooks = StopLater(Arc::clone(&options.stop));
    let begun = Instant::now();
    let results = run(&plan, &options, &mut hooks).expect("results");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(results.status, Status::Interrupted);
    let summary = &results.jobs[0];
    assert!(summary.read.ios > 20, "{}", summary.read.ios);
    assert_eq!(summary.read.bytes, summary.read.ios * BLOCK);
    assert!(summary.errors.is_empty());
    assert_eq!(results.jobs[1].read.ios, 1);
    assert_eq!(results.jobs[2].read.ios, 0);
}

/// Stopped at any moment of its beginning, a run comes to its end.
#[test]
fn a_stop_while_starting_does_not_hang() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = endless("starting", directory.path());
    job.numjobs = 4;
    for worker in 0..4 {
        let path = directory.path().join(format!("starting.{worker}.0"));
        std::fs::write(path, vec![1; MIB as usize]).expect("a file");
    }
    let plan = plan(&[job]);
    for delay_us in (0..2_000).step_by(100) {
        let options = options();
        let stop: Arc<AtomicBool> = Arc::clone(&options.stop);
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(delay_us));
            stop.store(true, Ordering::Relaxed);
        });
        let begun = Instant::now();
        let results = run(&plan, &options, &mut NoHooks).expect("results");
        assert_eq!(results.status, Status::Interrupted);
        assert!(begun.elapsed() < Duration::from_secs(5), "after {delay_us} µs");
        stopper.join().expect("no panic");
    }
    assert_eq!(threads("starting"), 0);
}

struct StopInLayout(Arc<AtomicBool>);

impl Watch for StopInLayout {
    fn laying_out(&mut self, _action: &FileAction, done_bytes: u64, _total_bytes: u64) {
        if done_bytes >= 3 * MIB {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_stop_while_laying_out_removes_the_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job("laid", EngineKind::Psync, Mix::Read, directory.path());
    job.region.size = Some(fathom_core::workload::Amount::Bytes(64 * MIB));
    let mut plan = plan(&[job]);
    let stop = Arc::default();
    let permits = crate::testing::permits(&plan);
    let mut watch = StopInLayout(Arc::clone(&stop));
    let error = make_ready(&mut plan, &permits, &stop, &mut watch).expect_err("stopped");
    assert!(matches!(error, LayoutError::Stopped), "{error}");
    assert!(!plan.files[0].path.exists());
}

#[test]
fn verification_needs_room_for_its_header() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = job("tight", EngineKind::Psync, Mix::Write, directory.path());
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Sha256,
        interval_bytes: 32,
        pattern: Vec::new(),
        only: false,
        read_back: true,
        fatal: false,
        ..Verify::default()
    });
    let error = run_jobs(&[job.clone()]).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "tight: verification needs blocks (or verify_interval=) of at least 104 bytes"
    );
    assert!(
        !directory.path().join("tight.0.0").exists(),
        "nothing was touched"
    );
    if let Some(verify) = &mut job.verify {
        verify.algorithm = VerifyAlgorithm::Pattern;
        verify.pattern = b"fits anywhere".to_vec();
    }
    assert_eq!(run_jobs(&[job]).expect("a run").status, Status::Complete);
}

#[test]
fn a_file_that_appeared_is_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut plan = plan(&[job("mine", EngineKind::Psync, Mix::Write, directory.path())]);
    let path = directory.path().join("mine.0.0");
    let permits = crate::testing::permits(&plan);
    std::fs::write(&path, b"not yours").expect("a file");
    let error = make_ready(&mut plan, &permits, &AtomicBool::new(false), &mut ()).expect_err("refused");
    assert!(
        matches!(&error, LayoutError::Failed { source, .. } if source.kind() == ErrorKind::AlreadyExists)
    );
    assert_eq!(std::fs::read(&path).expect("the file"), b"not yours");
}

/// Blocks that overlap in part cannot be verified: said before anything is touched.
#[test]
fn verified_blocks_must_not_overlap_in_part() {
    let directory = tempfile::tempdir().expect("a directory");
    let verify = |change: &dyn Fn(&mut Job)| {
        let mut job = job("v", EngineKind::Psync, Mix::Write, directory.path());
        job.verify = Some(Verify {
            algorithm: VerifyAlgorithm::Crc32c,
            interval_bytes: 0,
            pattern: Vec::new(),
            only: false,
            read_back: true,
            fatal: false,
            ..Verify::default()
        });
        job.pattern.random = true;
        job.pattern.random_map = RandomMap::Independent;
        change(&mut job);
        let plan = plan(&[job]);
        matches!(crate::run::check(&plan), Err(RunError::VerifyOverlaps { .. }))
    };
    assert!(!verify(&|_| {}));
    // In sequence each byte is written once, whatever the sizes.
    assert!(!verify(&|job| {
        job.pattern.random = false;
        job.block_align = [512; 3];
    }));
    assert!(verify(&|job| job.block_align = [512; 3]));
    assert!(verify(&|job| job.block_size[1] =
        fathom_core::workload::BlockSize::Range {
            min: BLOCK,
            max: 4 * BLOCK,
            unaligned: true,
        }));
    assert!(!verify(&|job| {
        job.block_align = [512; 3];
        if let Some(verify) = &mut job.verify {
            verify.interval_bytes = 512;
        }
    }));
    // A bare pattern may lie across blocks where it comes out even.
    for (pattern, refused) in [(&b"abcd"[..], false), (b"abc", true), (b"", false)] {
        let overlaps = verify(&|job| {
            job.block_align = [512; 3];
            if let Some(verify) = &mut job.verify {
                verify.algorithm = VerifyAlgorithm::Pattern;
                verify.pattern = pattern.to_vec();
            }
        });
        assert_eq!(overlaps, refused, "{pattern:?}");
    }
}

#[test]
fn files_are_removed_even_where_nothing_could_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = unable(job("gone", EngineKind::Psync, Mix::Write, directory.path()));
    job.files.unlink = true;
    run_jobs(&[job]).expect_err("it cannot start");
    assert!(!directory.path().join("gone.0.0").exists());
}

fn panics(at: crate::Boundary) {
    let second = std::thread::current().name() == Some("panics.1");
    assert!(!(second && at == crate::Boundary::Start), "by arrangement");
}

/// One worker panics: one error says so, the others' results are kept, and the run ends.
#[test]
fn a_worker_that_panics_is_one_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut bad = job("panics", EngineKind::Psync, Mix::Write, directory.path());
    bad.numjobs = 3;
    let beside = job("beside", EngineKind::Psync, Mix::Write, directory.path());
    let mut options = options();
    options.hook = Some(panics);
    let results = run(&plan(&[bad, beside]), &options, &mut NoHooks).expect("results");
    assert_eq!(results.status, Status::Failed);
    let [error] = results.jobs[0].errors.as_slice() else {
        panic!("{:?}", results.jobs[0].errors);
    };
    assert_eq!((error.what.as_str(), error.count), ("panic", 1));
    assert_eq!(
        error.message,
        "panics: worker 1 panicked: by arrangement. This is a bug in fathom: please report it"
    );
    assert_eq!(results.jobs[0].write.bytes, 2 * MIB);
    assert_eq!(results.jobs[1].write.bytes, MIB);
    assert!(results.jobs[1].errors.is_empty());
}

/// One of several that panics before it is ready does not leave the others waiting.
#[test]
fn a_panic_before_the_start_does_not_hang() {
    use crate::run::job::RunningJob;
    use crate::run::phases::JobState;
    use crate::thread::Message;
    let directory = tempfile::tempdir().expect("a directory");
    let mut many = job("many", EngineKind::Psync, Mix::Write, directory.path());
    many.numjobs = 3;
    let plan = plan(&[many]);
    let mut job = RunningJob::new(0, &plan.jobs[0], &options());
    assert!(job.state == JobState::Waiting);
    let waits = std::thread::spawn(|| std::thread::sleep(Duration::from_secs(30)));
    job.handles.push(waits);
    for message in [Message::Ready, Message::Panicked(String::from("oh"))] {
        let number = u32::from(!matches!(message, Message::Ready));
        job.sender.send((number, message)).expect("sent");
    }
    let error = job
        .await_ready(&Gate::default(), &AtomicBool::new(false))
        .expect_err("it panicked");
    assert!(matches!(error, RunError::Panic { worker: 1, .. }), "{error}");
}

/// Stopped while its files are read ahead, a run ends, interrupted.
#[test]
fn a_stop_while_reading_ahead_interrupts() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = endless("ahead", directory.path());
    job.files.pre_read = true;
    // Sparse, and far too long to be read.
    let file = std::fs::File::create(directory.path().join("ahead.0.0")).expect("a file");
    file.set_len(1 << 42).expect("a length");
    let options = options();
    let stop = Arc::clone(&options.stop);
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stop.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let results = super::super::run(&plan(&[job]), &options, &mut NoHooks).expect("results");
    let stopped = stopper.join().expect("no panic");
    assert!(
        stopped.elapsed() < Duration::from_secs(1),
        "{:?}",
        stopped.elapsed()
    );
    assert_eq!(results.status, Status::Interrupted);
    assert_eq!(results.jobs[0].total_ios(), 0);
}

/// Is held up by whoever takes its rows: for longer than there are boxes for.
struct Stalls {
    rows: Vec<SeriesRow>,
    checkpoints: Vec<u64>,
}

impl Hooks for Stalls {
    fn rows(&mut self, rows: &[SeriesRow]) {
        if self.rows.is_empty() {
            std::thread::sleep(Duration::from_millis(5_300));
        }
        self.rows.extend_from_slice(rows);
    }
    fn histograms(&mut self, rows: Vec<HistogramRow>) {
        let of_lat = rows.iter().filter(|row| row.metric == Latency::Lat);
        self.checkpoints.push(of_lat.map(|row| row.count).sum());
    }
}

/// The workers go on meanwhile, in the same box where no other is left: nothing is lost, and nothing waits.
#[test]
fn a_collector_that_is_held_up_does_not_hold_up_the_workers() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = endless("on", directory.path());
    job.limit.runtime = Some(Nanos::from_millis(7_500));
    job.pace.rate[0] = Some(fathom_core::workload::Rate::Iops(200));
    let mut hooks = Stalls {
        rows: Vec::new(),
        checkpoints: Vec::new(),
    };
    let results = run(&plan(&[job]), &options(), &mut hooks).expect("results");
    let summary = &results.jobs[0];
    assert_eq!(results.status, Status::Complete);
    assert!(
        (1_400..=1_500).contains(&summary.read.ios),
        "{}",
        summary.read.ios
    );
    assert!(
        summary.read.lat_ns.max < 4_000_000_000,
        "nothing waited for the collector"
    );
    let ios: u64 = hooks.rows.iter().map(|row| row.ios).sum();
    assert_eq!(ios, summary.read.ios);
    assert!(
        hooks.rows.iter().any(|row| row.duration_ns > 1_000_000_000),
        "a longer one"
    );
    let [first] = hooks.checkpoints.as_slice() else {
        panic!("one in so short a run: {:?}", hooks.checkpoints);
    };
    assert!((1..ios).contains(first), "{first}");
}
