//! Sweeps made up of a formula, for tests.
//!
//! Data in: a matrix, what each point gives. Data out: a plan with results.

use fathom_core::run::{Build, Environment, LatencySummary, Status, Target};
use fathom_core::sweep::{
    Axes, Coordinates, DirectionFigures, Outcome, PointFigures, PointOrder, PointResult, SCHEMA, SweepPlan,
    SweepResults, Timing,
};
use fathom_core::units::WallTime;

/// Random and sequential, pure and half mixes, five sizes, four depths, one thread.
pub(super) fn axes() -> Axes {
    Axes {
        random: vec![true, false],
        read_percent: vec![100, 50, 0],
        block_size_bytes: vec![4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20],
        iodepth: vec![1, 4, 16, 64],
        threads: vec![1],
    }
}

/// A plan of all combinations.
pub(super) fn plan(axes: Axes) -> SweepPlan {
    let points = axes.points();
    SweepPlan {
        schema: String::from(SCHEMA),
        build: Build {
            version: String::from("0.1.0"),
            debug: false,
        },
        command: Vec::new(),
        name: String::from("made-up"),
        about: String::new(),
        started_unix_ns: WallTime(0),
        target: Target::default(),
        environment: Environment::default(),
        axes,
        timing: Timing::default(),
        repeats: 1,
        order: PointOrder::AsGiven,
        seed: 1,
        precondition: false,
        steady: None,
        adaptive: false,
        options: Vec::new(),
        points,
    }
}

/// Nothing measured.
pub(super) fn nothing_yet(plan: &SweepPlan) -> SweepResults {
    let pending = |&coordinates: &Coordinates| PointResult {
        coordinates,
        outcome: Outcome::Pending,
    };
    SweepResults {
        probe: None,
        schema: String::from(SCHEMA),
        status: Status::Running,
        points: plan.points.iter().map(pending).collect(),
    }
}

/// All points measured, with `iops` of each.
pub(super) fn measured(plan: &SweepPlan, iops: impl Fn(Coordinates) -> f64) -> SweepResults {
    let mut results = nothing_yet(plan);
    for point in &mut results.points {
        point.outcome = Outcome::Measured {
            repeats: vec![figures(point.coordinates, iops(point.coordinates))],
        };
    }
    results.status = Status::Complete;
    results
}

/// One measurement of so many IOPS, known within 0.2 %, with the mean latency of a closed loop.
pub(super) fn figures(at: Coordinates, iops: f64) -> PointFigures {
    let total = DirectionFigures {
        ios: (iops * 60.0) as u64,
        bytes: (iops * 60.0) as u64 * at.block_size_bytes,
        iops,
        bytes_per_second: iops * at.block_size_bytes as f64,
        lat_ns: LatencySummary {
            n: (iops * 60.0) as u64,
            mean: at.total_depth() as f64 * 1e9 / iops,
            ..LatencySummary::default()
        },
    };
    PointFigures {
        run: at.name(),
        runtime_ns: 60_000_000_000,
        total,
        iops_half_width: Some(0.002),
        ..PointFigures::default()
    }
}

/// A disk of limits alone: `service_us` an I/O and `us_per_kib` more for each KiB, then limits on IOPS and bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk {
    pub(super) service_us: f64,
    pub(super) us_per_kib: f64,
    pub(super) iops: f64,
    pub(super) bytes_per_second: f64,
    /// Larger I/O counts as several.
    pub(super) unit_bytes: u64,
}

impl Disk {
    /// Its IOPS at a point.
    pub(super) fn at(&self, at: Coordinates) -> f64 {
        let size = at.block_size_bytes as f64;
        let latency_us = self.service_us + self.us_per_kib * size / 1024.0;
        let units = at.block_size_bytes.div_ceil(self.unit_bytes) as f64;
        (at.total_depth() as f64 * 1e6 / latency_us)
            .min(self.iops / units)
            .min(self.bytes_per_second / size)
    }
}
