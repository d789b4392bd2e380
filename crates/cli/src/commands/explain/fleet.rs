//! Many runs of one place: what they did together, whose limit it was, what limited each.
//!
//! Data in: what each contributes, one at a time. Data out: a report for each load and class. It must not read records.

use crate::args::evidence::ExplainArgs;
use crate::exit::Exit;
use crate::part::Part;
use crate::stored;
use crate::terminal;
use anyhow::bail;
use fathom_analysis::fleet::{Fleet, Reduction};
use fathom_cluster::prefix::{ALONE_RUN, RunKey};
use fathom_report::fleet::FleetReport;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// What began so close together was to begin at one moment.
const MOMENT_NS: u64 = 2_000_000_000;

/// One load on one class of one cluster.
#[derive(Default)]
struct Group {
    moments: Vec<Moment>,
    /// When one had it alone, and the I/Os a second that it had.
    alone: Vec<(u64, f64)>,
}

/// Runs that began at one moment.
struct Moment {
    began_ns: u64,
    reduction: Reduction,
}

impl Group {
    fn take(&mut self, key: &RunKey, part: Part) {
        let began_ns = part.run.started_unix_ns.0;
        let mut fleet = part.fleet;
        if key.run.ends_with(ALONE_RUN) {
            self.alone.push((began_ns, fleet.member.iops));
            return;
        }
        fleet.member.name.clone_from(&key.run);
        fleet.member.node = Some(key.node.clone());
        let near = |moment: &&mut Moment| moment.began_ns.abs_diff(began_ns) <= MOMENT_NS;
        if let Some(moment) = self.moments.iter_mut().find(near) {
            moment.reduction.take(fleet);
            return;
        }
        let mut reduction = Reduction::default();
        reduction.take(fleet);
        self.moments.push(Moment { began_ns, reduction });
    }

    /// A fleet a moment, where each moment has several; else all of them as repeats.
    fn finish(mut self) -> Vec<Fleet> {
        self.moments.sort_by_key(|moment| moment.began_ns);
        if self.moments.iter().any(|moment| moment.reduction.members() < 2) {
            let all = self.moments.into_iter().map(|moment| moment.reduction);
            let merged = all.reduce(|mut one, other| {
                one.merge(other);
                one
            });
            return merged.into_iter().map(Reduction::finish).collect();
        }
        let told = self.moments.into_iter().map(|mut moment| {
            // The last one before them.
            let before = self.alone.iter().filter(|(at, _)| *at < moment.began_ns);
            if let Some((_, iops)) = before.max_by_key(|(at, _)| *at) {
                moment.reduction.alone(*iops);
            }
            moment.reduction.finish()
        });
        told.collect()
    }
}

/// Tells the runs of a prefix.
pub(super) fn explain(args: &ExplainArgs, prefix: &Path) -> anyhow::Result<Exit> {
    if !args.evidence.is_empty() || args.catalog.is_some() {
        bail!(
            "{}: what limited each run was found where it ran: --evidence and --catalog are about the directory of one run",
            prefix.display()
        );
    }
    let mut groups: BTreeMap<(String, String, String), Group> = BTreeMap::new();
    stored::each(prefix, |key, part| {
        let load = load(&part);
        groups
            .entry((key.cluster.clone(), key.class.clone(), load))
            .or_default()
            .take(key, part);
        Ok(())
    })?;
    let mut documents = Vec::new();
    for ((cluster, class, load), group) in groups {
        for fleet in group.finish() {
            let on = format!("class {class} of {cluster}: {load}");
            let report = FleetReport {
                on: &on,
                fleet: &fleet,
                skew_ns: None,
                version: env!("CARGO_PKG_VERSION"),
            };
            if args.json {
                documents.push(report.json());
            } else {
                terminal::print(&report.text(terminal::stdout_style(args.colour)))?;
                terminal::print("\n")?;
            }
        }
    }
    if args.json {
        let document = json!({"schema": "fathom.fleet/1", "prefix": prefix, "fleets": documents});
        terminal::print(&format!("{document:#}\n"))?;
    }
    Ok(Exit::Done)
}

/// What was run, in words: runs of one load are put together.
fn load(part: &Part) -> String {
    let summary = &part.run.summary;
    let jobs = part.run.workload.jobs.iter().map(|job| job.name.as_str());
    let mut names: Vec<&str> = jobs.collect();
    names.dedup();
    match (names.is_empty(), summary.commands.is_empty()) {
        (false, _) => names.join(", "),
        (true, false) => String::from("a command"),
        (true, true) => String::from("what others did"),
    }
}
