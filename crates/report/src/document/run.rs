//! The document of a run: what was run on what, the numbers, the warnings, then what goes deeper.
//!
//! Data in: a [`RunReport`]. Data out: a [`Document`]. It must not judge, nor know any file format.

pub(crate) mod facts;
mod latency;
mod model;
mod overview;
mod section;

use super::content::{Block, Document, Notice, Table};
use super::origin::{civil, ended, modelled, on};
use super::{Reader, RunReport, command, explained, measured, origin, published};
use crate::words::{block_sizes, capital, describe, kept_times, pattern, plural};
use fathom_core::run::{JobSummary, Run, Status};
use fathom_core::units::Nanos;
use section::{Direction, Section};

/// Directions that have a card; more are read in the table.
const CARDS_MAX: usize = 4;

pub(super) fn document(report: &RunReport<'_>) -> Document {
    let run = report.run;
    let sections = section::of(run);
    let mut document = Document {
        title: title(run),
        lead: lead(run),
        written_by: format!("fathom {}", run.build.version),
        ..Document::default()
    };
    document.add("In short", report.explanation.and_then(explained::lead));
    if let Some(explanation) = report.explanation {
        let usage = explained::usage::blocks(&explanation.usage);
        document.add("Utilization, saturation, errors", usage);
    }
    if let Some(outline) = report.outline {
        document.add("In short", [explained::outline::lead(outline)]);
        document.add(
            "Utilization, saturation, errors",
            explained::outline::table(outline),
        );
    }
    document.add("The command", command::blocks(run));
    document.add("Numbers", numbers(run, &sections));
    let warnings = facts::warnings(&run.summary.warnings);
    document.add("Warnings", facts::errors(run).into_iter().chain(warnings));
    document.add("What was run", what(run));
    document.add("Over time", measured::over_time(report));
    document.add("Latency over time", measured::heat(report));
    document.add("Percentiles", measured::percentiles(report));
    if let Some(explanation) = report.explanation {
        document.add("Limits", explained::limits(explanation));
        document.add("Disturbances", explained::spikes::drawn(report, explanation));
        document.add(
            "Averages against I/Os",
            explained::distributions::blocks(explanation, Reader::Page),
        );
        document.add("Not in the record", explained::missing(explanation));
    }
    document.add(
        "Published",
        report.published.into_iter().flat_map(published::blocks),
    );
    document.add("Beside the load", beside(run, &sections));
    document.add("Conditions", conditions(run));
    document
}

/// For a terminal.
pub(crate) fn told(run: &Run) -> Document {
    let sections = section::of(run);
    let host = on(&run.environment.host);
    let started = civil(run.started_unix_ns);
    let mut document = Document::titled(format!("fathom {}{host}, {started}", run.build.version));
    document.add("", outset(run, &sections));
    if sections.len() > 1 {
        document.add("", [Block::Table(overview::in_short(&sections))]);
    }
    let begun = |section: &Section<'_>| run.status != Status::Running || section.summary.runtime_ns > 0;
    for (name, section) in section::totals(run)
        .into_iter()
        .filter(|(_, section)| begun(section))
    {
        let ran = Nanos(section.summary.runtime_ns);
        document.add(&format!("total of {name}: {ran}"), section::headlines(&section));
    }
    for section in &sections {
        let JobSummary {
            name,
            workers,
            runtime_ns,
            ..
        } = section.summary;
        let workers = plural(*workers, "worker");
        // Killed before the first second was kept: how long it ran, and what it did, nobody knows.
        if !begun(section) {
            let jobs = section.jobs.iter().filter(|_| sections.len() > 1);
            let jobs = jobs.map(|job| Block::Text(describe(job)));
            let unknown = Block::Text(String::from("nothing of its results is kept yet"));
            document.add(&format!("{name}: {workers}"), jobs.chain([unknown]));
            continue;
        }
        let title = format!("{name}: {workers}, {}", Nanos(*runtime_ns));
        document.add(&title, details(section, sections.len() > 1));
    }
    document.add("", command::blocks(run));
    for disk in &run.summary.disks {
        document.add("", [Block::Nested(facts::disk(disk))]);
    }
    let model = Some(model::texts(run)).filter(|texts| !texts.is_empty());
    document.add("", model.map(Block::Nested));
    if let Some((all, missing)) = facts::streams(run).split_first() {
        let missing = Block::List(missing.to_vec());
        document.add("", [Block::Text(all.clone()), missing]);
    }
    document.add("", facts::errors(run));
    document.add("", facts::warnings(&run.summary.warnings));
    document.add("", facts::floor(run).map(Block::Text));
    document
}

