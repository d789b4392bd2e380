//! A comparison for people: the verdicts first, then the numbers, the conditions, the drawings, how it was judged.
//!
//! Data in: a [`CompareReport`]. Data out: a document. It must not judge.

mod drawn;
pub(crate) mod facts;
pub(crate) mod rules;
pub(crate) mod words;

use super::Reader;
use super::content::{Block, Document, Notice, Table};
use crate::compared::{CompareReport, Kind};
use crate::words::{joined, plural};
use fathom_analysis::compare::{Judged, SpreadVerdict, Verdict};
use words::{figure, interval, signed, value};

/// Figures whose verdicts are told one by one; of more, those that differ.
const TOLD_MAX: usize = 14;
/// Loads whose figures a terminal is told.
const LOADS_MAX: usize = 12;

pub(crate) fn document(report: &CompareReport<'_>, reader: Reader) -> Document {
    let mut document = Document::titled(title(report));
    document.lead = facts::lead(report);
    if reader == Reader::Terminal {
        document.add("", document.lead.clone().into_iter().map(Block::Text));
    }
    document.add("Verdicts", verdicts(report));
    document.add("What must not be", rules::blocks(report));
    document.add("Before trusting this", facts::warnings(report));
    document.add("Figures", figures(report, reader));
    document.add("Spread", spread(report, reader));
    document.add("Conditions that differ", facts::conditions(report, reader));
    if reader == Reader::Page {
        document.add("Drawn over each other", drawn::blocks(report));
        document.add("Each repeat", drawn::repeats(report));
    }
    document.add("How this was judged", facts::method(report, reader));
    document
}

fn title(report: &CompareReport<'_>) -> String {
    let [a, b] = &report.sides;
    format!("{} compared with {}", b.name, a.name)
}

/// A line a figure; of many, the counts and those that differ.
fn verdicts(report: &CompareReport<'_>) -> Vec<Block> {
    let told = |judged: &Judged| format!("{}: {}", figure(judged), words::verdict(report, judged));
    // What is told in another unit is told once.
    let all: Vec<&Judged> = report.judged.iter().filter(|one| one.follows.is_none()).collect();
    if all.is_empty() {
        let text = String::from("The sides have no figure in common.");
        return vec![Block::Notice(Notice::Warning, text)];
    }
    if all.len() <= TOLD_MAX {
        return vec![Block::List(together(report, all.into_iter()))];
    }
    let count = |of: fn(&Verdict) -> bool| all.iter().filter(|one| of(&one.verdict)).count();
    let parts = [
        (count(|verdict| matches!(verdict, Verdict::Differs)), "differ"),
        (
            count(|verdict| matches!(verdict, Verdict::NoneShown)),
            "show no difference",
        ),
        (
            count(|verdict| matches!(verdict, Verdict::TooFew { .. })),
            "have too few repeats to tell",
        ),
    ];
    let parts = parts.into_iter().filter(|(n, _)| *n > 0);
    let parts = joined(parts.map(|(n, what)| format!("{n} {what}")), ", ");
    let mut blocks = vec![Block::Text(format!(
        "Of {}: {parts}.",
        plural(all.len(), "figure")
    ))];
    let differing: Vec<&Judged> = all
        .into_iter()
        .filter(|one| one.verdict == Verdict::Differs)
        .collect();
    let mut entries: Vec<String> = differing.iter().take(TOLD_MAX).map(|one| told(one)).collect();
    if differing.len() > TOLD_MAX {
        entries.push(format!("{} more below", differing.len() - TOLD_MAX));
    }
    if !entries.is_empty() {
        blocks.push(Block::List(entries));
    }
    blocks
}

/// A line a verdict: figures of which the same is to be said share one.
fn together<'a>(report: &CompareReport<'_>, some: impl Iterator<Item = &'a Judged>) -> Vec<String> {
    let groups = super::grouped(some, |judged| words::verdict(report, judged));
    let each = groups.into_iter().map(|(verdict, of)| {
        let names = joined(of.into_iter().map(figure), ", ");
        format!("{names}: {verdict}")
    });
    each.collect()
}

fn figures(report: &CompareReport<'_>, reader: Reader) -> Vec<Block> {
    let [a, b] = &report.sides;
    let row = |judged: &Judged| {
        let difference = judged.difference.as_ref();
        let p = difference.map(|found| words::probability(found.p_adjusted));
        vec![
            words::figure_alone(judged),
            words::side(report, judged, 0),
            words::side(report, judged, 1),
            difference.map_or_else(|| String::from("–"), |found| signed(report, judged, found.value)),
            difference.map_or_else(
                || String::from("–"),
                |found| interval(report, judged, found.low, found.high),
            ),
            p.unwrap_or_else(|| String::from("–")),
            words::short(report, judged),
        ]
    };
    let head = [
        "",
        a.name.as_str(),
        b.name.as_str(),
        "change",
        "95 % interval",
        "p",
        "verdict",
    ];
    let loads = super::grouped(report.judged, |one| one.figure.load.as_str());
    let mut blocks = Vec::new();
    let shown = if reader == Reader::Terminal {
        LOADS_MAX
    } else {
        loads.len()
    };
    let more = loads.len().saturating_sub(shown);
    for (load, of) in loads.into_iter().take(shown) {
        if !load.is_empty() {
            blocks.push(Block::Heading(load.to_owned()));
        }
        blocks.push(table(&head, 1, of.into_iter().map(row)));
    }
    if more > 0 {
        blocks.push(Block::Text(format!(
            "{} more: -o FILE.html has them all.",
            plural(more, "load")
        )));
    }
    if report.judged.iter().all(|one| one.difference.is_none()) {
        blocks.extend(within(report));
    }
    blocks
}

