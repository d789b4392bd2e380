//! What is reported together: a job section, or a group of them, and its headlines.

use super::Page;
use crate::layout::{table, table_width};
use crate::style::Look;
use crate::words::plural;
use fathom_core::backend::Op;
use fathom_core::run::{JobSummary, OpSummary, Run};
use fathom_core::units::{Bytes, Nanos, binary_rate, count, decimal_rate};
use fathom_core::workload::Job;

/// Results with the jobs that they are of.
pub(crate) struct Section<'a> {
    pub(crate) summary: &'a JobSummary,
    pub(crate) jobs: Vec<&'a Job>,
}

impl<'a> Section<'a> {
    /// The data directions that did or tried anything.
    pub(crate) fn directions(&self) -> impl Iterator<Item = (Op, &'a OpSummary)> {
        let summary = self.summary;
        Op::DATA
            .into_iter()
            .map(move |op| (op, summary.op(op)))
            .filter(|(_, op)| op.ios > 0 || op.errors > 0)
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

/// The sections of a run in the order of its jobs: groups where the jobs asked for group reporting.
pub(crate) fn of(run: &Run) -> Vec<Section<'_>> {
    let jobs = &run.workload.jobs;
    let mut sections = Vec::new();
    let mut groups_shown = Vec::new();
    for (index, summary) in run.summary.jobs.iter().enumerate() {
        let job = jobs.get(index);
        let group = job
            .filter(|job| job.group_reporting)
            .and_then(|job| run.summary.groups.iter().find(|group| group.group == job.group));
        let Some(group) = group else {
            sections.push(Section {
                summary,
                jobs: job.into_iter().collect(),
            });
            continue;
        };
        if !groups_shown.contains(&group.group) {
            groups_shown.push(group.group);
            sections.push(Section {
                summary: group,
                jobs: jobs.iter().filter(|job| job.group == group.group).collect(),
            });
        }
    }
    sections
}

/// Sums of several jobs that no section shows: of each reporting group, and of all of them.
pub(crate) fn totals(run: &Run) -> Vec<(String, Section<'_>)> {
    let jobs = &run.workload.jobs;
    let members = |group: u32| -> Vec<&Job> { jobs.iter().filter(|job| job.group == group).collect() };
    let groups = &run.summary.groups;
    let mut totals = Vec::new();
    for summary in groups {
        let jobs = members(summary.group);
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

/// The totals, each with its headlines.
pub(super) fn total_lines(page: &mut Page, run: &Run) {
    for (name, section) in totals(run) {
        page.gap();
        let ran = Nanos(section.summary.runtime_ns);
        page.painted(Look::Bold, &format!("total of {name}: {ran}"), 2);
        headlines(page, &section);
    }
}

/// A line a direction: rate, bandwidth in both units, amount, time; then what else became of the I/Os.
pub(super) fn headlines(page: &mut Page, section: &Section<'_>) {
    let mut rows = rows(section, true);
    if rows.is_empty() {
        page.paragraph("  no I/O was completed", 4);
        return;
    }
    if table_width(&rows, 2) > page.columns() {
        rows = self::rows(section, false);
    }
    for line in table(&rows, 1, 2) {
        page.painted_line(Look::Bold, &line);
    }
    remarks(page, section);
}

/// The cells of the headlines. The time can be left out: it is in the title of the section, too.
fn rows(section: &Section<'_>, with_time: bool) -> Vec<Vec<String>> {
    let time = |runtime_ns: u64| {
        if with_time {
            format!(" in {}", Nanos(runtime_ns))
        } else {
            String::new()
        }
    };
    let mut rows: Vec<Vec<String>> = section
        .directions()
        .map(|(op, summary)| {
            vec![
                op.name().to_owned(),
                format!("{} IOPS", count(summary.iops)),
                binary_rate(summary.bytes_per_second),
                format!("({})", decimal_rate(summary.bytes_per_second)),
                format!("{}{}", Bytes(summary.bytes), time(summary.runtime_ns)),
            ]
        })
        .collect();
    if let Some(sync) = section.sync() {
        rows.push(vec![
            String::from("sync"),
            format!("{} calls/s", count(sync.iops)),
        ]);
    }
    rows
}

/// Failed, short and verified I/Os.
fn remarks(page: &mut Page, section: &Section<'_>) {
    for op in [Op::Read, Op::Write, Op::Trim, Op::Sync] {
        let (name, summary) = (op.name(), section.summary.op(op));
        if summary.errors > 0 {
            page.painted(
                Look::Red,
                &format!("  {} failed", plural(summary.errors, name)),
                4,
            );
        }
        if summary.short_ios > 0 {
            let (short, all) = (summary.short_ios, plural(summary.ios, name));
            page.paragraph(&format!("  {short} of {all} moved fewer bytes than asked"), 4);
        }
    }
    if section.summary.verified_ios > 0 {
        let verified = section.summary.verified_ios;
        page.paragraph(&format!("  {} verified", plural(verified, "I/O")), 4);
    }
}