/// How it ended, what was run on what.
fn outset(run: &Run, sections: &[Section<'_>]) -> Vec<Block> {
    let failed = "errors ended a job early; see below.";
    let unfinished = "the run is under way or was killed; `fathom recover` completes a killed one.";
    let ended = ended(run.status, failed, unfinished).into_iter();
    let mut blocks: Vec<Block> = ended.map(|(notice, text)| Block::Notice(notice, text)).collect();
    let target = &run.summary.target;
    let on = on(&target.description);
    blocks.push(Block::Text(match run.workload.jobs.as_slice() {
        [] if !run.summary.commands.is_empty() => format!("A command{on}"),
        [] => format!("Watched {}, without a load of its own", target.description),
        [job] => format!("{}{on}", describe(job)),
        jobs => format!("{}{on}", plural(jobs.len(), "job")),
    }));
    blocks.extend(modelled(target).map(Block::Text));
    if sections.is_empty() && !run.workload.jobs.is_empty() {
        let text = String::from("No results: no job came to its end.");
        blocks.extend([Block::Gap, Block::Text(text)]);
    }
    blocks
}

fn details(section: &Section<'_>, several: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    if several {
        blocks.extend(section.jobs.iter().map(|job| Block::Text(describe(job))));
    }
    blocks.extend(section::headlines(section));
    blocks.extend(latency::blocks(section));
    blocks.push(Block::Gap);
    if section.is_open_loop() {
        blocks.push(Block::Text(format!(
            "backlog: {}",
            facts::backlog(section.summary)
        )));
    }
    let kept = section.summary.replay.as_ref().map(kept_times);
    blocks.extend(kept.into_iter().flatten().map(Block::Text));
    blocks.extend(facts::cpu(section.summary).map(Block::Text));
    blocks
}

fn title(run: &Run) -> String {
    let target = &run.summary.target.description;
    if let [command] = run.summary.commands.as_slice() {
        return format!("{} on {target}", command::words(&command.argv));
    }
    match run.workload.jobs.as_slice() {
        [] => format!("Record of {target}"),
        [job] if target.is_empty() => pattern(job),
        [job] => format!("{} {} on {target}", pattern(job), block_sizes(job)),
        jobs => format!("{} on {target}", plural(jobs.len(), "job")),
    }
}

fn lead(run: &Run) -> Vec<String> {
    let on = on(&run.environment.host);
    let mut lead = vec![format!("Run{on}, {}.", civil(run.started_unix_ns))];
    lead.extend(modelled(&run.summary.target));
    let failed = "errors ended a job early; see the warnings.";
    let ended = ended(run.status, failed, "the run is under way or was killed.");
    lead.extend(ended.map(|(notice, text)| format!("{}: {text}", capital(notice.name()))));
    lead
}

/// Cards of the first directions, then all of them in a table.
fn numbers(run: &Run, sections: &[Section<'_>]) -> Vec<Block> {
    let of = |section| Section::directions(section).map(move |direction| (section, direction));
    let directions: Vec<(&Section<'_>, Direction<'_>)> = sections.iter().flat_map(of).collect();
    if directions.is_empty() {
        let text = String::from("No results: no I/O was completed.");
        let unmet = Some(Block::Notice(Notice::Warning, text));
        return unmet
            .into_iter()
            .filter(|_| !run.workload.jobs.is_empty())
            .collect();
    }
    let mut blocks = Vec::new();
    if directions.len() <= CARDS_MAX {
        let cards = directions
            .iter()
            .flat_map(|(section, direction)| overview::cards(section, direction, sections.len() > 1));
        blocks.push(Block::Cards(cards.collect()));
    }
    blocks.push(Block::Table(overview::in_full(run, sections)));
    let open = sections.iter().filter(|section| section.is_open_loop());
    blocks.extend(open.map(|section| {
        let JobSummary { name, .. } = section.summary;
        let backlog = facts::backlog(section.summary);
        Block::Text(format!(
            "{name}: its latencies are response times, from when an I/O was due. Backlog: {backlog}."
        ))
    }));
    let replays = sections
        .iter()
        .filter_map(|section| section.summary.replay.as_ref());
    blocks.extend(replays.map(|replay| Block::List(kept_times(replay))));
    blocks
}

fn what(run: &Run) -> Vec<Block> {
    let mut facts = Vec::new();
    let jobs = &run.workload.jobs;
    match jobs.as_slice() {
        [] if !run.summary.commands.is_empty() => {}
        [] => facts.push(("load", String::from("none: the machine was watched"))),
        [job] => facts.push(("load", describe(job))),
        _ => {}
    }
    facts.extend(origin::facts(
        &run.summary.target,
        &run.environment,
        &run.command,
        &run.build,
    ));
    let mut blocks = vec![Block::Facts(facts)];
    if jobs.len() > 1 {
        let rows = jobs.iter().map(|job| vec![job.name.clone(), describe(job)]);
        let table = Table::new(2, ["job", "what it does"], rows);
        blocks.push(Block::Table(table.captioned("The jobs").folded_above(12)));
    }
    blocks
}

/// CPU, disks, the model's account, what was recorded, what the program costs.
fn beside(run: &Run, sections: &[Section<'_>]) -> Vec<Block> {
    let cpu = |section: &Section<'_>| {
        let text = facts::cpu(section.summary)?;
        Some(format!("{}: {text}", section.summary.name))
    };
    let mut texts: Vec<String> = sections.iter().filter_map(cpu).collect();
    texts.extend(run.summary.disks.iter().map(|disk| facts::disk(disk).join("; ")));
    texts.extend(model::texts(run));
    texts.extend(facts::streams(run));
    texts.extend(facts::floor(run));
    if texts.is_empty() {
        return Vec::new();
    }
    vec![Block::List(texts)]
}

/// What sound numbers need, and whether it was so; then the load as it was typed.
fn conditions(run: &Run) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !run.requirements.is_empty() {
        let met = |met: Option<bool>| match met {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        let rows = run.requirements.iter().map(|need| {
            vec![
                need.name.replace('_', " "),
                met(need.met).to_owned(),
                need.detail.clone(),
            ]
        });
        let table = Table::new(3, ["needed", "met", "seen"], rows);
        blocks.push(Block::Table(table.captioned("What sound numbers need")));
    }
    blocks
}
