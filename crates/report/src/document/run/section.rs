//! What is reported together: a job section, or a group of them, and its headlines.

use super::super::content::{Block, Bold, Notice, Table};
use crate::words::{plural, when};
use fathom_analysis::warnings::is_supported;
use fathom_core::backend::Op;
use fathom_core::run::{JobSummary, LatencySummary, OpSummary, Run};
use fathom_core::units::{Bytes, Nanos, binary_rate, count, decimal_rate};
use fathom_core::workload::Job;

/// Results with the jobs that they are of.
pub(crate) struct Section<'a> {
    pub(crate) summary: &'a JobSummary,
    pub(crate) jobs: Vec<&'a Job>,
}

impl<'a> Section<'a> {
    /// The data directions that did or tried anything.
    pub(crate) fn directions(&self) -> impl Iterator<Item = Direction<'a>> {
        let (of, open_loop) = (self.summary, self.is_open_loop());
        let all = Op::DATA.into_iter().map(move |op| (op, of.op(op)));
        let met = all.filter(|(_, summary)| summary.ios > 0 || summary.errors > 0);
        met.map(move |(op, summary)| {
            let (latency, metric) = main_latency(summary, open_loop);
            Direction {
                op,
                summary,
                latency,
                metric,
            }
        })
    }
    /// fsync and fdatasync, where there were any.
    pub(crate) fn sync(&self) -> Option<&'a OpSummary> {
        let sync = &self.summary.sync;
        (sync.ios > 0 || sync.errors > 0).then_some(sync)
    }
    /// Whether any of its jobs follows a schedule.
    pub(crate) fn is_open_loop(&self) -> bool {
        self.jobs.iter().any(|job| job.is_open_loop())
    }
}

/// A direction of a section.
pub(crate) struct Direction<'a> {
    pub(crate) op: Op,
    pub(crate) summary: &'a OpSummary,
    /// The latency that it is judged by, and its name.
    pub(crate) latency: &'a LatencySummary,
    pub(crate) metric: &'static str,
}

impl Direction<'_> {
    /// What only failed has no latency.
    pub(crate) fn mean(&self) -> Option<Nanos> {
        (self.latency.n > 0).then_some(Nanos(self.latency.mean.round() as u64))
    }
    pub(crate) fn slowest(&self) -> Option<Nanos> {
        (self.latency.n > 0).then_some(Nanos(self.latency.max))
    }
    /// A percentile that enough I/Os decide.
    pub(crate) fn percentile(&self, percentile: f64) -> Option<Nanos> {
        let value = self.latency.percentile(percentile)?;
        is_supported(self.latency.n, percentile).then_some(Nanos(value))
    }
}

/// Response time where there is a schedule (what a stalled disk kept from being sent counts), else total latency, else what
/// there is.
fn main_latency(summary: &OpSummary, open_loop: bool) -> (&LatencySummary, &'static str) {
    if open_loop && summary.response_ns.n > 0 {
        (&summary.response_ns, "response")
    } else if summary.lat_ns.n > 0 {
        (&summary.lat_ns, "lat")
    } else {
        (&summary.clat_ns, "clat")
    }
}

/// The sections of a run in the order of its jobs: groups where the jobs asked for group reporting.
pub(super) fn of(run: &Run) -> Vec<Section<'_>> {
    let jobs = &run.workload.jobs;
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (index, summary) in run.summary.jobs.iter().enumerate() {
        let job = jobs.get(index);
        let grouped = job.filter(|job| job.group_reporting);
        let group = grouped.and_then(|job| run.summary.groups.iter().find(|group| group.group == job.group));
        let section = match group {
            None => Section {
                summary,
                jobs: job.into_iter().collect(),
            },
            Some(summary) => Section {
                summary,
                jobs: members(run, summary.group),
            },
        };
        let shown = |shown: &Section<'_>| std::ptr::eq(shown.summary, section.summary);
        if !sections.iter().any(shown) {
            sections.push(section);
        }
    }
    sections
}

fn members(run: &Run, group: u32) -> Vec<&Job> {
    run.workload
        .jobs
        .iter()
        .filter(|job| job.group == group)
        .collect()
}

/// Sums of several jobs that no section shows: of each reporting group, and of all of them.
pub(super) fn totals(run: &Run) -> Vec<(String, Section<'_>)> {
    let jobs = &run.workload.jobs;
    let groups = &run.summary.groups;
    let mut totals = Vec::new();
    for summary in groups {
        let jobs = members(run, summary.group);
        if jobs.len() < 2 || jobs.iter().any(|job| job.group_reporting) {
            continue;
        }
        let name = match groups.len() {
            1 => format!("all {} jobs", jobs.len()),
            _ => format!("group {} ({} jobs: {})", summary.group, jobs.len(), summary.name),
        };
        totals.push((name, Section { summary, jobs }));
    }
    if let Some(summary) = &run.summary.total {
        let jobs: Vec<&Job> = jobs.iter().collect();
        let name = format!("all {} jobs, one after another or together", jobs.len());
        totals.push((name, Section { summary, jobs }));
    }
    totals
}

/// A line a direction: rate, bandwidth in both units, amount, time; then what else became of the I/Os.
pub(super) fn headlines(section: &Section<'_>) -> Vec<Block> {
    let rows = rows(section, true);
    if rows.is_empty() {
        return vec![Block::Text(String::from("no I/O was completed"))];
    }
    let table = Table::new(1, [""; 0], rows).on_terminal(|layout| {
        layout.bold = Bold::All;
        // The time is in the title of the section, too.
        layout.narrow = self::rows(section, false);
    });
    let mut blocks = vec![Block::Table(table)];
    remarks(&mut blocks, section);
    blocks
}

fn rows(section: &Section<'_>, with_time: bool) -> Vec<Vec<String>> {
    let time = |runtime_ns: u64| when(with_time, || format!(" in {}", Nanos(runtime_ns)));
    let row = |Direction { op, summary, .. }: Direction<'_>| {
        vec![
            op.name().to_owned(),
            format!("{} IOPS", count(summary.iops)),
            binary_rate(summary.bytes_per_second),
            format!("({})", decimal_rate(summary.bytes_per_second)),
            format!("{}{}", Bytes(summary.bytes), time(summary.runtime_ns)),
        ]
    };
    let sync = section.sync().map(|sync| {
        let rate = format!("{} calls/s", count(sync.iops));
        vec![String::from("sync"), rate]
    });
    section.directions().map(row).chain(sync).collect()
}

/// Failed, short and verified I/Os.
fn remarks(blocks: &mut Vec<Block>, section: &Section<'_>) {
    for op in [Op::Read, Op::Write, Op::Trim, Op::Sync] {
        let (name, summary) = (op.name(), section.summary.op(op));
        if summary.errors > 0 {
            let text = format!("{} failed", plural(summary.errors, name));
            blocks.push(Block::Notice(Notice::Failure, text));
        }
        if summary.short_ios > 0 {
            let (short, all) = (summary.short_ios, plural(summary.ios, name));
            blocks.push(Block::Text(format!(
                "{short} of {all} moved fewer bytes than asked"
            )));
        }
        if summary.lost_ios > 0 {
            let lost = plural(summary.lost_ios, "datagram");
            let remedy = "a larger window_size at the receiver, or a lower rate, loses fewer";
            blocks.push(Block::Text(format!("{lost} lost on the way: {remedy}")));
        }
    }
    if section.summary.verified_ios > 0 {
        let verified = plural(section.summary.verified_ios, "I/O");
        blocks.push(Block::Text(format!("{verified} verified")));
    }
}
