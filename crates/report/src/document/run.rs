//! The document of a run: what was run on what, the numbers, the warnings, then what goes deeper.
//!
//! Data in: a [`RunReport`]. Data out: a [`Document`]. It must not judge, nor know any file format.

pub(crate) mod facts;
mod latency;
mod model;
mod overview;
mod section;

use super::content::{Block, Card, Document, Notice, Table};
use super::{Reader, RunReport, explained, measured, published};
use crate::reproduction::span;
use crate::words::{describe, plural};
use fathom_analysis::warnings::is_supported;
use fathom_core::backend::Op;
use fathom_core::run::{Environment, JobSummary, OpSummary, Run, Status, Target};
use fathom_core::units::{Bytes, Nanos, WallTime, binary_rate, count, decimal_rate, three_digits};
use latency::{COLUMNS, main_latency};
use section::Section;

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
    document.add("Numbers", numbers(run, &sections));
    let warnings = facts::warnings(&run.summary.warnings);
    document.add(
        "Warnings",
        facts::errors(run).into_iter().chain(warnings).collect(),
    );
    document.add("What was run", what(run));
    document.add("Over time", measured::over_time(report));
    document.add("Latency over time", measured::heat(report));
    document.add("Percentiles", measured::percentiles(report));
    if let Some(explanation) = report.explanation {
        document.add("What limits it", explained::limits(explanation));
        document.add("Spikes", explained::spikes::drawn(report, explanation));
        document.add(
            "Averages against I/Os",
            explained::truths::blocks(explanation, Reader::Page),
        );
        document.add("Not in the record", explained::missing(explanation));
    }
    document.add(
        "Published",
        report.published.map_or_else(Vec::new, published::blocks),
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
    let mut document = Document {
        title: format!("fathom {}{host}, {started}", run.build.version),
        ..Document::default()
    };
    document.add("", outset(run, &sections));
    if sections.len() > 1 {
        document.add("", vec![Block::Table(overview::table(&sections))]);
    }
    for (name, section) in section::totals(run) {
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
        let title = format!("{name}: {}, {}", plural(*workers, "worker"), Nanos(*runtime_ns));
        document.add(&title, details(section, sections.len() > 1));
    }
    for disk in &run.summary.disks {
        document.add("", vec![Block::Nested(facts::disk(disk))]);
    }
    let model = Some(model::texts(run)).filter(|texts| !texts.is_empty());
    document.add("", model.map(Block::Nested).into_iter().collect());
    if let Some((all, missing)) = facts::streams(run).split_first() {
        let missing = Block::List(missing.to_vec());
        document.add("", vec![Block::Text(all.clone()), missing]);
    }
    document.add("", facts::errors(run));
    document.add("", facts::warnings(&run.summary.warnings));
    document.add("", facts::floor(run).map(Block::Text).into_iter().collect());
    document
}

