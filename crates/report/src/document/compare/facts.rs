//! What was compared, what to know before trusting it, how it was judged.
//!
//! Data in: a comparison. Data out: blocks. It must not judge.

use super::super::content::{Block, Notice, Table};
use super::repeat;
use super::words::{figure, in_words, margin, probability};
use crate::compared::{CompareReport, Kind, SideReport};
use crate::document::Reader;
use crate::words::{joined, plural};
use fathom_analysis::compare::{Caution, Condition, Field, Grade, Method, Order};

/// Inputs of a side that are named.
const NAMED_MAX: usize = 4;
/// Notes of a side that are told.
const NOTES_MAX: usize = 6;

/// What each side is.
pub(super) fn lead(report: &CompareReport<'_>) -> Vec<String> {
    let side = |index: usize, side: &SideReport<'_>| {
        let named = match side.from.as_slice() {
            [first, .., last] if side.from.len() > NAMED_MAX => format!("{first} to {last}"),
            few => joined(few, ", "),
        };
        let what = match report.kind {
            Kind::Columns => {
                let numbers = report
                    .judged
                    .first()
                    .map_or(0, |one| one.sides[index].values.len());
                plural(numbers, "number")
            }
            kind => plural(side.from.len(), repeat(kind)),
        };
        format!("{}: {what}, {named}", side.name)
    };
    let sides = report.sides.iter().enumerate();
    let mut lead: Vec<String> = sides.map(|(index, one)| side(index, one)).collect();
    for (index, side) in report.sides.iter().enumerate() {
        if !side.alone.is_empty() {
            lead.push(format!(
                "Only {} has {}, which {} not compared.",
                side.name,
                match side.alone.len() {
                    n if n <= NAMED_MAX => joined(&side.alone, ", "),
                    n => format!("{n} points that {} lacks", report.sides[1 - index].name),
                },
                if side.alone.len() == 1 { "is" } else { "are" }
            ));
        }
    }
    lead
}

/// Reasons to doubt, of the order, of the numbers, of the runs.
pub(super) fn warnings(report: &CompareReport<'_>) -> Vec<Block> {
    let warning = |text: String| Block::Notice(Notice::Warning, text);
    let mut blocks: Vec<Block> = report
        .cautions
        .iter()
        .map(|caution| warning(self::caution(report, *caution)))
        .collect();
    for field in report.allowed {
        blocks.push(warning(format!(
            "{} differs, which --despite allows: what is compared is not the same question to the disk.",
            name(*field)
        )));
    }
    if report.kind == Kind::Recordings {
        blocks.push(Block::Notice(
            Notice::Note,
            String::from(
                "Recordings are compared as they are: as far as the programs in them did something else, that is part of the \
                 difference.",
            ),
        ));
    }
    for side in &report.sides {
        let more = side.notes.len().saturating_sub(NOTES_MAX);
        blocks.extend(
            side.notes
                .iter()
                .take(NOTES_MAX)
                .map(|note| warning(format!("{}: {note}", side.name))),
        );
        if more > 0 {
            blocks.push(Block::Text(format!(
                "{}: {} more",
                side.name,
                plural(more, "note")
            )));
        }
    }
    blocks
}

fn caution(report: &CompareReport<'_>, caution: Caution) -> String {
    let name = |side: usize| &report.sides[side].name;
    let of = |index: usize| figure(&report.judged[index]);
    match caution {
        Caution::OneAfterOther => format!(
            "{} and {} were measured one after the other, not in turns: whatever drifted in between passes for a difference. {}",
            name(0),
            name(1),
            match report.kind {
                Kind::Commands => "Record them in turns: one of the one, two of the other, and so on.",
                Kind::Runs | Kind::Sweeps | Kind::Recordings | Kind::Columns =>
                    "fathom sweep --order interleaved measures in turns.",
            }
        ),
        Caution::Trend {
            side,
            figure,
            rises,
            p,
        } => format!(
            "{} of {} {} from the first to the last (p {}): a drift may pass for a difference.",
            of(figure),
            name(side),
            if rises { "rises" } else { "falls" },
            probability(p)
        ),
        Caution::HangTogether { side, correlation } => format!(
            "Neighbouring numbers of {} are alike (correlation {correlation:.2}): they are not repeats by themselves, and the \
             intervals are too narrow. Give a number a repeat.",
            name(side)
        ),
        Caution::UnequalSpread { figure } => format!(
            "{}: one side varies more than four times as much as the other; if it does so to one side only, intervals of so few \
             repeats hold in 86 of 100 comparisons, not in 95.",
            of(figure)
        ),
    }
}

