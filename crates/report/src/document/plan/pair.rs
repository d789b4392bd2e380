//! Layouts side by side, and one alone: what it delivers, why, and what would change that.

use super::{amount, binds, cost_words, mbps, rates, thousands};
use crate::document::Reader;
use crate::document::content::{Block, Document, Table};
use crate::document::explained::percent;
use crate::planned::{Currency, PairReport};
use fathom_core::units::Bytes;
use fathom_plan::Directions;
use fathom_plan::explain::{Change, Explained, Idle};
use fathom_plan::judge::{Binding, Share};
use fathom_plan::layout::Layout;

pub(super) fn document(report: &PairReport<'_>, _: Reader) -> Document {
    let mut document = Document::default();
    if let [one, other, ..] = report.layouts {
        document.add("", [Block::Text(difference(one, other, &report.money))]);
        document.add(
            "Side by side",
            [Block::Table(side_by_side(report.layouts, &report.money))],
        );
    }
    for one in report.layouts {
        document.add(&one.answer.layout.target(), why(one, &report.money));
        if let [one] = report.layouts {
            document.add("What would change it", changes(one, &report.money));
        }
    }
    document.add("What the figures are of", [Block::List(kind(report))]);
    document.add("Prices", [Block::List(vec![report.prices.clone()])]);
    document
}

/// Of which I/Os IOPS and MB/s are told, and what that makes of limits that reads and writes have apart.
fn kind(report: &PairReport<'_>) -> Vec<String> {
    let load = &report.need.load;
    let block_bytes = match load.ios {
        0 => load.otherwise_block_bytes,
        _ => load.block_bytes(),
    };
    let reads = load.read_ppm / 10_000;
    let mut lines = vec![format!(
        "Random I/Os of {}, {reads} % of them reads (--bs and --read say otherwise): IOPS as far as IOPS limit them, MB/s as far \
         as MB/s do.",
        Bytes(block_bytes)
    )];
    let mut apart: Vec<String> = Vec::new();
    for one in report.layouts {
        let family = one.answer.layout.disk.family();
        if family.directions() == Directions::Apart && !apart.contains(&family.to_string()) {
            apart.push(family.to_string());
        }
    }
    if !apart.is_empty() && (1..100).contains(&reads) {
        lines.push(format!(
            "{}: reads and writes have limits of their own, and these figures take both at once; reads alone (--read 100) or \
             writes alone (--read 0) get less.",
            apart.join(", ")
        ));
    }
    let by_units: Vec<String> = report
        .layouts
        .iter()
        .map(|one| one.answer.layout.disk.family())
        .filter(|family| family.counting().whole_units)
        .map(|family| family.to_string())
        .collect();
    if let Some(first) = by_units.first() {
        lines.push(format!(
            "{first}: each random I/O, however small, takes a whole unit of its bytes a second; large sequential ones get more \
             MB/s."
        ));
    }
    lines
}

/// What the second saves or costs more than the first, and what it delivers.
fn difference(one: &Explained<'_>, other: &Explained<'_>, currency: &Currency) -> String {
    let [first, second] = [one, other].map(|one| &one.answer);
    let (from, to) = (first.cost.microusd_month(), second.cost.microusd_month());
    let (disks_from, disks_to) = (
        first.cost.disks_microusd_month(),
        second.cost.disks_microusd_month(),
    );
    let money = |from: u64, to: u64| {
        let part = from.abs_diff(to) as f64 / from.max(1) as f64;
        let less = if to <= from { "less" } else { "more" };
        format!(
            "{} {} ({}) {less}",
            currency.code,
            currency.of(from.abs_diff(to)),
            percent(part)
        )
    };
    let delivered = |judged: &fathom_plan::judge::Judged| rates(&judged.sustained);
    format!(
        "{} costs {} a month than {}, its disks {}; it carries {} in place of {}, and holds {} in place of {}.",
        second.layout.disks_word(),
        money(from, to),
        first.layout.disks_word(),
        money(disks_from, disks_to),
        delivered(&second.judged),
        delivered(&first.judged),
        Bytes(second.layout.size_bytes()),
        Bytes(first.layout.size_bytes())
    )
}

/// A row a figure, a column a layout.
fn side_by_side(layouts: &[Explained<'_>], money: &Currency) -> Table {
    let known =
        |value: Option<u64>, words: fn(u64) -> String| value.map_or_else(|| String::from("not known"), words);
    let row = |name: &str, of: &dyn Fn(&Explained<'_>) -> String| {
        let mut row = vec![name.to_owned()];
        row.extend(layouts.iter().map(of));
        row
    };
    let bound_by = |one: &Explained<'_>, bytes: bool| {
        let sustained = &one.answer.judged.sustained;
        let (binding, rate) = if bytes {
            (one.binds_bytes, sustained.bytes_per_second)
        } else {
            (one.binds_iops, sustained.iops)
        };
        // Of what is not known, nothing that is known binds.
        binding
            .filter(|_| rate.is_some())
            .map_or_else(|| String::from("–"), |limit| limit.words().to_owned())
    };
    let rows = vec![
        row("machine", &|one| super::machine(&one.answer.layout).to_owned()),
        row(&format!("{} a month", money.code), &|one| {
            money.known(&one.answer.cost)
        }),
        row("of it, disks", &|one| {
            money.of(one.answer.cost.disks_microusd_month())
        }),
        row("size", &|one| Bytes(one.answer.layout.size_bytes()).to_string()),
        row("IOPS", &|one| known(one.answer.judged.sustained.iops, thousands)),
        row("limited by", &|one| bound_by(one, false)),
        row("MB/s", &|one| {
            known(one.answer.judged.sustained.bytes_per_second, mbps)
        }),
        row("limited by", &|one| bound_by(one, true)),
    ];
    let mut head = vec![String::new()];
    head.extend(layouts.iter().map(|one| one.answer.layout.disks_word()));
    Table::new(1, head, rows)
}

