//! The same load on many machines at one moment: what they do together, whose limit holds them, each of them.
//!
//! Data in: a [`FleetReport`]. Data out: a document. It must not judge.

use super::content::{Block, Document, Notice, Table};
use crate::fleet::FleetReport;
use crate::words::{joined, plural};
use fathom_analysis::fleet::{Fleet, Limit, Limited, Member, Shown, Total};
use fathom_core::units::{Nanos, count};

/// So many members are shown on a terminal and a page; all are in the JSON.
const MEMBERS_MAX: usize = 100;
const MIB: f64 = 1_048_576.0;

pub(crate) fn document(report: &FleetReport<'_>) -> Document {
    let fleet = report.fleet;
    let at_once = fleet.limit != Limit::Apart;
    let (noun, how) = if at_once { ("pod", " at once") } else { ("run", "") };
    let members = plural(fleet.members.len(), noun);
    let mut document = Document::titled(format!("{members}{how} on {}", report.on));
    let begun = report.skew_ns.map(|(skew, open)| {
        format!(
            "begun within {}, give or take {} of their clocks",
            Nanos(skew),
            Nanos(open)
        )
    });
    document.add("", begun.into_iter().chain([limit(fleet.limit)]).map(Block::Text));
    let head = ["", "I/Os", "IOPS", "MiB/s", "p50", "p95", "p99", "p99.9"];
    let totals = Table::new(1, head, fleet.total.iter().map(together));
    let together_heading = if at_once { "Together" } else { "All of them" };
    document.add(together_heading, [Block::Table(totals)]);
    if !fleet.limited.is_empty() {
        let rows = fleet.limited.iter().map(|one| limited(fleet, one));
        let table = Table::new(1, ["limited by", "so many", "of them"], rows);
        document.add("What limited each by itself", [Block::Table(table)]);
    }
    let behind = fleet
        .stragglers
        .iter()
        .filter_map(|&place| fleet.members.get(place));
    let behind = joined(behind.map(named), ", ");
    let notice =
        (!behind.is_empty()).then(|| Block::Notice(Notice::Warning, format!("behind the others: {behind}")));
    let mut table = Table::new(
        2,
        [noun, "node", "IOPS", "MiB/s", "p50", "p99"],
        fleet.members.iter().take(MEMBERS_MAX).map(row),
    );
    if fleet.members.len() > MEMBERS_MAX {
        table.caption = format!("the first {MEMBERS_MAX}");
    }
    document.add("Each", notice.into_iter().chain([Block::Table(table)]));
    document
}

/// One limit, and some of those that have it.
fn limited(fleet: &Fleet, one: &Limited) -> Vec<String> {
    const NAMED: usize = 3;
    let named = one.members.iter().filter_map(|&place| fleet.members.get(place));
    let mut names = joined(named.take(NAMED).map(self::named), ", ");
    if one.members.len() > NAMED {
        names.push_str(", …");
    }
    vec![one.by.clone(), count(one.members.len() as f64), names]
}

fn named(member: &Member) -> String {
    match &member.node {
        Some(node) => format!("{} on {node}", member.name),
        None => member.name.clone(),
    }
}

fn limit(limit: Limit) -> String {
    let iops = |iops: f64| count(iops.round());
    match limit {
        Limit::Shared {
            iops: together,
            shown_by: Shown::Alone { iops_alone },
        } => format!(
            "together they get {} IOPS: a limit that all share, not the volumes' own: one alone gets {} IOPS",
            iops(together),
            iops(iops_alone)
        ),
        Limit::Shared {
            iops: together,
            shown_by: Shown::Movement { ratio },
        } => format!(
            "together they get {} IOPS: a limit that all share, not the volumes' own: each moves, and their sum has {:.0} % of the \
             variance that it would have if they moved on their own",
            iops(together),
            ratio * 100.0
        ),
        Limit::Own { iops_alone } => format!(
            "what one has alone ({} IOPS), each has beside the others: no limit that they share was reached",
            iops(iops_alone)
        ),
        Limit::Independent => String::from("each moves on its own: no limit that they share shows"),
        Limit::Steady => String::from(
            "each is steady: limits of their own and one that is divided evenly look alike; --alone measures one by itself first, \
             and tells",
        ),
        Limit::Apart => String::from(
            "they did not begin at one moment: sums of rates are what they would have together if nothing they share holds them, and \
             whose limit it is cannot be told",
        ),
        Limit::TooShort { seconds } => format!(
            "whose limit it is cannot be told from {} that all have: run for at least 10, or with --alone",
            plural(seconds, "second")
        ),
    }
}

fn together(total: &Total) -> Vec<String> {
    let percentile = |percentile: f64| {
        let value = total.lat_ns.percentile(percentile);
        Nanos(value.unwrap_or_default()).to_string()
    };
    vec![
        total.op.to_owned(),
        count(total.ios as f64),
        count(total.iops.round()),
        format!("{:.1}", total.bytes_per_second / MIB),
        percentile(50.0),
        percentile(95.0),
        percentile(99.0),
        percentile(99.9),
    ]
}

fn row(member: &Member) -> Vec<String> {
    vec![
        member.name.clone(),
        member.node.clone().unwrap_or_default(),
        count(member.iops.round()),
        format!("{:.1}", member.bytes_per_second / MIB),
        Nanos(member.lat_ns_p50).to_string(),
        Nanos(member.lat_ns_p99).to_string(),
    ]
}
