//! What was found about a run: what limits it, its spikes, what averages hid.
//!
//! Data in: an [`Explanation`] and the I/Os around its worst spikes. Data out: blocks. It must not judge.

use super::content::{Block, Chart, Notice, Table, Width};
use super::window::SpikeWindow;
use super::{RunReport, measured};
use crate::chart::spikes as chart;
use crate::explanation::groups::{Group, groups};
use crate::explanation::{spikes as spike_words, truths as truth_words};
use crate::words::plural;
use fathom_analysis::explain::Explanation;
use fathom_analysis::explain::answer::{SectionTruth, Spike};
use fathom_core::units::{Bytes, Nanos};

/// Spikes that are listed: the worst ones.
const LISTED_MAX: usize = 50;
pub(super) fn limits(explanation: &Explanation) -> Vec<Block> {
    groups(&explanation.limits).iter().flat_map(limit).collect()
}

fn limit(group: &Group<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(group.title())];
    let figures = group.figures();
    if !figures.is_empty() {
        let rows = figures.into_iter().map(|(what, value)| vec![what, value]);
        blocks.push(Block::Table(Table {
            head: ["figure", "value"].map(str::to_owned).into(),
            words: 1,
            rows: rows.collect(),
            ..Table::default()
        }));
    }
    blocks.push(Block::List(group.entries()));
    blocks
}

pub(super) fn spikes(report: &RunReport<'_>, explanation: &Explanation) -> Vec<Block> {
    let Some(found) = &explanation.spikes else {
        return vec![Block::Text(String::from(spike_words::NOT_LOOKED_FOR))];
    };
    if found.found == 0 {
        let text = String::from("None: no I/O took far longer than those around it.");
        return vec![Block::Text(text)];
    }
    let mut text = plural(found.found, "spike");
    if (found.kept.len() as u64) < found.found {
        text = format!("{text}, the worst {} of them kept", found.kept.len());
    }
    let causes: Vec<String> = found
        .causes
        .iter()
        .map(|(cause, n)| format!("{} {n}", cause.name()))
        .collect();
    let mut blocks = vec![Block::Text(format!("{text}: {}.", causes.join(", ")))];
    let periods: Vec<String> = found.periods.iter().map(spike_words::regular).collect();
    if !periods.is_empty() {
        blocks.push(Block::List(periods));
    }
    let last = found
        .kept
        .iter()
        .map(|spike| spike.start_ns + spike.duration_ns)
        .max();
    let clock = measured::clock(report.series, last.unwrap_or(0));
    blocks.push(Block::Charts(vec![Chart {
        title: String::from("Spikes over the run"),
        about: String::from("A mark for the worst I/O of each spike; the spike's time is shaded."),
        width: Width::Whole,
        height: 320,
        figure: chart::overview(found, clock),
        table: None,
    }]));
    blocks.push(Block::Table(list(&found.kept)));
    let windows = report.windows.iter().filter_map(|window| {
        let spike = found.kept.get(window.spike())?;
        Some((window, spike))
    });
    let windows: Vec<(&SpikeWindow, &Spike)> = windows.collect();
    blocks.extend(splits(&windows));
    for (window, spike) in windows {
        blocks.extend(told(window, spike));
    }
    blocks
}

/// The worst spikes, in the order of time.
fn list(kept: &[Spike]) -> Table {
    let mut worst: Vec<&Spike> = kept.iter().collect();
    worst.sort_by_key(|spike| std::cmp::Reverse(spike.worst.response_ns));
    worst.truncate(LISTED_MAX);
    worst.sort_by_key(|spike| spike.start_ns);
    let row = |spike: &&Spike| {
        vec![
            spike_words::at(spike.start_ns),
            spike_words::verdict(&spike.verdict),
            Nanos(spike.duration_ns).to_string(),
            spike.slow_ios.to_string(),
            Nanos(spike.worst.response_ns).to_string(),
            Nanos(spike.usual_ns).to_string(),
        ]
    };
    let caption = if kept.len() > worst.len() {
        format!("The worst {} spikes", worst.len())
    } else {
        String::from("All spikes")
    };
    Table {
        caption,
        head: ["at", "cause", "for", "slow I/Os", "worst", "usual"]
            .map(str::to_owned)
            .into(),
        words: 2,
        rows: worst.iter().map(row).collect(),
        folded: worst.len() > 15,
    }
}

