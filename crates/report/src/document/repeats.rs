//! Several runs of a command: how long they took, which stand out, and each of them.
//!
//! Data in: [`Repeats`]. Data out: a document. It must not judge.

use super::command::{exit, spent, words};
use super::content::{Block, Document, Notice, Table};
use crate::words::{joined, or, plural};
use fathom_core::run::{RepeatedRun, Repeats};
use fathom_core::units::{Bytes, Nanos};

fn time(ns: f64) -> String {
    Nanos(ns.round() as u64).to_string()
}

pub(crate) fn told(repeats: &Repeats) -> Document {
    let mut document = Document::titled(format!("fathom record: {}", words(&repeats.argv)));
    document.add("", [Block::Gap]);
    let mut blocks = Vec::new();
    if let Some(spread) = repeats.duration_ns {
        blocks.push(Block::Facts(vec![(
            "time",
            format!(
                "mean {} ± {}, median {}, {} to {}, in {}",
                time(spread.mean),
                time(spread.stddev),
                time(spread.median),
                time(spread.min),
                time(spread.max),
                plural(spread.n, "run")
            ),
        )]));
    }
    blocks.extend(beside(repeats));
    blocks.push(Block::Table(Table::new(
        1,
        ["run", "time", "CPU", "read", "written", "ended"],
        repeats.runs.iter().map(row),
    )));
    let middle = repeats.nearest_to_median();
    if let Some((run, spent)) = middle.and_then(|run| Some((run, spent(&run.command)?))) {
        blocks.push(Block::Text(format!(
            "run {}, nearest to the median: {spent}",
            run.dir
        )));
    }
    blocks.extend(outliers(repeats).map(|text| Block::Notice(Notice::Warning, text)));
    document.add("", blocks);
    document
}

/// What was done beside the timed runs.
fn beside(repeats: &Repeats) -> Option<Block> {
    let mut parts = Vec::new();
    if repeats.warmups > 0 {
        parts.push(format!("after {}", plural(repeats.warmups, "warm-up")));
    }
    parts.extend(repeats.prepare.iter().map(|line| format!("before each: {line}")));
    parts.extend(repeats.cleanup.iter().map(|line| format!("after each: {line}")));
    (!parts.is_empty()).then(|| Block::Text(joined(parts, "; ")))
}

fn row(run: &RepeatedRun) -> Vec<String> {
    let command = &run.command;
    let bytes = |bytes: Option<u64>| or(bytes.map(Bytes), "not known");
    vec![
        run.dir.clone(),
        Nanos(command.duration_ns()).to_string(),
        Nanos(command.cpu.user_ns + command.cpu.system_ns).to_string(),
        bytes(command.io.map(|io| io.read_bytes)),
        bytes(command.io.map(|io| io.written_bytes)),
        exit(command.exit).replacen("ended with exit code ", "", 1),
    ]
}

fn outliers(repeats: &Repeats) -> Option<String> {
    let runs = repeats
        .outliers
        .iter()
        .filter_map(|&index| repeats.runs.get(index));
    let named = joined(
        runs.map(|run| format!("{} ({})", run.dir, Nanos(run.command.duration_ns()))),
        ", ",
    );
    (!named.is_empty()).then(|| {
        format!(
            "far from the others: run {named}. Look at it with fathom explain; a first run that stands out wants --warmup, or \
             --prepare to begin cold each time"
        )
    })
}