/// How it ended, what was run on what.
fn outset(run: &Run, sections: &[Section<'_>]) -> Vec<Block> {
    let ended = match run.status {
        Status::Complete => None,
        Status::Interrupted => Some((Notice::Interrupted, "the results are those up to then.")),
        Status::Failed => Some((Notice::Failed, "errors ended a job early; see below.")),
        Status::Running => Some((
            Notice::Unfinished,
            "the run is under way or was killed; `fathom recover` completes a killed one.",
        )),
    };
    let ended = ended.map(|(notice, text)| Block::Notice(notice, String::from(text)));
    let mut blocks: Vec<Block> = ended.into_iter().collect();
    let target = &run.summary.target;
    let on = on(&target.description);
    blocks.push(Block::Text(match run.workload.jobs.as_slice() {
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
    blocks.extend(facts::cpu(section.summary).map(Block::Text));
    blocks
}

/// Civil time to the second, in UTC.
pub(super) fn civil(time: WallTime) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time.0)).map_or_else(
        |_| format!("{} ns after the Unix epoch", time.0),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

fn title(run: &Run) -> String {
    let target = &run.summary.target.description;
    match run.workload.jobs.as_slice() {
        [] => format!("Record of {target}"),
        [job] if target.is_empty() => crate::words::pattern(job),
        [job] => format!(
            "{} {} on {target}",
            crate::words::pattern(job),
            crate::words::block_sizes(job)
        ),
        jobs => format!("{} on {target}", plural(jobs.len(), "job")),
    }
}

fn lead(run: &Run) -> Vec<String> {
    let on = on(&run.environment.host);
    let mut lead = vec![format!("Run{on}, {}.", civil(run.started_unix_ns))];
    lead.extend(modelled(&run.summary.target));
    match run.status {
        Status::Complete => {}
        Status::Interrupted => lead.push(String::from("Interrupted: the results are those up to then.")),
        Status::Failed => lead.push(String::from(
            "Failed: errors ended a job early; see the warnings.",
        )),
        Status::Running => lead.push(String::from("Unfinished: the run is under way or was killed.")),
    }
    lead
}

/// Cards of the first directions, then all of them in a table.
fn numbers(run: &Run, sections: &[Section<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let directions: Vec<(&Section<'_>, Op, &OpSummary)> = sections
        .iter()
        .flat_map(|section| {
            section
                .directions()
                .map(move |(op, summary)| (section, op, summary))
        })
        .collect();
    if directions.is_empty() {
        if !run.workload.jobs.is_empty() {
            let text = String::from("No results: no I/O was completed.");
            blocks.push(Block::Notice(Notice::Warning, text));
        }
        return blocks;
    }
    if directions.len() <= CARDS_MAX {
        let several = sections.len() > 1;
        blocks.push(Block::Cards(
            directions
                .iter()
                .flat_map(|(section, op, summary)| cards(section, *op, summary, several))
                .collect(),
        ));
    }
    let mut rows = table(&directions);
    for (name, section) in section::totals(run) {
        let directions = section.directions();
        rows.rows
            .extend(directions.map(|(op, summary)| row(&format!("total of {name}"), &section, op, summary)));
    }
    blocks.push(Block::Table(rows));
    for section in sections {
        if section.is_open_loop() {
            blocks.push(Block::Text(format!(
                "{}: its latencies are response times, from when an I/O was due. Backlog: {}.",
                section.summary.name,
                facts::backlog(section.summary)
            )));
        }
    }
    blocks
}

fn cards(section: &Section<'_>, op: Op, summary: &OpSummary, several: bool) -> Vec<Card> {
    let label = if several {
        format!("{}, {}", section.summary.name, op.name())
    } else {
        op.name().to_owned()
    };
    let (latency, _) = main_latency(section, summary);
    let p99 = latency
        .percentile(99.0)
        .filter(|_| is_supported(latency.n, 99.0))
        .map_or_else(Vec::new, |ns| vec![format!("p99 {}", Nanos(ns))]);
    let mut notes = p99;
    let mut mean = String::from("not measured");
    if latency.n > 0 {
        mean = Nanos(latency.mean.round() as u64).to_string();
        notes.push(format!("slowest {}", Nanos(latency.max)));
    }
    vec![
        Card {
            label: label.clone(),
            value: format!("{} IOPS", count(summary.iops)),
            notes: vec![
                format!("{} I/Os", count(summary.ios as f64)),
                format!("in {}", took(summary.runtime_ns)),
            ],
        },
        Card {
            label: label.clone(),
            value: decimal_rate(summary.bytes_per_second),
            notes: vec![
                binary_rate(summary.bytes_per_second),
                format!("{} in all", Bytes(summary.bytes)),
            ],
        },
        Card {
            label: format!("{label}, mean latency"),
            value: mean,
            notes,
        },
    ]
}

/// ` on` what it was aimed at, where that has a name.
pub(super) fn on(target: &str) -> String {
    if target.is_empty() {
        String::new()
    } else {
        format!(" on {target}")
    }
}

/// What to know of a disk that is none.
pub(super) fn modelled(target: &Target) -> Option<String> {
    let text = || String::from("The disk is a model and the time virtual.");
    target.modelled.then(text)
}

/// A length of time: in hours and minutes where it is long.
fn took(ns: u64) -> String {
    if ns < 600_000_000_000 {
        Nanos(ns).to_string()
    } else {
        span(ns)
    }
}

fn table(directions: &[(&Section<'_>, Op, &OpSummary)]) -> Table {
    let mut head: Vec<String> = ["job", "direction", "IOPS", "MiB/s", "MB/s", "mean"]
        .map(str::to_owned)
        .into();
    head.extend(COLUMNS.map(|percentile| format!("p{percentile}")));
    head.extend(["slowest", "I/Os", "errors"].map(str::to_owned));
    let rows = directions
        .iter()
        .map(|(section, op, summary)| row(&section.summary.name, section, *op, summary))
        .collect();
    Table {
        head,
        words: 2,
        rows,
        ..Table::default()
    }
}

/// One direction of a section, or of several together.
fn row(name: &str, section: &Section<'_>, op: Op, summary: &OpSummary) -> Vec<String> {
    let (latency, _) = main_latency(section, summary);
    // What only failed has no latency.
    let time = |ns: u64| {
        if latency.n == 0 {
            String::from("–")
        } else {
            Nanos(ns).to_string()
        }
    };
    let mut row = vec![
        name.to_owned(),
        op.name().to_owned(),
        count(summary.iops),
        three_digits(summary.bytes_per_second / f64::from(1 << 20)),
        three_digits(summary.bytes_per_second / 1e6),
        time(latency.mean.round() as u64),
    ];
    row.extend(COLUMNS.map(|percentile| {
        let value = latency.percentile(percentile);
        let value = value.filter(|_| is_supported(latency.n, percentile));
        value.map_or_else(|| String::from("–"), |ns| Nanos(ns).to_string())
    }));
    row.push(time(latency.max));
    row.push(count(summary.ios as f64));
    row.push(summary.errors.to_string());
    row
}

fn what(run: &Run) -> Vec<Block> {
    let mut facts = Vec::new();
    let jobs = &run.workload.jobs;
    match jobs.as_slice() {
        [] => facts.push(("load", String::from("none: the machine was watched"))),
        [job] => facts.push(("load", describe(job))),
        _ => {}
    }
    facts.extend(target(&run.summary.target));
    facts.extend(machine(&run.environment));
    if !run.command.is_empty() {
        facts.push(("command", run.command.join(" ")));
    }
    facts.push(("program", format!("fathom {}", run.build.version)));
    let mut blocks = vec![Block::Facts(facts)];
    if jobs.len() > 1 {
        let rows = jobs.iter().map(|job| vec![job.name.clone(), describe(job)]);
        let table = Table::new(2, ["job", "what it does"], rows.collect());
        blocks.push(Block::Table(table.captioned("The jobs").folded_above(12)));
    }
    blocks
}

/// What it was aimed at, in words.
pub(super) fn target(target: &Target) -> Vec<(&'static str, String)> {
    let mut facts = vec![("target", target.description.clone())];
    if target.modelled {
        facts.push(("time", String::from("virtual: the disk is a model")));
    }
    for file in target
        .files
        .iter()
        .filter_map(|file| file.device.as_ref())
        .take(4)
    {
        let mut text = file.name.clone();
        if let Some(model) = &file.model {
            text = format!("{text}, {model}");
        }
        if let Some(size) = file.size_bytes {
            text = format!("{text}, {}", Bytes(size));
        }
        if let Some(scheduler) = &file.scheduler {
            text = format!("{text}, scheduler {scheduler}");
        }
        facts.push(("device", text));
    }
    facts.dedup();
    facts
}

/// The machine in words, as far as it is known.
pub(super) fn machine(environment: &Environment) -> Vec<(&'static str, String)> {
    let mut parts = Vec::new();
    if environment.cpus > 0 {
        let model = if environment.cpu_model.is_empty() {
            String::new()
        } else {
            format!(" ({})", environment.cpu_model)
        };
        parts.push(format!("{}{model}", plural(environment.cpus, "CPU")));
    }
    if environment.memory_bytes > 0 {
        parts.push(Bytes(environment.memory_bytes).to_string());
    }
    if !environment.kernel.is_empty() {
        parts.push(format!("Linux {}", environment.kernel));
    }
    parts.extend(environment.virtualization.clone());
    if parts.is_empty() {
        return Vec::new();
    }
    vec![("machine", parts.join(", "))]
}

/// CPU, disks, the model's account, what was recorded, what the program costs.
fn beside(run: &Run, sections: &[Section<'_>]) -> Vec<Block> {
    let mut texts = Vec::new();
    for section in sections {
        if let Some(text) = facts::cpu(section.summary) {
            texts.push(format!("{}: {}", section.summary.name, text));
        }
    }
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
        let table = Table::new(3, ["needed", "met", "seen"], rows.collect());
        blocks.push(Block::Table(table.captioned("What sound numbers need")));
    }
    blocks
}
