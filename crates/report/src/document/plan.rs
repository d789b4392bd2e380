//! A plan for people: what was needed, the cheapest layouts, what binds each, what more would cost.
//!
//! Data in: a [`PlanReport`]. Data out: a document. It must not know how layouts were found, nor judge them.

mod need;
mod nothing;
mod pair;
mod seen;
mod verify;

use super::Reader;
use super::content::{Block, Chart, Document, Table, Width};
use super::explained::percent;
use crate::chart::price;
use crate::planned::{Currency, PairReport, PlanReport};
use crate::words::with_commas;
use fathom_core::units::{Bytes, Nanos};
use fathom_plan::cost::Cost;
use fathom_plan::judge::{Binding, Burst, Judged, Rates, Share};
use fathom_plan::layout::{Layout, MB};
use fathom_plan::plan::{Nothing, Proven};
use fathom_plan::search::Answer;
pub(crate) use verify::command;

/// Letters that a machine's name gets in a table at least.
const MACHINE_COLUMNS: (usize, usize) = (26, 12);
/// What stands where no machine is part of a layout.
const ANY_MACHINE: &str = "any";
/// The column of what binds.
const BINDS: usize = 4;
/// Layouts of which a terminal is told all.
const DETAILED: usize = 3;
/// Rows of the front that a terminal is told.
const FRONT_ROWS: usize = 12;

/// The whole plan.
pub(crate) fn document(report: &PlanReport<'_>, reader: Reader) -> Document {
    let plan = report.plan;
    let mut document = Document::titled(need::title(plan));
    document.lead = need::lead(report);
    if reader == Reader::Terminal {
        document.add("", document.lead.clone().into_iter().map(Block::Text));
    }
    if let Some(seen) = &report.seen {
        document.add("What was recorded", seen::blocks(seen, &plan.need, reader));
    }
    if let Some(nothing) = &plan.nothing {
        document.add("No layout meets this", nothing::blocks(report, nothing));
    }
    if !plan.layouts.is_empty() {
        let table = table(report, &plan.layouts, true);
        let each = plan.layouts.iter().enumerate();
        let each = each.flat_map(|(index, one)| detail(report, reader, index + 1, one));
        let mut blocks = vec![Block::Table(table)];
        blocks.extend(report.present.and_then(short).map(Block::Text));
        blocks.extend(
            report
                .seen
                .iter()
                .flat_map(|seen| seen::about_replay(seen, report)),
        );
        blocks.extend(each);
        document.add("The cheapest layouts", blocks);
    }
    if !plan.on_credit.is_empty() {
        let mut blocks = vec![Block::Text(String::from(
            "These cost less and carry the load on burst credit alone, for as long as they say, and then not until the credit is \
             back (--for TIME plans for a peak of that length, --no-burst leaves these out):",
        ))];
        blocks.push(Block::Table(table(report, &plan.on_credit, false)));
        document.add("On burst credit", blocks);
    }
    document.add("What more or less would cost", front(report, reader));
    document.add("Prices and what is not known", need::prices(report));
    document
}

/// What is needed and what stands now does not have: what it costs is then no price of it.
fn short(present: &Proven<'_>) -> Option<String> {
    let shares = present.answer.judged.shares.iter();
    let short = shares.filter(|share| share.allows.is_some_and(|allows| allows < share.used));
    let each = short.map(|share| {
        let allows = share.allows.unwrap_or(0);
        format!(
            "{}, {} of {}",
            binds(share),
            amount(share.of, allows),
            amount(share.of, share.used)
        )
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("What stands now has not what is needed: {}.", each.join("; ")))
}

/// Why there is none, in one paragraph.
pub(crate) fn none(report: &PlanReport<'_>, nothing: &Nothing) -> String {
    nothing::lines(report, nothing).join("\n  ")
}

/// Layouts side by side.
pub(crate) fn pairs(report: &PairReport<'_>, reader: Reader) -> Document {
    pair::document(report, reader)
}

/// A row a layout, numbered; what stands at present first, without a number.
fn table(report: &PlanReport<'_>, layouts: &[Proven<'_>], numbered: bool) -> Table {
    let present = report.present.filter(|_| numbered);
    if numbered && report.seen.is_some() {
        return seen::table(report, layouts, present);
    }
    let proven = layouts.iter().chain(present).any(|one| one.proof.is_some());
    let row = |number: String, one: &Proven<'_>| {
        let answer = &one.answer;
        let binding = answer.judged.binding();
        let mut row = vec![
            number,
            answer.layout.disks_word(),
            machine(&answer.layout).to_owned(),
            report.money.known(&answer.cost),
            binding.map_or_else(|| String::from("–"), binds),
            answer.judged.headroom().map_or_else(
                || String::from("–"),
                |room| {
                    if room < 0.0 {
                        String::from("short")
                    } else {
                        percent(room)
                    }
                },
            ),
        ];
        if !numbered {
            row.push(
                answer
                    .judged
                    .lasts_seconds
                    .map_or_else(|| String::from("–"), duration),
            );
        }
        if proven {
            let p99 = one
                .proof
                .as_ref()
                .map(|proof| Nanos(proof.latency.percentile(99.0)).to_string());
            row.push(p99.unwrap_or_else(|| String::from("–")));
        }
        row
    };
    let present = present.map(|one| row(String::from("now"), one));
    let listed = layouts.iter().enumerate().map(|(index, one)| {
        let number = if numbered {
            (index + 1).to_string()
        } else {
            String::new()
        };
        row(number, one)
    });
    let price = format!("{}/month", report.money.code);
    let mut head = vec!["#", "disks", "machine", &price, "binds", "left"];
    if !numbered {
        head.push("lasts");
    }
    if proven {
        head.push("p99");
    }
    let mut table = of_machines(&head, present.into_iter().chain(listed).collect(), 2);
    table.words_further = vec![BINDS];
    table
}