/// A row a condition; those that forbid to compare, and were allowed, first.
pub(super) fn conditions(report: &CompareReport<'_>, reader: Reader) -> Vec<Block> {
    if report.conditions.is_empty() {
        return match report.kind {
            Kind::Columns => Vec::new(),
            _ => vec![Block::Text(String::from("None of those that are recorded."))],
        };
    }
    let [a, b] = &report.sides;
    if reader == Reader::Terminal {
        let told = |condition: &Condition| {
            let [of_a, of_b] = [0, 1].map(|side| values(&condition.sides[side]));
            format!(
                "{}: {of_a} in {}, {of_b} in {}",
                name(condition.field),
                a.name,
                b.name
            )
        };
        return vec![Block::List(report.conditions.iter().map(told).collect())];
    }
    let row = |condition: &Condition| {
        let [of_a, of_b] = [0, 1].map(|side| values(&condition.sides[side]));
        vec![name(condition.field).to_owned(), of_a, of_b]
    };
    let rows = report.conditions.iter().map(row);
    vec![Block::Table(Table::new(
        3,
        ["", a.name.as_str(), b.name.as_str()],
        rows,
    ))]
}

/// Each once; where a side's own runs differ, all of them.
fn values(values: &[String]) -> String {
    let each = values
        .iter()
        .map(|value| if value.is_empty() { "not known" } else { value });
    joined(each, " | ")
}

/// A condition as it is called.
pub(crate) fn name(field: Field) -> &'static str {
    match field {
        Field::Jobs => "number of jobs",
        Field::Pattern => "pattern",
        Field::BlockSize => "block size",
        Field::Depth => "depth",
        Field::Threads => "workers",
        Field::Pace => "pace",
        Field::Syncs => "syncs",
        Field::PageCache => "page cache",
        Field::HostCache => "host cache",
        Field::MemoryFilesystem => "file system in memory",
        Field::Target => "target",
        Field::Size => "size",
        Field::Capacity => "capacity",
        Field::Device => "device",
        Field::Filesystem => "file system",
        Field::Scheduler => "I/O scheduler",
        Field::Host => "host",
        Field::Machine => "machine",
        Field::Cpu => "CPUs",
        Field::Memory => "memory",
        Field::Kernel => "kernel",
        Field::Engine => "engine",
        Field::Runtime => "runtime",
        Field::Program => "program",
        Field::Command => "command",
        Field::Exit => "end of the command",
    }
}

/// In a few sentences.
pub(super) fn method(report: &CompareReport<'_>, reader: Reader) -> Vec<Block> {
    let Some(first) = report.judged.first() else {
        return Vec::new();
    };
    let tested = report
        .judged
        .iter()
        .filter(|one| one.difference.is_some() && one.follows.is_none());
    let family = tested.count();
    let order = match &first.order {
        Order::Unknown => "in which order they were measured is not known",
        Order::Apart => "each ran on a modelled machine of its own, so that their order does not matter",
        Order::InTurns(_) => "the sides took turns",
        Order::OneAfterOther => "one side was measured after the other",
    };
    let test = match first.difference.map(|found| found.method) {
        None => String::from("nothing is tested"),
        Some(Method::Welch) => String::from("Welch's t on the logarithms"),
        Some(Method::BesideDrift) => String::from("t on the logarithms, beside a drift over the turns"),
    };
    let together = match family {
        0 | 1 => String::new(),
        n => format!(" {} figures are judged together (Holm).", capital_number(n)),
    };
    let short = format!(
        "A {} is the unit; {order}; {test}.{together} \"Would have been seen\": in four of five such comparisons.",
        repeat(report.kind)
    );
    if reader == Reader::Terminal {
        return vec![Block::Text(short)];
    }
    let mut facts = vec![("judged by", short)];
    let exact = report.judged.iter().filter_map(|one| {
        let p = one.difference?.p_exact?;
        Some(format!("{} {}", figure(one), probability(p)))
    });
    let exact: Vec<String> = exact.collect();
    if !exact.is_empty() {
        facts.push(("p by exact permutation", joined(exact, "; ")));
    }
    facts.push((
        "difference that matters",
        format!("±{} % (--margin)", margin(report)),
    ));
    vec![Block::Facts(facts)]
}

fn capital_number(n: usize) -> String {
    crate::words::capital(&in_words(n.try_into().unwrap_or(u32::MAX)))
}

/// Whether a condition forbids to compare.
pub(crate) fn forbids(condition: &Condition) -> bool {
    condition.grade() == Grade::Refused
}
