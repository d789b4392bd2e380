//! Sweeps whose points follow from a formula.

use super::build;
use fathom_core::run::{Environment, LatencySummary, Status, Target};
use fathom_core::sweep::{
    Axes, Coordinates, DirectionFigures, Outcome, PointFigures, PointOrder, PointResult, SCHEMA, SweepPlan,
    SweepResults, Timing,
};
use fathom_core::units::WallTime;

/// A plan of all combinations.
pub fn plan(axes: Axes) -> SweepPlan {
    let points = axes.points();
    SweepPlan {
        schema: String::from(SCHEMA),
        build: build(),
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

/// Results of so many points.
pub fn results(status: Status, points: impl IntoIterator<Item = (Coordinates, Outcome)>) -> SweepResults {
    let point = |(coordinates, outcome)| PointResult { coordinates, outcome };
    SweepResults {
        probe: None,
        schema: String::from(SCHEMA),
        status,
        points: points.into_iter().map(point).collect(),
    }
}

/// Nothing measured.
pub fn nothing_yet(plan: &SweepPlan) -> SweepResults {
    let points = plan.points.iter().map(|at| (*at, Outcome::Pending));
    results(Status::Running, points)
}

/// All points measured, with `iops` of each.
pub fn measured(plan: &SweepPlan, iops: impl Fn(Coordinates) -> f64) -> SweepResults {
    let outcome = |at: &Coordinates| Outcome::Measured {
        repeats: vec![figures(*at, iops(*at))],
    };
    let points = plan.points.iter().map(|at| (*at, outcome(at)));
    results(Status::Complete, points)
}

/// One measurement of so many IOPS over a minute, known within 0.2 %, with the mean latency of a closed loop.
pub fn figures(at: Coordinates, iops: f64) -> PointFigures {
    let ios = (iops * 60.0) as u64;
    let lat_ns = LatencySummary {
        n: ios,
        mean: at.total_depth() as f64 * 1e9 / iops,
        ..LatencySummary::default()
    };
    PointFigures {
        run: at.name(),
        runtime_ns: 60_000_000_000,
        total: direction(ios, at.block_size_bytes, iops, lat_ns),
        iops_half_width: Some(0.002),
        ..PointFigures::default()
    }
}

/// One direction of a measurement: so many I/Os of `block` bytes.
pub fn direction(ios: u64, block: u64, iops: f64, lat_ns: LatencySummary) -> DirectionFigures {
    DirectionFigures {
        ios,
        bytes: ios * block,
        iops,
        bytes_per_second: iops * block as f64,
        lat_ns,
    }
}
