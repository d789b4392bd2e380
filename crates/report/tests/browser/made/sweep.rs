//! A made-up sweep of a disk with a limit on IOPS and one on MB/s.

use super::environment;
use fathom_analysis::sweep::conclude;
use fathom_analysis::sweep::findings::Conclusions;
use fathom_core::run::{LatencySummary, Status};
use fathom_core::sweep::{
    Axes, Coordinates, Inferred, Outcome, PointFigures, PointOrder, SweepPlan, SweepResults, Timing,
};
use fathom_core::units::WallTime;
use fathom_report::document::SweepReport;
use fathom_testkit::make;

/// A sweep and what its report is made from.
pub(crate) struct Sweep {
    plan: SweepPlan,
    results: SweepResults,
    conclusions: Conclusions,
}

impl Sweep {
    /// Random and sequential, five mixes, five sizes, four depths.
    pub(crate) fn of_200_points() -> Self {
        let axes = Axes {
            random: vec![true, false],
            read_percent: vec![100, 80, 50, 20, 0],
            block_size_bytes: vec![4 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20],
            iodepth: vec![1, 2, 16, 32],
            threads: vec![2],
        };
        let plan = plan(axes);
        let results = plan.points.iter().enumerate();
        let results = results.map(|(index, at)| (*at, outcome(index, *at)));
        let results = make::sweep::results(Status::Complete, results);
        Self {
            conclusions: conclude(&plan, &results),
            plan,
            results,
        }
    }

    pub(crate) fn report(&self) -> SweepReport<'_> {
        SweepReport {
            plan: &self.plan,
            results: &self.results,
            conclusions: &self.conclusions,
            outline: None,
            published: None,
        }
    }
}

fn plan(axes: Axes) -> SweepPlan {
    SweepPlan {
        command: ["fathom", "sweep", "sweep.toml", "--on", "/mnt/data/test.bin"]
            .map(String::from)
            .into(),
        name: String::from("azure-a2-2016"),
        about: String::from("200 tests of one standard disk at a virtual machine A2."),
        started_unix_ns: WallTime(1_790_000_000_123_456_789),
        target: make::target("/mnt/data/test.bin (ext4 on /dev/sdc)", false),
        environment: environment(),
        timing: Timing {
            idle_ns: 60_000_000_000,
            warmup_ns: 60_000_000_000,
            duration_ns: 300_000_000_000,
            cooldown_ns: 0,
        },
        repeats: 2,
        order: PointOrder::Shuffled,
        seed: 7,
        precondition: true,
        adaptive: true,
        options: vec![
            (String::from("direct"), Some(String::from("1"))),
            (String::from("size"), Some(String::from("1g"))),
        ],
        ..make::sweep::plan(axes)
    }
}

/// IOPS of a disk that does 500 I/Os of up to 256 KiB a second, 100 MiB a second, and takes 4 ms for one.
fn iops(at: &Coordinates) -> f64 {
    let accounted = at.block_size_bytes.div_ceil(256 << 10) as f64;
    let limit = (500.0 / accounted).min(104_857_600.0 / at.block_size_bytes as f64);
    let seek = if at.random { 6.0e-3 } else { 1.5e-3 };
    limit.min(at.total_depth() as f64 / (seek + at.block_size_bytes as f64 / 2e8))
}

fn outcome(index: usize, coordinates: Coordinates) -> Outcome {
    let iops = iops(&coordinates);
    let mean_ns = coordinates.total_depth() as f64 / iops * 1e9;
    match index {
        77 => Outcome::Failed {
            message: String::from("write failed: Input/output error <b>"),
        },
        n if n % 9 == 8 => Outcome::Inferred(Inferred {
            iops,
            bytes_per_second: iops * coordinates.block_size_bytes as f64,
            lat_ns_mean: mean_ns,
            because: String::from("the IOPS limit is reached at half this depth"),
            from: vec![index as u32 - 1],
        }),
        _ => Outcome::Measured {
            repeats: [0.985, 1.015]
                .map(|factor| figures(&coordinates, iops * factor, mean_ns / factor))
                .into(),
        },
    }
}

fn figures(at: &Coordinates, iops: f64, mean_ns: f64) -> PointFigures {
    let ios = (iops * 300.0) as u64;
    let direction = |share: f64| {
        let ios = (ios as f64 * share) as u64;
        make::sweep::direction(ios, at.block_size_bytes, iops * share, latency(ios, mean_ns))
    };
    let reads = f64::from(at.read_percent) / 100.0;
    PointFigures {
        run: format!("points/{}", at.name()),
        runtime_ns: 300_000_000_000,
        read: direction(reads),
        write: direction(1.0 - reads),
        total: direction(1.0),
        iops_half_width: Some(0.012),
        ended_steady: false,
        lat_buckets: Vec::new(),
        errors: 0,
        warnings: if at.iodepth == 1 {
            vec![String::from(
                "stamps come from clock_monotonic, which costs some 20 ns more each",
            )]
        } else {
            Vec::new()
        },
    }
}

fn latency(n: u64, mean: f64) -> LatencySummary {
    let at = |factor: f64| (mean * factor) as u64;
    LatencySummary {
        n,
        min: at(0.3),
        mean,
        stddev: mean * 0.7,
        max: at(19.0),
        percentiles: vec![
            (50.0, at(0.9)),
            (90.0, at(1.8)),
            (95.0, at(2.3)),
            (99.0, at(4.1)),
            (99.9, at(9.0)),
            (99.99, at(15.0)),
        ],
    }
}
