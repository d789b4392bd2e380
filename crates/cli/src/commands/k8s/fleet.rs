//! Many pods of a side that did the same at one moment: their runs, read one after the other and put together.
//!
//! Data in: directories of tests. Data out: what they did together, for people and for programs.

use crate::terminal::{self, Colour};
use anyhow::Context as _;
use fathom_analysis::fleet::{Fleet, Part, Recorded, Reduction};
use fathom_cluster::conduct::{TestDone, test_dir};
use fathom_cluster::plan::{ALONE, Plan};
use fathom_cluster::start::{self, Release};
use fathom_door::output;
use fathom_report::Format;
use fathom_report::fleet::FleetReport;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What the members of a side did in a repeat.
struct Told {
    /// The side and the repeat, in words.
    on: String,
    /// Names a file.
    name: String,
    fleet: Fleet,
    skew_ns: Option<(u64, u64)>,
}

impl Told {
    fn report(&self) -> FleetReport<'_> {
        FleetReport {
            on: &self.on,
            fleet: &self.fleet,
            skew_ns: self.skew_ns,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Tells each side and repeat, and keeps a page of it.
pub(super) fn tell(plan: &Plan, done: &[TestDone], dir: &Path, step: &str) -> anyhow::Result<()> {
    for told in all(plan, done, dir, step)? {
        terminal::print("\n")?;
        let report = told.report();
        terminal::print(&report.text(terminal::stdout_style(Colour::Auto)))?;
        if let Some(page) = report.render(Format::Html) {
            let path = dir.join(format!("{}.html", told.name));
            write(&path, &page)?;
            terminal::say(&format!("with all that there is: {}", path.display()));
        }
    }
    Ok(())
}

/// The same for a document.
pub(super) fn json(plan: &Plan, done: &[TestDone], dir: &Path, step: &str) -> anyhow::Result<Value> {
    let all = all(plan, done, dir, step)?;
    Ok(json!(
        all.iter().map(|told| told.report().json()).collect::<Vec<_>>()
    ))
}

fn write(path: &Path, page: &str) -> anyhow::Result<()> {
    let writing = || format!("cannot write {}", path.display());
    // A run that is taken up again is told anew.
    output::leave(path, page.as_bytes(), true).with_context(writing)
}

fn all(plan: &Plan, done: &[TestDone], dir: &Path, step: &str) -> anyhow::Result<Vec<Told>> {
    let mut all = Vec::new();
    for side in 0..plan.sides.len() {
        for repeat in 1..=plan.repeat {
            let of = |one: &&TestDone| one.test.side == side && one.test.repeat == repeat && one.is_whole();
            let its: Vec<&TestDone> = done.iter().filter(of).collect();
            if its.iter().filter(|one| one.test.member != ALONE).count() < 2 {
                continue;
            }
            let named = plan.sides[side].name();
            all.push(Told {
                on: format!("{}, repeat {repeat}", plan.sides[side]),
                name: format!("fleet-{named}-{repeat}"),
                skew_ns: skew(plan, &its, dir, step)?,
                fleet: reduce(plan, &its, dir, step)?,
            });
        }
    }
    Ok(all)
}

/// How far apart the first I/Os were let go, by this machine's clock.
fn skew(plan: &Plan, its: &[&TestDone], dir: &Path, step: &str) -> anyhow::Result<Option<(u64, u64)>> {
    let mut releases = Vec::new();
    for one in its.iter().filter(|one| one.test.member != ALONE) {
        let Some(release) = one.release else { continue };
        let run = fathom_store::read_run(&test_dir(dir, plan, one.test).join(step))?;
        releases.push(Release {
            at_unix_ns: release.clock.here(run.started_unix_ns.0),
            ..release
        });
    }
    Ok(start::skew(&releases))
}

/// Puts runs together, one in memory at a time.
fn reduce(plan: &Plan, its: &[&TestDone], dir: &Path, step: &str) -> anyhow::Result<Fleet> {
    let mut reduction = Reduction::default();
    for one in its {
        let place: PathBuf = test_dir(dir, plan, one.test).join(step);
        let stored = fathom_store::read(&place)?;
        let histograms = fathom_store::read_histograms(&place)?;
        let recorded = Recorded {
            name: &one.pod,
            node: one.node.as_deref(),
            summary: &stored.run.summary,
            series: &stored.series,
            histograms: &histograms,
        };
        if one.test.member == ALONE {
            reduction.alone(Part::of(&recorded).member.iops);
        } else {
            reduction.add(&recorded);
        }
    }
    Ok(reduction.finish())
}