/// Why a layout delivers what it delivers.
fn why(one: &Explained<'_>, money: &Currency) -> Vec<Block> {
    let answer = &one.answer;
    let mut lines = vec![cost_words(&answer.cost, money)];
    let sustained = &answer.judged.sustained;
    for (name, rate, bound_by) in [
        ("IOPS", sustained.iops.map(thousands), one.binds_iops),
        ("MB/s", sustained.bytes_per_second.map(mbps), one.binds_bytes),
    ] {
        let Some(rate) = rate else {
            lines.push(format!(
                "{name} without end: not known{}",
                not_stated(one, name == "MB/s")
            ));
            continue;
        };
        let by = bound_by.map_or_else(String::new, |limit| format!(": {} binds", limit.words()));
        lines.push(format!("{rate} {name} without end{by}"));
    }
    if let Some(burst) = &answer.judged.burst {
        let lasts = burst.full_seconds.map(super::duration);
        let lasts = lasts.map_or_else(String::new, |lasts| format!(", for {lasts} at its most"));
        lines.push(format!("bursts to {}{lasts}", rates(&burst.rates)));
    }
    // Under the load that is asked for, if one is.
    let is_asked = answer.judged.binding().is_some();
    lines.extend(super::next(&answer.judged).filter(|_| is_asked));
    lines.extend(one.idle.iter().map(idle));
    vec![Block::List(lines)]
}

/// Which limits no source states, of those that count bytes or of the others.
fn not_stated(one: &Explained<'_>, bytes: bool) -> String {
    let of = |share: &Share| match (share.of, share.allows) {
        (Binding::Limit(limit), None) if limit.counts_bytes() == bytes => Some(limit.words()),
        _ => None,
    };
    let limits: Vec<&str> = one.answer.judged.shares.iter().filter_map(of).collect();
    match &limits[..] {
        [] => String::new(),
        limits => format!(" (no source states {})", limits.join(", ")),
    }
}

/// Steps from it, and what does as much for less.
fn changes(one: &Explained<'_>, money: &Currency) -> Vec<Block> {
    let answer = &one.answer;
    let mut blocks = Vec::new();
    let changes: Vec<String> = one
        .changes
        .iter()
        .map(|change| change_words(change, money))
        .collect();
    if !changes.is_empty() {
        blocks.push(Block::List(changes));
    }
    for (title, others) in [
        ("As much and as large, for less", &one.replaces),
        (
            "As much for less, where the size is not needed",
            &one.replaces_smaller,
        ),
    ] {
        if others.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(title.to_owned()));
        let as_much = |other: &fathom_plan::search::Answer<'_>| {
            format!(
                "{}: {} a month, {} less",
                other.layout.target(),
                money.told(&other.cost),
                money.of(answer
                    .cost
                    .microusd_month()
                    .saturating_sub(other.cost.microusd_month()))
            )
        };
        blocks.push(Block::List(others.iter().map(as_much).collect()));
    }
    blocks
}

/// What is paid for and can never be used.
fn idle(idle: &Idle) -> String {
    let of = Binding::Limit(idle.limit);
    format!(
        "paid for and never used: {}, {} of {} cannot pass {} ({})",
        idle.limit.words(),
        amount(of, idle.has - idle.passes),
        amount(of, idle.has),
        idle.held_by.words(),
        amount(Binding::Limit(idle.held_by), idle.passes)
    )
}

fn change_words(change: &Change<'_>, money: &Currency) -> String {
    let answer = &change.answer;
    let what = match change.to {
        fathom_plan::explain::To::OneMoreDisk => String::from("one disk more"),
        fathom_plan::explain::To::LargerDisk => String::from("the next larger disk"),
        fathom_plan::explain::To::LargerMachine => {
            format!("the next machine of the series, {}", name(&answer.layout))
        }
        fathom_plan::explain::To::OneDiskLess => String::from("one disk less"),
    };
    let more = if change.microusd_more >= 0 { "more" } else { "less" };
    let binding = answer
        .judged
        .binding()
        .map(|share| format!("; {} binds then", binds(share)));
    format!(
        "{what} ({}): {}, {} {} a month {more}{}",
        answer.layout.disks_word(),
        rates(&answer.judged.sustained),
        money.code,
        money.of(change.microusd_more.unsigned_abs()),
        binding.unwrap_or_default()
    )
}

fn name<'a>(layout: &Layout<'a>) -> &'a str {
    layout.machine.map_or("none", |vm| &vm.name)
}
