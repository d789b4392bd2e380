//! Points of a sweep on modelled disks, in virtual time.
//!
//! Data in: a matrix, a machine. Data out: results, of all points or of those that an adaptive sweep measures. It must not
//! know what follows from them: tests of several crates share it.
#![allow(dead_code, reason = "each crate's tests use a part of it")]

use fathom_analysis::sweep::adaptive::{Next, next};
use fathom_analysis::sweep::point::figures;

use fathom_core::run::{SeriesRow, Status};
use fathom_core::sweep::{Axes, Coordinates, Outcome, PointFigures, Probe, SweepPlan, SweepResults, Timing};
use fathom_core::units::{Nanos, WallTime};
use fathom_core::workload::{Amount, BlockSize, EngineKind, Job, Mix, RandomMap, SplitEntry, Workload};
use fathom_engine::plan::Plan;
use fathom_engine::run::{Hooks, Options, run_virtual};
use fathom_model::{Catalog, Machine, Spec, file, target};
use fathom_sys::clock::HostClock;
use fathom_testkit::make;
use fathom_testkit::make::sweep::nothing_yet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SECOND_NS: u64 = 1_000_000_000;

/// The matrix of 200 points that the experiment of 2016 measured.
pub(crate) fn axes() -> Axes {
    Axes {
        random: vec![true, false],
        read_percent: vec![100, 80, 50, 20, 0],
        block_size_bytes: vec![4 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20],
        iodepth: vec![1, 2, 16, 32],
        threads: vec![2],
    }
}

/// The disk of that experiment: a spinning one of 2016.
pub(crate) fn hdd_2016() -> Spec {
    let text = include_str!("../../../../experiments/azure-a2-2016/hdd-2016.toml");
    file::parse("hdd-2016.toml", text, Catalog::azure()).expect("the experiment's model")
}

/// A P15 as it was before such disks could burst: 1100 IOPS and 125 MB/s, of which 1.02 times are released, in slices of
/// 50 ms; I/O counts in units of 256 KiB.
pub(crate) fn p15() -> Spec {
    let text = "base = \"azure/P15\"\n[disk.limits]\nburst = \"off\"\n";
    file::parse("p15.toml", text, Catalog::azure()).expect("a model")
}

pub(crate) fn machine(words: &str) -> Spec {
    target::parse(words, Catalog::azure()).expect("a target")
}

/// A plan of all combinations, 60 s idle, 60 s of warm-up, `seconds` counted each.
pub(crate) fn plan(name: &str, axes: Axes, seconds: u64) -> SweepPlan {
    SweepPlan {
        name: String::from(name),
        started_unix_ns: WallTime(1_790_000_000 * SECOND_NS),
        target: make::target(&format!("model:{name}"), true),
        timing: Timing {
            idle_ns: 60 * SECOND_NS,
            warmup_ns: 60 * SECOND_NS,
            duration_ns: seconds * SECOND_NS,
            cooldown_ns: 0,
        },
        ..make::sweep::plan(axes)
    }
}

/// All points measured, on all processors.
pub(crate) fn measure_all(plan: &SweepPlan, spec: &Spec) -> SweepResults {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= plan.points.len() {
                return done;
            }
            done.push((at, measure(plan, at as u32, spec)));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut results = nothing_yet(plan);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for handle in handles {
            for (at, measured) in handle.join().expect("a worker") {
                results.points[at].outcome = Outcome::Measured {
                    repeats: vec![measured],
                };
            }
        }
    });
    results.status = Status::Complete;
    results
}

/// What an adaptive sweep does: the measured points and the inferred ones, in the order of the decisions.
pub(crate) fn measure_adaptively(plan: &SweepPlan, spec: &Spec) -> SweepResults {
    decide(plan, |point| measure(plan, point, spec))
}

/// The same, with what `measured` says of each point that is to be measured.
pub(crate) fn decide(plan: &SweepPlan, measured: impl Fn(u32) -> PointFigures) -> SweepResults {
    let mut results = nothing_yet(plan);
    // No point needs more than two decisions.
    for _ in 0..2 * plan.points.len() {
        match next(plan, &results) {
            Next::Measure(point) => {
                results.points[point as usize].outcome = Outcome::Measured {
                    repeats: vec![measured(point)],
                };
            }
            Next::Infer { point, inferred } => {
                results.points[point as usize].outcome = Outcome::Inferred(inferred);
            }
            Next::Done => {
                results.status = Status::Complete;
                return results;
            }
        }
    }
    panic!("an adaptive sweep that never ends");
}

struct Rows(Vec<SeriesRow>);

impl Hooks for Rows {
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.0.extend_from_slice(rows);
    }
}

/// One point, on a machine of its own.
pub(crate) fn measure(plan: &SweepPlan, point: u32, spec: &Spec) -> PointFigures {
    let coordinates = plan.points[point as usize];
    measure_job(plan, job(plan, coordinates, u64::from(point)), spec)
}

/// A load beside the matrix.
pub(crate) fn measure_probe(plan: &SweepPlan, probe: &Probe, spec: &Spec) -> PointFigures {
    let mut job = job(plan, probe.at, plan.points.len() as u64);
    let entry = |bytes, percent| SplitEntry { bytes, percent };
    let split = BlockSize::Split(vec![
        entry(probe.at.block_size_bytes, 100 - probe.large_percent),
        entry(probe.large_bytes, probe.large_percent),
    ]);
    job.block_size = [split.clone(), split.clone(), split];
    job.pattern.random_map = RandomMap::Independent;
    measure_job(plan, job, spec)
}

fn measure_job(plan: &SweepPlan, job: Job, spec: &Spec) -> PointFigures {
    let name = job.name.clone();
    let workload = Workload { jobs: vec![job] };
    let planned = Plan::modelled(&workload, spec.volume_bytes()).expect("a plan");
    let options = Options::new(Arc::new(AtomicBool::new(false)), HostClock::new());
    let mut rows = Rows(Vec::new());
    let results = run_virtual(&planned, &mut Machine::new(spec), &options, &mut rows);
    let mut run = make::run(workload.jobs, results.jobs);
    run.status = results.status;
    run.summary.target = plan.target.clone();
    run.summary.groups = results.groups;
    PointFigures {
        run: name,
        ..figures(&run, &rows.0, &results.histograms)
    }
}

fn job(plan: &SweepPlan, coordinates: Coordinates, number: u64) -> Job {
    let mut job = Job {
        name: coordinates.name(),
        direct: true,
        numjobs: coordinates.threads,
        group_reporting: true,
        random_seed: plan.seed.wrapping_mul(1000) + number,
        ..Job::default()
    };
    job.engine.kind = EngineKind::Libaio;
    job.files.names = vec!["/data/sweep.dat".into()];
    job.region.size = Some(Amount::Bytes(1 << 30));
    job.depth.iodepth = coordinates.iodepth;
    job.depth.low = coordinates.iodepth;
    let block = BlockSize::Fixed(coordinates.block_size_bytes);
    job.block_size = [block.clone(), block.clone(), block];
    job.pattern.random = coordinates.random;
    job.pattern.mix = match coordinates.read_percent {
        100 => Mix::Read,
        0 => Mix::Write,
        read_percent => Mix::ReadWrite { read_percent },
    };
    job.limit.time_based = true;
    job.limit.ramp_time = Nanos(plan.timing.warmup_ns);
    job.limit.runtime = Some(Nanos(plan.timing.duration_ns));
    let idle = Nanos(plan.timing.idle_ns);
    job.start.delay = (idle, idle);
    job
}
