//! `fathom report`: a run or a sweep as a page, as Markdown or as a table.
//!
//! Data in: a directory. Data out: files. It only brings what is stored to where reports are made.

mod published;

use crate::args::report::ReportArgs;
use crate::commands::explain;
use crate::exit::Exit;
use crate::recorded::run_dir::run_of;
use crate::terminal;
use anyhow::bail;
use fathom_analysis::explain::Explanation;
use fathom_analysis::sweep::conclude;
use fathom_core::record::{IoRecord, StreamKind};
use fathom_core::run::Run;
use fathom_door::output;
use fathom_report::{Format, LatencyHeat, RunReport, SpikeWindow, SweepReport};
use fathom_session::behind;
use fathom_store::{RecordReader, StoreError, StreamRow, stored_streams};
use std::path::{Path, PathBuf};

/// Carries `fathom report` out.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let outputs = formats(&args.outputs)?;
    for (number, (path, _)) in outputs.iter().enumerate() {
        output::check(path, args.force)?;
        if outputs[..number].iter().any(|(other, _)| other == path) {
            bail!("-o {}: it is given twice: leave one out", path.display());
        }
        not_of_the_record(&args.dir, path)?;
    }
    if fathom_store::is_sweep(&args.dir) {
        sweep(args, &outputs)?;
    } else {
        if args.published.is_some() {
            bail!("--published is for sweeps: leave it out, or see fathom reproduce");
        }
        run(args, &outputs)?;
    }
    if !args.quiet {
        for (path, _) in &outputs {
            terminal::say(&format!("wrote {}", path.display()));
        }
    }
    Ok(Exit::Done)
}

/// An output among the files of the record that it is made from would be taken for one of them, or replace it.
pub(crate) fn not_of_the_record(dir: &Path, path: &Path) -> anyhow::Result<()> {
    let parent = output::directory_of(path);
    let (Ok(dir), Ok(parent)) = (dir.canonicalize(), parent.canonicalize()) else {
        return Ok(());
    };
    if parent.starts_with(&dir) && path.exists() {
        bail!(
            "-o {}: that is a file of the record itself: choose another name",
            path.display()
        );
    }
    Ok(())
}

/// What each file is to be, by its ending.
pub(crate) fn formats(paths: &[PathBuf]) -> anyhow::Result<Vec<(&Path, Format)>> {
    let format = |path: &'_ PathBuf| match Format::of(path) {
        Some(format) => Ok(format),
        None => bail!(
            "-o {}: what kind of file? End its name in .html, .md or .csv",
            path.display()
        ),
    };
    if let Some((index, twice)) = paths
        .iter()
        .enumerate()
        .find(|(index, path)| paths[..*index].contains(path))
    {
        bail!(
            "-o {}: given twice (as number {} too): once is enough",
            twice.display(),
            index + 1
        );
    }
    paths
        .iter()
        .map(|path| Ok((path.as_path(), format(path)?)))
        .collect()
}

fn write(
    args: &ReportArgs,
    outputs: &[(&Path, Format)],
    render: impl Fn(Format) -> String,
) -> anyhow::Result<()> {
    let mut written = Vec::new();
    for (path, format) in outputs {
        let left = output::leave(path, render(*format).as_bytes(), args.force);
        behind(&written, left.map_err(Into::into))?;
        written.push(path.display().to_string());
    }
    Ok(())
}

fn sweep(args: &ReportArgs, outputs: &[(&Path, Format)]) -> anyhow::Result<()> {
    with_sweep(&args.dir, args.published.as_deref(), |report| {
        write(args, outputs, |format| report.render(format))
    })?
}

