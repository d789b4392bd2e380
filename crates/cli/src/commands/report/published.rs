//! What an experiment published, beside what a sweep of it gave.
//!
//! Data in: a sweep, the figures of an experiment. Data out: the chapter of a report. An experiment's figures call the points of
//! a sweep `RUN/ORDER-wWRITES-SIZE-qDEPTH` (`matrix/rand-w020-64k-q16`), as its job file calls its sections.

use crate::commands::reproduce::experiment::{self, Experiment};
use crate::commands::reproduce::{self, Carried};
use fathom_analysis::figures::{Figure, Judged, Outcome};
use fathom_core::sweep::{Coordinates, SweepPlan, SweepResults};
use fathom_report::reproduction::Chapter;
use std::path::Path;

/// The chapter, where the sweep is one of an experiment: the one that is asked for, or the built-in one of its name.
pub(super) fn chapter(
    dir: &Path,
    plan: &SweepPlan,
    results: &SweepResults,
    asked: Option<&str>,
) -> anyhow::Result<Option<Chapter>> {
    let mut experiment: Experiment = match asked {
        Some(name) => experiment::named(name)?,
        None if experiment::BUILT_IN.iter().any(|(name, _)| *name == plan.name) => {
            experiment::built_in(&plan.name)?
        }
        None => return Ok(None),
    };
    let run = experiment
        .about
        .runs
        .first()
        .map_or("sweep", |run| run.name.as_str());
    let mut carried = Carried::default();
    for result in &results.points {
        let Some(figures) = result.repeats().first() else {
            continue;
        };
        // A point whose directory was removed is one that the sweep does not have.
        let Some(at) = fathom_store::measured_in(dir, &figures.run) else {
            continue;
        };
        let stored = fathom_store::read(&at)?;
        let jobs = &stored.run.summary.jobs;
        carried.ios += jobs.iter().map(|job| job.read.ios + job.write.ios).sum::<u64>();
        carried.virtual_ns += plan.timing.total_ns();
        carried.outcomes.push(Outcome {
            name: format!("{run}/{}", section(&result.coordinates)),
            depths: vec![result.coordinates.total_depth()],
            histograms: fathom_store::read_histograms(&at)?,
            series: stored.series,
            jobs: stored.run.summary.jobs,
            ..Outcome::default()
        });
    }
    let (there, missing): (Vec<Figure>, Vec<Figure>) = experiment
        .figures
        .into_iter()
        .partition(|figure| Judged::new(figure, &carried.outcomes).is_ok());
    experiment.figures = there;
    if experiment.figures.is_empty() {
        return Ok(None);
    }
    if !missing.is_empty() {
        let note = format!(
            "{} of the published figures are of tests that this sweep has not measured, and are left out.",
            missing.len()
        );
        experiment.about.notes.push(note);
    }
    reproduce::chapter(&experiment, &carried).map(Some)
}

/// `rand-w020-64k-q16`.
fn section(point: &Coordinates) -> String {
    let order = if point.random { "rand" } else { "seq" };
    let size = match point.block_size_bytes {
        bytes if bytes % (1 << 20) == 0 => format!("{}m", bytes >> 20),
        bytes if bytes % (1 << 10) == 0 => format!("{}k", bytes >> 10),
        bytes => format!("{bytes}b"),
    };
    format!(
        "{order}-w{:03}-{size}-q{:02}",
        100 - point.read_percent,
        point.iodepth
    )
}
