//! `fathom reproduce`: published experiments on the disk model, in virtual time, against their published figures.
//!
//! Data in: names of experiments or directories of one's own. Data out: reports; whether each figure is within its
//! bound. It must not know what the experiments are about.

use crate::args::ReproduceArgs;
use crate::exit::Exit;
use crate::reproduce::experiment::{self, Experiment};
use crate::reproduce::{Carried, carry_out};
use crate::terminal;
use anyhow::Context;
use fathom_analysis::figures::{Judged, Verdict};
use fathom_door::output;
use fathom_report::reproduction::{self, Chapter, Run};
use std::path::Path;

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