/// A table with machines in the column `machines`. Where it is too wide, they go without what the names of all begin with, and a
/// limit without saying that it is a machine's.
fn of_machines(head: &[&str], rows: Vec<Vec<String>>, machines: usize) -> Table {
    let names = || rows.iter().map(|row| row[machines].as_str());
    let begin = names()
        .find_map(|name| name.split_once('_'))
        .map_or("", |(first, _)| first);
    let all_begin_so = names()
        .all(|name| name == ANY_MACHINE || name.split_once('_').is_some_and(|(first, _)| first == begin));
    let narrow = |row: &Vec<String>| {
        let mut row = row.clone();
        if all_begin_so && let Some((_, rest)) = row[machines].split_once('_') {
            row[machines] = String::from(rest);
        }
        if head.get(BINDS) == Some(&"binds") {
            row[BINDS] = row[BINDS].replace("machine ", "");
        }
        row
    };
    let mut narrowed = vec![head.iter().map(|&name| name.to_owned()).collect()];
    narrowed.extend(rows.iter().map(narrow));
    Table::new(machines + 1, head.iter().copied(), rows).on_terminal(|layout| {
        layout.cut = Some(MACHINE_COLUMNS);
        layout.narrow = narrowed;
    })
}

fn machine<'a>(layout: &Layout<'a>) -> &'a str {
    layout.machine.map_or(ANY_MACHINE, |vm| &vm.name)
}

/// What is said of one layout: on a terminal all of the first ones, and of the others what they are.
fn detail(report: &PlanReport<'_>, reader: Reader, number: usize, one: &Proven<'_>) -> Vec<Block> {
    let answer = &one.answer;
    let title = format!("{number}. {}", answer.layout.target());
    let cost = cost_words(&answer.cost, &report.money);
    if reader == Reader::Terminal && number > DETAILED {
        return vec![Block::Nested(vec![title, cost])];
    }
    let mut lines = vec![cost, delivers(&answer.judged)];
    lines.extend(next(&answer.judged));
    lines.extend(one.proof.iter().filter_map(seen::replayed));
    let load = &report.plan.need.load;
    let verify =
        (load.ios > 0 && report.seen.is_none()).then(|| Block::Command(command(&answer.layout, load)));
    let told = match reader {
        Reader::Terminal => {
            lines.insert(0, title);
            vec![Block::Nested(lines)]
        }
        Reader::Page => vec![Block::Heading(title), Block::List(lines)],
    };
    told.into_iter().chain(verify).collect()
}

/// What binds, and what would bind next.
fn next(judged: &Judged) -> Option<String> {
    let mut shares = judged
        .shares
        .iter()
        .filter(|share| share.used > 0 && share.allows.is_some());
    let first = share_words(shares.next()?);
    let next = shares.next().map(|next| format!("; next: {}", share_words(next)));
    Some(format!("binds: {first}{}", next.unwrap_or_default()))
}

fn share_words(share: &Share) -> String {
    let allows = share.allows.unwrap_or(0);
    let part = share
        .part()
        .map_or_else(String::new, |part| format!(" ({})", percent(part)));
    format!(
        "{}, {} of {}{part}",
        binds(share),
        amount(share.of, share.used),
        amount(share.of, allows)
    )
}

/// An amount of what a share is of.
pub(crate) fn amount(of: Binding, amount: u64) -> String {
    match of {
        Binding::Size => Bytes(amount).to_string(),
        Binding::Limit(limit) | Binding::Credit(limit) if limit.counts_bytes() => {
            format!("{} MB/s", mbps(amount))
        }
        Binding::Limit(_) | Binding::Credit(_) => thousands(amount),
    }
}

/// What binds, in words.
pub(crate) fn binds(share: &Share) -> String {
    binding_words(share.of)
}

/// The same of a binding alone.
pub(crate) fn binding_words(of: Binding) -> String {
    match of {
        Binding::Size => String::from("size"),
        Binding::Limit(limit) => limit.words().to_owned(),
        Binding::Credit(limit) => format!("burst credit ({})", limit.words()),
    }
}

