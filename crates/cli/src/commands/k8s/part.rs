//! What a run contributes to what many did, found in its directory.
//!
//! Data in: a run directory. Data out: its [`Part`]. It asks each command for what it would say of that run alone.

use crate::commands::{compare, explain, plan};
use crate::part::Part;
use crate::recorded::run_dir::run_of;
use fathom_analysis::explain::answer::LimitKind;
use fathom_analysis::fleet;
use fathom_core::run::Run;
use std::path::Path;

/// Of a run directory, that of a killed run among them.
pub(super) fn of(dir: &Path) -> anyhow::Result<Part> {
    let run = run_of(dir)?;
    let series = fathom_store::read(dir)?.series;
    let histograms = fathom_store::read_histograms(dir)?;
    let mut fleet = fleet::Part::of(&fleet::Recorded {
        // Whoever puts it somewhere knows.
        name: "",
        node: None,
        summary: &run.summary,
        series: &series,
        histograms: &histograms,
    });
    fleet.limited = limited(dir, &run)?;
    let measured = compare::measured_of(dir, &run)?;
    let seen = plan::seen_of(dir)?;
    Ok(Part::new(run, fleet, measured, seen))
}

/// What limited it, each limit once.
fn limited(dir: &Path, run: &Run) -> anyhow::Result<Vec<String>> {
    let explanation = explain::explained(dir, run, None)?;
    let told = explanation
        .limits
        .iter()
        .filter(|one| one.limit != LimitKind::Unknown);
    let mut limited: Vec<String> = told.map(|one| one.limit.name().to_owned()).collect();
    limited.sort();
    limited.dedup();
    Ok(limited)
}