/// A table whose last two columns are p and the verdict.
fn table(head: &[&str], words: usize, rows: impl Iterator<Item = Vec<String>>) -> Block {
    let mut table = Table::new(words, head.iter().copied(), rows);
    let last = head.len() - 1;
    table.words_further = vec![last];
    // The verdicts are told above; p is what is needed least.
    Block::Table(table.on_terminal(|layout| {
        layout.spare = vec![last - 1, last];
        layout.cut = Some((48, 14));
    }))
}

/// One run a side: what each run says of itself.
fn within(report: &CompareReport<'_>) -> Vec<Block> {
    let each = report.judged.iter().filter_map(|judged| {
        let side = |index: usize| {
            let within = judged.sides[index].values.first()?.within?;
            let low = value(report, judged, within.low.max(0.0));
            let high = within.high.map(|high| value(report, judged, high));
            Some(match high {
                Some(high) => format!("{low} to {high}"),
                None => format!("{low} or more"),
            })
        };
        Some(vec![figure(judged), side(0)?, side(1)?])
    });
    let rows: Vec<Vec<String>> = each.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let [a, b] = &report.sides;
    let table = Table::new(1, ["", a.name.as_str(), b.name.as_str()], rows);
    vec![
        Block::Text(String::from(
            "What each run says of itself (95 % intervals from its own seconds; another run may lie elsewhere):",
        )),
        Block::Table(table),
    ]
}

fn spread(report: &CompareReport<'_>, reader: Reader) -> Vec<Block> {
    let judged = |one: &Judged| one.spread.is_some() && one.follows.is_none();
    let some: Vec<&Judged> = report.judged.iter().filter(|one| judged(one)).collect();
    if some.is_empty() {
        return Vec::new();
    }
    let shown: Vec<&&Judged> = some
        .iter()
        .filter(|one| one.spread_verdict == SpreadVerdict::Differs)
        .collect();
    let mut blocks = Vec::new();
    let told = |one: &Judged| format!("{}: {}", figure(one), words::spread(report, one));
    let fewest = some.iter().filter_map(|one| match one.spread_verdict {
        SpreadVerdict::TooFew { more } => Some(more),
        _ => None,
    });
    let (few, more) = (fewest.clone().count(), fewest.max().unwrap_or(0));
    if few == some.len() && few > 1 {
        blocks.push(Block::Text(format!(
            "Too few repeats to say whether one side varies more: {} more on each side are the least to judge it by.",
            words::in_words(more)
        )));
    } else if some.len() <= TOLD_MAX {
        blocks.push(Block::List(some.iter().map(|one| told(one)).collect()));
    } else if !shown.is_empty() {
        blocks.push(Block::List(
            shown.iter().take(TOLD_MAX).map(|one| told(one)).collect(),
        ));
    } else {
        blocks.push(Block::Text(format!(
            "Of {}, none shows a difference in how much repeats vary.",
            plural(some.len(), "figure")
        )));
    }
    let [a, b] = &report.sides;
    let ratio = format!("{}/{}", b.name, a.name);
    let head = [
        "",
        a.name.as_str(),
        b.name.as_str(),
        ratio.as_str(),
        "95 % interval",
        "p",
        "verdict",
    ];
    let row = |one: &Judged| {
        let found = one.spread.expect("those without are left out");
        vec![
            figure(one),
            words::deviation(report, one, 0),
            words::deviation(report, one, 1),
            format!("× {}", words::ratio(found.ratio)),
            format!("{} to {}", words::ratio(found.low), words::ratio(found.high)),
            words::probability(found.p_permuted),
            words::spread_short(report, one),
        ]
    };
    // On a terminal those of many loads would be a wall of numbers.
    if reader == Reader::Page || some.len() <= TOLD_MAX {
        blocks.push(table(&head, 1, some.iter().map(|one| row(one))));
    }
    blocks
}

/// Which word the kind has for a repeat.
pub(super) fn repeat(kind: Kind) -> &'static str {
    match kind {
        Kind::Runs | Kind::Commands => "run",
        Kind::Sweeps => "sweep",
        Kind::Recordings => "recording",
        Kind::Columns => "number",
    }
}