/// What it lets through, without end and on credit.
fn delivers(judged: &Judged) -> String {
    let mut text = format!("carries {} without end", rates(&judged.sustained));
    if let Some(Burst {
        rates: most,
        full_seconds: Some(seconds),
    }) = &judged.burst
    {
        let lasts = duration(*seconds);
        text = format!(
            "{text}; bursts to {}, for {lasts} of this load at its most",
            rates(most)
        );
    }
    if let Some(seconds) = judged.lasts_seconds {
        text = format!("{text}; this load lasts {}", duration(seconds));
    }
    let ios = if judged.in_flight == 1 { "I/O" } else { "I/Os" };
    format!("{text}; needs {} {ios} in flight", thousands(judged.in_flight))
}

pub(crate) fn rates(rates: &Rates) -> String {
    let iops = rates.iops.map_or_else(|| String::from("not known"), thousands);
    let bytes = rates
        .bytes_per_second
        .map_or_else(|| String::from("not known"), mbps);
    format!("{iops} IOPS and {bytes} MB/s")
}

/// A cost by its parts.
pub(crate) fn cost_words(cost: &Cost, money: &Currency) -> String {
    let part = |part: &fathom_plan::cost::Part| match part.microusd_month {
        Some(0) => None,
        Some(microusd) => Some(format!("{} {}", money.of(microusd), part.what.words())),
        None => Some(format!("{} (price not known)", part.what.words())),
    };
    let parts: Vec<String> = cost.parts.iter().filter_map(part).collect();
    format!("{} a month: {}", money.told(cost), parts.join(", "))
}

impl Currency {
    /// A number with two decimals.
    fn of(&self, microusd: u64) -> String {
        let cents = (microusd as f64 * self.per_usd / 1e4).round() as u64;
        format!("{}.{:02}", thousands(cents / 100), cents % 100)
    }

    /// What is known of a cost; a `+` where a part of it is not.
    fn known(&self, cost: &Cost) -> String {
        let more = if cost.not_known().next().is_some() {
            "+"
        } else {
            ""
        };
        format!("{}{more}", self.of(cost.microusd_month()))
    }

    /// The same with the currency.
    fn told(&self, cost: &Cost) -> String {
        format!("{} {}", self.code, self.known(cost))
    }
}

/// A whole number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    with_commas(&number.to_string())
}

/// Bytes a second in MB, with decimals where they matter.
pub(crate) fn mbps(bytes: u64) -> String {
    if bytes.is_multiple_of(MB) || bytes >= 100 * MB {
        return thousands((bytes + MB / 2) / MB);
    }
    if bytes < MB {
        return format!("{:.3}", bytes as f64 / MB as f64);
    }
    format!("{:.1}", bytes as f64 / MB as f64)
}

/// Seconds as people say them.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// What more or less would cost, around the need.
fn front(report: &PlanReport<'_>, reader: Reader) -> Vec<Block> {
    let answers = &report.plan.front;
    if answers.len() < 2 {
        return Vec::new();
    }
    let known =
        |amount: Option<u64>, words: fn(u64) -> String| amount.map_or_else(|| String::from("–"), words);
    let row = |answer: &Answer<'_>| {
        let sustained = &answer.judged.sustained;
        vec![
            answer.layout.disks_word(),
            machine(&answer.layout).to_owned(),
            report.money.known(&answer.cost),
            known(sustained.iops, thousands),
            known(sustained.bytes_per_second, mbps),
        ]
    };
    // On a terminal as many of them as are read, evenly over the prices.
    let step = match reader {
        Reader::Terminal => answers.len().div_ceil(FRONT_ROWS),
        Reader::Page => 1,
    };
    let price = format!("{}/month", report.money.code);
    let rows: Vec<Vec<String>> = answers.iter().step_by(step).map(row).collect();
    let table = of_machines(&["disks", "machine", &price, "IOPS", "MB/s"], rows, 1);
    let about = format!(
        "Each is the cheapest for more or fewer IOPS or MB/s; none costs less than another one and delivers as much of both, \
         without end, in I/Os of {}, {} % of them reads.",
        Bytes(report.plan.need.load.block_bytes()),
        report.plan.need.load.read_ppm / 10_000
    );
    let mut blocks = vec![Block::Text(about)];
    if reader == Reader::Page {
        let charts = [
            (price::By::Iops, "Price by IOPS"),
            (price::By::Mbps, "Price by MB/s"),
        ];
        let chart = |(by, title): (price::By, &str)| Chart {
            title: title.to_owned(),
            about: String::from("A point a layout; the larger, the more of the other."),
            width: Width::Half,
            height: 360,
            figure: price::figure(answers, by),
            table: None,
        };
        blocks.push(Block::Charts(charts.into_iter().map(chart).collect()));
    }
    blocks.push(Block::Table(table.folded_above(20)));
    blocks
}
