//! `fathom explain`: what limited a run, where its spikes came from, what averages hid.
//!
//! Data in: a run directory, the catalogue. Data out: the explanation as text or JSON on stdout. It only brings the rows of
//! the store to the analysis, which knows what they mean.

mod disks;
mod fleet;
mod history;
mod windows;

pub(crate) use disks::own as own_limits;
pub(crate) use history::{server, span_of};

use crate::args::evidence::{EvidenceOf, ExplainArgs};
use crate::commands::catalog;
use crate::exit::Exit;
use crate::recorded::run_dir::run_of;
use crate::stored;
use crate::terminal;
use anyhow::Context as _;
use fathom_analysis::explain::{
    self, BlockScan, BlockScanned, CounterScan, CounterScanned, Explanation, Facts, IoScan, IoScanned,
    Scanned, SchedScan, SchedScanned,
};
use fathom_analysis::outline::Outline;
use fathom_core::record::{BlockRequest, CounterRow, IoRecord, SchedSlice, StreamKind};
use fathom_core::run::{Run, SeriesRow};
use fathom_core::sweep::{Outcome, SweepPlan, SweepResults};
use fathom_report::explanation::{self, Evidence};
use fathom_store::{RecordReader, StoreError, stored_streams};
use std::path::Path;
use windows::StoredEvidence;

/// Carries `fathom explain` out.
pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Exit> {
    if let (Some(url), Some(instance)) = (&args.history.prometheus, &args.history.instance) {
        return history::explain(args, url, instance);
    }
    let dir = args.dir.as_deref().context("a run directory is asked for")?;
    if stored::is_prefix(dir) {
        return fleet::explain(args, dir);
    }
    let run = run_of(dir)?;
    let explanation = explained(dir, &run, args.catalog.as_deref())?;
    if args.json {
        terminal::print(&explanation::json(&explanation))?;
    } else {
        let style = terminal::stdout_style(args.colour);
        let evidence = evidence(&args.evidence, &explanation)?;
        let outline = if explanation.has_no_evidence() {
            outline_of_run(&run, &fathom_store::read(dir)?.series, args.catalog.as_deref())?
        } else {
            None
        };
        let text = explanation::text(&run, &explanation, outline.as_ref(), &evidence, style);
        terminal::print(&text)?;
    }
    if explanation.has_no_evidence() {
        return Ok(Exit::Errors);
    }
    Ok(Exit::Done)
}

/// What was asked for, if it is there.
fn evidence(asked: &[EvidenceOf], explanation: &Explanation) -> anyhow::Result<Evidence> {
    if asked.contains(&EvidenceOf::All) {
        return Ok(Evidence::All);
    }
    let there = explanation.spikes.as_ref().map_or(0, |spikes| spikes.kept.len());
    let mut numbers = Vec::new();
    for of in asked {
        let EvidenceOf::Disturbance(number) = *of else {
            continue;
        };
        anyhow::ensure!(
            number <= there,
            "--evidence {number}: there {}. Numbers are those of the table that `fathom explain` prints",
            match there {
                0 => String::from("was no disturbance"),
                1 => String::from("was 1 disturbance"),
                several => format!("were {several} disturbances"),
            }
        );
        numbers.push(number);
    }
    Ok(if numbers.is_empty() {
        Evidence::None
    } else {
        Evidence::Of(numbers)
    })
}

/// What the record in `dir` says of its run.
pub(crate) fn explained(dir: &Path, run: &Run, catalog: Option<&Path>) -> anyhow::Result<Explanation> {
    let chose = catalog.is_some();
    let catalog = catalog::open(catalog)?;
    let known = disks::known(&catalog, chose, run);
    let facts = Facts {
        known_disks: &known,
        ..Facts::new(run)
    };
    let scanned = scan(dir, &facts)?.evidence(&facts);
    let mut evidence = StoredEvidence::open(dir)?;
    Ok(explain::explain(&facts, &scanned, &mut evidence)?)
}

/// What a run's own figures say, where nothing else was recorded.
pub(crate) fn outline_of_run(
    run: &Run,
    series: &[SeriesRow],
    catalog: Option<&Path>,
) -> anyhow::Result<Option<Outline>> {
    let chose = catalog.is_some();
    let catalog = catalog::open(catalog)?;
    Ok(Outline::of_run(run, series, &disks::known(&catalog, chose, run)))
}

/// The same of a sweep: its limits are those of its first measured point, which was on the same target.
pub(crate) fn outline_of_sweep(
    dir: &Path,
    plan: &SweepPlan,
    results: &SweepResults,
) -> anyhow::Result<Option<Outline>> {
    let measured = results.points.iter().find_map(|point| match &point.outcome {
        Outcome::Measured { repeats } => repeats.first(),
        Outcome::Pending | Outcome::Inferred(_) | Outcome::Failed { .. } => None,
    });
    let Some(first) = measured else { return Ok(None) };
    let run = run_of(&dir.join(&first.run))?;
    let catalog = catalog::open(None)?;
    let known = disks::known(&catalog, false, &run);
    Ok(Outline::of_sweep(plan, results, &known))
}

/// The first pass over the streams: the two large ones on a thread each.
fn scan(dir: &Path, facts: &Facts<'_>) -> Result<Scanned, StoreError> {
    let there = stored_streams(dir);
    let has = |kind: StreamKind| there.contains(&kind);
    let watched = facts.run.workload.jobs.is_empty();
    let (io, block, counters, sched) = std::thread::scope(|scope| {
        let block = scope.spawn(|| has(StreamKind::Block).then(|| requests(dir, facts)).transpose());
        let io = has(StreamKind::Io).then(|| ios(dir, facts)).transpose();
        let counters = has(StreamKind::Counters)
            .then(|| counters(dir, facts))
            .transpose();
        // A load's own I/Os say when it was held up.
        let sched = (watched && has(StreamKind::Sched))
            .then(|| stays(dir, facts))
            .transpose();
        let block = block.join();
        (io, block, counters, sched)
    });
    Ok(Scanned {
        io: io?,
        block: block.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
        counters: counters?,
        sched: sched?,
    })
}

fn ios(dir: &Path, facts: &Facts<'_>) -> Result<IoScanned, StoreError> {
    let mut scan = IoScan::new(facts);
    RecordReader::<IoRecord>::open(dir)?.for_each_batch(|rows| scan.feed(rows))?;
    Ok(scan.finish())
}

fn requests(dir: &Path, facts: &Facts<'_>) -> Result<BlockScanned, StoreError> {
    let mut scan = BlockScan::new(facts);
    RecordReader::<BlockRequest>::open(dir)?.for_each_batch(|rows| scan.feed(rows))?;
    Ok(scan.finish())
}

fn stays(dir: &Path, facts: &Facts<'_>) -> Result<SchedScanned, StoreError> {
    let mut scan = SchedScan::new(facts);
    RecordReader::<SchedSlice>::open(dir)?.for_each_batch(|rows| scan.feed(rows))?;
    Ok(scan.finish())
}

fn counters(dir: &Path, facts: &Facts<'_>) -> Result<CounterScanned, StoreError> {
    let mut scan = CounterScan::new(facts);
    RecordReader::<CounterRow>::open(dir)?.for_each_batch(|rows| scan.feed(rows))?;
    Ok(scan.finish())
}
