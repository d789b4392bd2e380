//! `fathom reproduce`: published experiments on the disk model, in virtual time, against their published figures.
//!
//! Data in: names of experiments or directories of one's own. Data out: reports; whether each figure is within its
//! bound. Runs share nothing, so that they are carried out side by side; what comes out does not depend on how many at a
//! time. It must not know what the experiments are about.

pub(crate) mod experiment;
mod single;

use crate::args::ReproduceArgs;
use crate::exit::Exit;
use crate::terminal::{self, live};
use anyhow::Context;
use experiment::Experiment;
use fathom_analysis::figures::{Judged, Outcome, Verdict};
use fathom_door::output;
use fathom_report::reproduction::{self, Chapter, Run};
use single::Single;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Runs at a time, where there are as many processors.
const THREADS_MAX: usize = 2;

/// What an experiment left.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Of each run; of one that runs each section for itself, of each of those.
    pub outcomes: Vec<Outcome>,
    /// I/Os of all runs.
    pub ios: u64,
    /// Virtual time of all runs.
    pub virtual_ns: u64,
}

/// Runs the experiments and prints published against modelled.
pub(crate) fn reproduce(args: &ReproduceArgs) -> anyhow::Result<Exit> {
    let experiments = chosen(&args.names)?;
    let stdout = Path::new("/dev/stdout");
    let markdown_on_stdout = args.markdown.as_deref() == Some(stdout);
    let file = args.markdown.as_deref().filter(|path| *path != stdout);
    if let Some(path) = file {
        output::check(path, args.force)?;
    }
    let carried = carry_out(&experiments, args.quiet)?;
    let mut chapters = Vec::new();
    for (experiment, carried) in experiments.iter().zip(&carried) {
        chapters.push(chapter(experiment, carried)?);
    }
    if let Some(path) = file {
        let text = reproduction::markdown(&chapters);
        output::leave(path, text.as_bytes(), args.force)?;
    }
    if markdown_on_stdout {
        terminal::print(&reproduction::markdown(&chapters))?;
    }
    if args.json {
        terminal::print(&reproduction::json::render(&chapters))?;
    } else if !markdown_on_stdout {
        let style = terminal::stdout_style(args.colour);
        terminal::print(&reproduction::text(&chapters, style))?;
    }
    Ok(if args.check { check(&chapters) } else { Exit::Done })
}

/// The experiments of these names; `all` and no name at all are all that are built in.
fn chosen(names: &[String]) -> anyhow::Result<Vec<Experiment>> {
    let mut experiments = Vec::new();
    if names.is_empty() || names.iter().any(|name| name == "all") {
        for (name, _) in experiment::BUILT_IN {
            experiments.push(experiment::built_in(name)?);
        }
    }
    for name in names.iter().filter(|name| *name != "all") {
        experiments.push(experiment::named(name)?);
    }
    Ok(experiments)
}

/// The figures of an experiment, judged.
pub(crate) fn chapter(experiment: &Experiment, carried: &Carried) -> anyhow::Result<Chapter> {
    let judged = experiment
        .figures
        .iter()
        .map(|figure| Judged::new(figure, &carried.outcomes))
        .collect::<Result<Vec<Judged>, _>>();
    let about = &experiment.about;
    Ok(Chapter {
        name: experiment.name.clone(),
        title: about.title.clone(),
        source: format!("{} ({}, {})", about.post, about.author, about.date),
        notes: about.notes.clone(),
        runs: about
            .runs
            .iter()
            .map(|run| Run {
                name: run.name.clone(),
                about: run.about.clone(),
            })
            .collect(),
        figures: judged.with_context(|| format!("{}: figures.csv", experiment.name))?,
        fitted: about
            .fitted
            .iter()
            .map(|fitted| (fitted.constant.clone(), fitted.to.clone()))
            .collect(),
        not_modelled: about
            .not_modelled
            .iter()
            .map(|open| (open.what.clone(), open.reason.clone()))
            .collect(),
        ios: carried.ios,
        virtual_ns: carried.virtual_ns,
    })
}

/// Says on stderr which figures are not as they should be.
fn check(chapters: &[Chapter]) -> Exit {
    let mut exit = Exit::Done;
    for chapter in chapters {
        for judged in &chapter.figures {
            let problem = match judged.verdict() {
                Verdict::Missed => "beyond its bound",
                Verdict::NotMissed => "within its bound, but its line says that it is a known miss",
                Verdict::Met | Verdict::KnownMiss => continue,
            };
            terminal::error(&format!(
                "{} {}: {}: off by {:+.1} % ({} %): {problem}",
                chapter.name,
                judged.figure.run,
                judged.figure.what,
                judged.deviation_percent,
                judged.figure.bound_percent
            ));
            exit = Exit::Errors;
        }
    }
    exit
}

/// Carries all `experiments` out.
fn carry_out(experiments: &[Experiment], quiet: bool) -> anyhow::Result<Vec<Carried>> {
    let mut singles: Vec<(usize, Single)> = Vec::new();
    for (number, experiment) in experiments.iter().enumerate() {
        let prepared = single::prepare(experiment).with_context(|| experiment.name.clone())?;
        singles.extend(prepared.into_iter().map(|single| (number, single)));
    }
    let steps = Some(singles.len() as u64);
    let bar = live::bar(steps, "{pos} of {len} runs {wide_bar} {elapsed}", quiet);
    let lefts = side_by_side(&singles, |(_, single)| {
        let left = single.carry_out();
        bar.inc(1);
        left
    });
    bar.finish_and_clear();
    let mut carried: Vec<Carried> = experiments.iter().map(|_| Carried::default()).collect();
    for ((number, _), left) in singles.iter().zip(lefts) {
        let left = left.with_context(|| experiments[*number].name.clone())?;
        let of = &mut carried[*number];
        let jobs = left.outcomes.iter().flat_map(|outcome| &outcome.jobs);
        of.ios += jobs.map(|job| job.read.ios + job.write.ios).sum::<u64>();
        of.virtual_ns += left.virtual_ns;
        of.outcomes.extend(left.outcomes);
    }
    Ok(carried)
}

/// What `work` makes of each item, in their order.
fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let left = Mutex::new(items.iter().enumerate());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || -> Vec<(usize, R)> {
        std::iter::from_fn(next)
            .map(|(at, item)| (at, work(item)))
            .collect()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(THREADS_MAX))
            .map(|_| scope.spawn(work_off))
            .collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;
