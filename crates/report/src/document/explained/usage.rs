//! CPU, memory, disks and network by utilization, saturation and errors; and what follows from them where nothing else is known.
//!
//! Data in: a [`Usage`]. Data out: blocks and lines. It must not judge.

use super::super::content::{Block, Notice, Table};
use super::percent;
use fathom_analysis::usage::{Aspect, PodUse, Resource, Usage, UseLimit, UseRow, UseUnit, UseVerdict};
use fathom_core::units::{Nanos, count, decimal_rate, three_digits};

/// What is told of a lead that has counters alone.
pub(super) const TOLD_MAX: usize = 2;

/// The table.
pub(crate) fn table(usage: &Usage) -> Option<Block> {
    let apart = Nanos(usage.step_ns);
    captioned(
        usage,
        format!(
            "{} readings, {apart} apart; the peak is that of one reading",
            usage.readings
        ),
    )
}

/// The same with other words below.
pub(super) fn captioned(usage: &Usage, caption: String) -> Option<Block> {
    if usage.is_empty() {
        return None;
    }
    let marks = usage.rows.iter().map(|row| match row.verdict {
        UseVerdict::Short => Some(Notice::Warning),
        UseVerdict::NotCounted | UseVerdict::Fine | UseVerdict::Busy => None,
    });
    let marks = marks.collect();
    let head = ["resource", "", "what", "mean", "peak", "limit", "verdict"];
    let mut table = Table::new(3, head, usage.rows.iter().map(cells)).on_terminal(|layout| {
        layout.spare = vec![5, 4];
        layout.cut = Some((30, 18));
        layout.marks = marks;
    });
    table.words_further = vec![5, 6];
    table.caption = caption;
    Some(Block::Table(table))
}

/// The same and what averages cannot show.
pub(crate) fn blocks(usage: &Usage) -> Vec<Block> {
    table(usage).into_iter().collect()
}

/// Whose I/O it was, as far as somebody counts it.
pub(crate) fn pods(usage: &Usage) -> Option<Block> {
    let cells = |pod: &PodUse| {
        let share = pod.share.map_or_else(|| String::from("–"), percent);
        vec![
            pod.pod.clone(),
            pod.device.clone(),
            figure(pod.ios_per_second_mean, UseUnit::IosPerSecond),
            figure(pod.ios_per_second_peak, UseUnit::IosPerSecond),
            figure(pod.bytes_per_second_mean, UseUnit::BytesPerSecond),
            share,
        ]
    };
    let head = ["pod", "disk", "mean", "peak", "bytes", "of the disk's I/Os"];
    let mut table = Table::new(2, head, usage.pods.iter().map(cells));
    table.caption = String::from(
        "as cAdvisor counts the I/O of containers; what is missing to 100 % is no pod's, or a pod's beyond these",
    );
    (!usage.pods.is_empty()).then_some(Block::Table(table))
}

/// What averages over the time between two readings cannot show.
pub(crate) fn hidden(usage: &Usage) -> Option<Block> {
    let hidden = usage.hidden();
    (!hidden.is_empty()).then_some(Block::List(hidden))
}

fn cells(row: &UseRow) -> Vec<String> {
    let told = |value: Option<f64>| value.map_or_else(|| String::from("–"), |value| figure(value, row.unit));
    vec![
        name(&row.resource),
        in_short(row.aspect).to_owned(),
        row.what.to_owned(),
        told(row.mean),
        told(row.peak),
        row.limit
            .as_ref()
            .map_or_else(String::new, |limit| limit_of(limit, row.unit)),
        verdict(row),
    ]
}

/// In words that fit a narrow column: how much was used, what waited, what failed.
const fn in_short(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Utilization => "used",
        Aspect::Saturation => "waits",
        Aspect::Errors => "errors",
    }
}

fn verdict(row: &UseRow) -> String {
    let name = row.verdict.name();
    match row.verdict {
        UseVerdict::Short if row.at_limit > 0.0 => {
            format!("{name}: at it {} of the time", percent(row.at_limit))
        }
        _ => name.to_owned(),
    }
}

fn limit_of(limit: &UseLimit, unit: UseUnit) -> String {
    match (unit, limit.whose.as_str()) {
        (UseUnit::Share, whose) => whose.to_owned(),
        (_, "") => figure(limit.value, unit),
        (_, whose) => format!("{} ({whose})", figure(limit.value, unit)),
    }
}

fn figure(value: f64, unit: UseUnit) -> String {
    match unit {
        UseUnit::Share => percent(value),
        UseUnit::IosPerSecond => format!("{} IOPS", count(value)),
        UseUnit::BytesPerSecond => decimal_rate(value),
        UseUnit::InFlight | UseUnit::Count => three_digits(value),
        UseUnit::PerSecond if value == 0.0 => String::from("0 /s"),
        UseUnit::PerSecond => format!("{} /s", three_digits(value)),
    }
}

/// What a resource is called.
pub(crate) fn name(resource: &Resource) -> String {
    match resource {
        Resource::Cpu => String::from("CPU"),
        Resource::Memory => String::from("memory"),
        Resource::Disk(name) => format!("disk {name}"),
        Resource::Machine => String::from("all disks"),
        Resource::Network(name) => format!("network {name}"),
        Resource::Volume(name) => format!("volume {name}"),
    }
}

/// What to know at once, by counters alone: what limited it, what disturbed it, what to do.
pub(super) fn lines(usage: &Usage) -> Vec<String> {
    if usage.is_empty() {
        return Vec::new();
    }
    let short = usage.short();
    let limited = match &short[..] {
        [] => String::from("nothing that counters show: none of what they count was used up"),
        short => {
            let each: Vec<String> = short.iter().take(TOLD_MAX).map(|row| told(row)).collect();
            each.join("; ")
        }
    };
    let remedy = match short.first().map(|row| &row.resource) {
        None => "nothing, as far as counters tell; record it (fathom record) to see what they hide",
        Some(Resource::Disk(_) | Resource::Machine) => {
            "a disk or a machine with a higher limit (fathom plan), or fewer and larger I/Os"
        }
        Some(Resource::Memory) => "more memory for the load, or a smaller one",
        Some(Resource::Cpu) => "more CPUs, or less work beside the load",
        Some(Resource::Volume(_)) => "a larger volume, or less on it",
        Some(Resource::Network(_)) => "a machine with a faster network: a disk behind it shares it",
    };
    vec![
        format!("What limited it: {limited}."),
        format!(
            "What disturbed it: counters do not tell; they are averages over {}.",
            Nanos(usage.step_ns)
        ),
        format!("What to do: {remedy}."),
    ]
}

pub(super) fn told(row: &UseRow) -> String {
    let resource = name(&row.resource);
    let value = row.mean.map_or_else(String::new, |mean| figure(mean, row.unit));
    match &row.limit {
        Some(limit) if row.at_limit > 0.0 => format!(
            "{resource}, {}: {} of the time at {}",
            row.what,
            percent(row.at_limit),
            limit_of(limit, row.unit)
        ),
        _ => format!("{resource}, {}: {value} in the mean", row.what),
    }
}