/// All that a report of a sweep is made from.
fn with_sweep<T>(
    dir: &Path,
    published: Option<&str>,
    make: impl FnOnce(&SweepReport<'_>) -> T,
) -> anyhow::Result<T> {
    let plan = fathom_store::read_sweep_plan(dir)?;
    let results = fathom_session::sweep::results_of(dir, &plan)?;
    let conclusions = conclude(&plan, &results);
    let published = published::chapter(dir, &plan, &results, published)?;
    let outline = explain::outline_of_sweep(dir, &plan, &results)?;
    let report = SweepReport {
        plan: &plan,
        results: &results,
        conclusions: &conclusions,
        outline: outline.as_ref(),
        published: published.as_ref(),
    };
    Ok(make(&report))
}

fn run(args: &ReportArgs, outputs: &[(&Path, Format)]) -> anyhow::Result<()> {
    let charts = outputs.iter().any(|(_, format)| *format != Format::Csv);
    let explained = charts && !args.no_explain;
    with_run(&args.dir, charts, explained, |report| {
        write(args, outputs, |format| report.render(format))
    })?
}

/// The report of a run or a sweep as a page.
pub(crate) fn page(dir: &Path) -> anyhow::Result<String> {
    if fathom_store::is_sweep(dir) {
        return with_sweep(dir, None, |report| report.render(Format::Html));
    }
    with_run(dir, true, true, |report| report.render(Format::Html))
}

/// All that a report of a run is made from; for one with `charts` more than for a table.
fn with_run<T>(
    dir: &Path,
    charts: bool,
    explained: bool,
    make: impl FnOnce(&RunReport<'_>) -> T,
) -> anyhow::Result<T> {
    let run = run_of(dir)?;
    let series = fathom_store::read(dir)?.series;
    let histograms = fathom_store::read_histograms(dir)?;
    let there = stored_streams(dir);
    let explanation = if explained && !there.is_empty() {
        Some(explain::explained(dir, &run, None)?)
    } else {
        None
    };
    let heat = if charts && there.contains(&StreamKind::Io) {
        Some(heat(dir, &run)?)
    } else {
        None
    };
    let windows = match &explanation {
        Some(explanation) => windows(dir, &run, explanation, &there)?,
        None => Vec::new(),
    };
    // What nobody recorded is told as far as the figures alone go.
    let outline = match &explanation {
        _ if !explained => None,
        Some(explanation) if !explanation.has_no_evidence() => None,
        _ => explain::outline_of_run(&run, &series, None)?,
    };
    let explanation = explanation.filter(|_| outline.is_none());
    let report = RunReport {
        run: &run,
        series: &series,
        histograms: &histograms,
        heat: heat.as_ref(),
        explanation: explanation.as_ref(),
        outline: outline.as_ref(),
        windows: &windows,
        published: None,
    };
    Ok(make(&report))
}

fn heat(dir: &Path, run: &Run) -> Result<LatencyHeat, StoreError> {
    let mut heat = LatencyHeat::new(run.started_monotonic_ns.0);
    RecordReader::<IoRecord>::open(dir)?.for_each_batch(|rows| heat.feed(rows))?;
    Ok(heat)
}

/// The worst spikes with the I/Os around them; of a record without a load, with the requests of the devices.
fn windows(
    dir: &Path,
    run: &Run,
    explanation: &Explanation,
    there: &[StreamKind],
) -> Result<Vec<SpikeWindow>, StoreError> {
    let start_ns = run.started_monotonic_ns.0;
    let mut windows = explanation
        .spikes
        .as_ref()
        .map_or_else(Vec::new, SpikeWindow::worst);
    if there.contains(&StreamKind::Io) {
        around(dir, &mut windows, start_ns, SpikeWindow::feed_ios)?;
    } else if there.contains(&StreamKind::Block) {
        around(dir, &mut windows, start_ns, SpikeWindow::feed_requests)?;
    }
    Ok(windows)
}

/// Feeds each window the rows of a stream that lie in it.
fn around<R: StreamRow>(
    dir: &Path,
    windows: &mut [SpikeWindow],
    start_ns: u64,
    feed: impl Fn(&mut SpikeWindow, &[R], u64),
) -> Result<(), StoreError> {
    let mut reader = RecordReader::<R>::open(dir)?;
    for window in windows {
        let range = window.range_ns();
        reader.seek(start_ns + range.start..start_ns.saturating_add(range.end));
        reader.for_each_batch(|rows| feed(window, rows, start_ns))?;
    }
    Ok(())
}
