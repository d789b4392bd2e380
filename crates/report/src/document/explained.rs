//! What was found about a run: what limits it, its spikes, what averages hid.
//!
//! Data in: an [`Explanation`] and the I/Os around its worst spikes. Data out: blocks. It must not judge.

use super::content::{Block, Chart, Notice, Table, Width};
use super::window::SpikeWindow;
use super::{RunReport, measured};
use crate::chart::spikes as chart;
use crate::explanation::{limits as limit_words, percent, spikes as spike_words, truths as truth_words};
use crate::words::plural;
use fathom_analysis::explain::Explanation;
use fathom_analysis::explain::answer::{SectionLimit, Spike, in_words};
use fathom_core::units::{Bytes, Nanos};

/// Spikes that are listed: the worst ones.
const LISTED_MAX: usize = 50;
/// Candidates that are named.
const CANDIDATES_MAX: usize = 4;

pub(super) fn limits(explanation: &Explanation) -> Vec<Block> {
    explanation.limits.iter().flat_map(limit).collect()
}

fn limit(limit: &SectionLimit) -> Vec<Block> {
    let sure = if limit.confidence > 0.0 {
        format!(" ({}, {})", in_words(limit.confidence), percent(limit.confidence))
    } else {
        String::new()
    };
    let mut blocks = vec![Block::Heading(format!(
        "{}: {}{sure}",
        limit.name,
        limit.limit.name()
    ))];
    let mut entries: Vec<String> = limit
        .because
        .iter()
        .map(|because| format!("because {because}"))
        .collect();
    if !limit.candidates.is_empty() {
        let named = limit
            .candidates
            .iter()
            .take(CANDIDATES_MAX)
            .map(limit_words::candidate);
        entries.push(format!("the limit of: {}", named.collect::<Vec<_>>().join("; ")));
    }
    if !limit.change.is_empty() {
        entries.push(format!("to change it: {}", limit.change));
    }
    entries.extend(limit.misleading.iter().map(|text| format!("beware: {text}")));
    entries.extend(limit.missing.iter().map(|text| format!("missing: {text}")));
    if !limit.figures.is_empty() {
        let rows = limit.figures.iter().map(|figure| {
            vec![
                figure.what.clone(),
                limit_words::stated(figure.value, figure.unit),
            ]
        });
        blocks.push(Block::Table(Table {
            head: ["figure", "value"].map(str::to_owned).into(),
            words: 1,
            rows: rows.collect(),
            ..Table::default()
        }));
    }
    blocks.push(Block::List(entries));
    blocks
}

pub(super) fn spikes(report: &RunReport<'_>, explanation: &Explanation) -> Vec<Block> {
    let found = &explanation.spikes;
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
    let mut blocks = Vec::new();
    for truth in explanation.truth.iter().filter(|truth| truth.whole.n > 0) {
        blocks.push(Block::Heading(format!(
            "{}: {}",
            truth.name,
            plural(truth.whole.n, "I/O")
        )));
        blocks.push(Block::List(truth_words::texts(truth)));
        let mut rows = truth_words::share_rows(truth);
        let mut head = rows.remove(0);
        for name in &mut head[1..] {
            if name != "max" {
                *name = format!("above {name} ms");
            }
        }
        head[0] = String::from("I/Os of");
        blocks.push(Block::Table(Table {
            caption: String::from("Share of I/Os above a latency"),
            head,
            words: 1,
            folded: rows.len() > 13,
            rows,
        }));
    }
    blocks
}

pub(super) fn missing(explanation: &Explanation) -> Vec<Block> {
    if explanation.missing.is_empty() {
        return Vec::new();
    }
    vec![Block::List(explanation.missing.clone())]
}
