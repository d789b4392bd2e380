//! Many pods of a side that did the same at one moment: their runs, read one after the other and put together.
//!
//! Data in: directories of tests. Data out: what they did together, for people and for programs.

use super::compared::{Found, Side};
use crate::terminal::{self, Colour};
use anyhow::Context as _;
use fathom_analysis::compare::observe_fleets;
use fathom_analysis::fleet::{Fleet, Part, Recorded, Reduction};
use fathom_cluster::conduct::{TestDone, test_dir};
use fathom_cluster::plan::{ALONE, Plan};
use fathom_cluster::start::{self, Release};
use fathom_door::output;
use fathom_report::Format;
use fathom_report::compared::Kind;
use fathom_report::fleet::FleetReport;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What the members of a side did in a repeat.
struct Told {
    side: usize,
    repeat: u32,
    /// When the first of their pods was made.
    started_unix_ms: Option<u64>,
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

/// All sides and repeats of a run.
pub(super) struct Fleets {
    step: String,
    all: Vec<Told>,
}

impl Fleets {
    pub(super) fn read(plan: &Plan, done: &[TestDone], dir: &Path, step: &str) -> anyhow::Result<Self> {
        Ok(Self {
            step: step.to_owned(),
            all: all(plan, done, dir, step)?,
        })
    }

    /// Tells each side and repeat, then the sides against each other.
    pub(super) fn tell(&self, plan: &Plan, dir: &Path) -> anyhow::Result<()> {
        for told in &self.all {
            terminal::print("\n")?;
            let report = told.report();
            terminal::print(&report.text(terminal::stdout_style(Colour::Auto)))?;
        }
        for found in self.compared(plan) {
            terminal::print(&format!("\n{}, all pods of a repeat together\n", self.step))?;
            terminal::print(&found.text())?;
            found.leave(dir, &format!("compared-{}", self.step))?;
        }
        for path in self.leave(dir)? {
            terminal::say(&format!("with all that there is: {}", path.display()));
        }
        Ok(())
    }

    /// Keeps a page of each, which are returned.
    pub(super) fn leave(&self, dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        for told in &self.all {
            if let Some(page) = told.report().render(Format::Html) {
                let path = dir.join(format!("{}.html", told.name));
                write(&path, &page)?;
                left.push(path);
            }
        }
        Ok(left)
    }

    /// The first side against each other one. A repeat is a moment, whoever took part in it.
    pub(super) fn compared(&self, plan: &Plan) -> Vec<Found> {
        let of_side = |side: usize| self.all.iter().filter(move |told| told.side == side);
        let repeats = |side: usize| -> Vec<(Option<u64>, &Fleet)> {
            of_side(side)
                .map(|told| (told.started_unix_ms, &told.fleet))
                .collect()
        };
        let side = |number: usize| Side {
            name: plan.sides[number].name().to_owned(),
            from: of_side(number)
                .map(|told| format!("repeat {} of {} pods", told.repeat, told.fleet.members.len()))
                .collect(),
            notes: Vec::new(),
        };
        let each = (1..plan.sides.len()).filter_map(|other| {
            let observed = observe_fleets([&repeats(0), &repeats(other)]);
            (!observed.is_empty()).then(|| Found::new(Kind::Runs, [side(0), side(other)], observed))
        });
        each.collect()
    }

    /// As a part of a document.
    pub(super) fn json(&self) -> Value {
        json!(
            self.all
                .iter()
                .map(|told| told.report().json())
                .collect::<Vec<_>>()
        )
    }
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
            let starts = its.iter().filter(|one| one.test.member != ALONE);
            let starts = starts.filter_map(|one| u64::try_from(one.started_unix_ms).ok());
            all.push(Told {
                side,
                repeat,
                started_unix_ms: starts.min(),
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