fn splits(windows: &[(&SpikeWindow, &Spike)]) -> Option<Block> {
    let spikes: Vec<(String, &Spike)> = windows
        .iter()
        .map(|&(_, spike)| (spike_words::at(spike.start_ns), spike))
        .collect();
    let figure = chart::splits(&spikes)?;
    Some(Block::Charts(vec![Chart {
        title: String::from("Where the slow I/Os of each spike spent their time"),
        about: String::from("Means over the slow I/Os, from when each was due to when the load saw it done."),
        width: Width::Whole,
        height: 170 + 26 * spikes.len() as u32,
        figure,
        table: None,
    }]))
}

/// One spike in full: its window, drawn, and why it is thought to be what it is.
fn told(window: &SpikeWindow, spike: &Spike) -> Vec<Block> {
    let title = format!(
        "{}: {}, {}",
        spike_words::at(spike.start_ns),
        Nanos(spike.duration_ns),
        spike_words::verdict(&spike.verdict)
    );
    let mut entries: Vec<String> = spike
        .verdict
        .because
        .iter()
        .map(|text| format!("because {text}"))
        .collect();
    let also = spike.verdict.also.iter();
    entries
        .extend(also.map(|(cause, process)| format!("also: {}", spike_words::who(*cause, process.as_ref()))));
    entries.extend(
        spike
            .verdict
            .missing
            .iter()
            .map(|text| format!("missing to decide: {text}")),
    );
    let worst = &spike.worst;
    entries.push(format!(
        "{} of {}; the worst, a {} of {}, took {}, usual are {}",
        plural(spike.slow_ios, "slow I/O"),
        spike.sections.join(", "),
        worst.op,
        Bytes(u64::from(worst.length_bytes)),
        spike_words::took(worst.latency_ns, worst.response_ns),
        Nanos(spike.usual_ns)
    ));
    entries.extend(
        spike
            .split
            .as_ref()
            .map(|split| format!("their time: {}", spike_words::parts(split))),
    );
    entries.extend(spike_words::other_texts(spike));
    let mut blocks = vec![Block::Heading(title)];
    let met = window.slow.met + window.usual.met;
    if met == 0 {
        let text = String::from("Its I/Os are not in the record, so its window cannot be drawn.");
        blocks.push(Block::Notice(Notice::Note, text));
    } else {
        blocks.push(Block::Charts(vec![Chart {
            title: String::from("I/Os around it"),
            about: drawn(window),
            width: Width::Whole,
            height: 300,
            figure: chart::window(window, spike),
            table: None,
        }]));
    }
    blocks.push(Block::List(entries));
    blocks
}

/// What is drawn of a window, in words.
fn drawn(window: &SpikeWindow) -> String {
    let share = |kept: usize, met: u64| {
        if kept as u64 == met {
            format!("all {met}")
        } else {
            format!("{kept} of {met}, evenly chosen")
        }
    };
    format!(
        "A mark for each I/O where it was completed. Slow ones: {}; others: {}.",
        share(window.slow.kept.len(), window.slow.met),
        share(window.usual.kept.len(), window.usual.met)
    )
}

pub(super) fn truths(explanation: &Explanation) -> Vec<Block> {
    let truths = truth_words::told(&explanation.truth);
    match truths.as_slice() {
        [] => Vec::new(),
        [truth] => truth_of_one(truth),
        several => {
            let tables = truth_words::tables(several).into_iter();
            tables
                .map(|several| truth_table(several.about, several.rows))
                .collect()
        }
    }
}

fn truth_of_one(truth: &SectionTruth) -> Vec<Block> {
    vec![
        Block::Heading(format!("{}: {}", truth.name, plural(truth.whole.n, "I/O"))),
        Block::List(truth_words::texts(truth)),
        truth_table("Share of I/Os above a latency", truth_words::share_rows(truth)),
    ]
}

/// A table whose first row is its head. Heads that are latencies get their unit.
fn truth_table(caption: &str, mut rows: Vec<Vec<String>>) -> Block {
    let mut head = rows.remove(0);
    for name in &mut head[1..] {
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            *name = format!("above {name} ms");
        }
    }
    if head[0] == "> ms" {
        head[0] = String::from("I/Os of");
    }
    Block::Table(Table {
        caption: String::from(caption),
        head,
        words: 1,
        folded: rows.len() > 25,
        rows,
    })
}

pub(super) fn missing(explanation: &Explanation) -> Vec<Block> {
    if explanation.missing.is_empty() {
        return Vec::new();
    }
    vec![Block::List(explanation.missing.clone())]
}
