//! A summary from the series alone: for a run that was killed before it could write its own.
//!
//! Data in: the workload, the rows and the histograms that were kept. Data out: counts, rates and latencies, from
//! the rows; percentiles from the histograms (those of different seconds cannot be merged), which lack up to ten
//! seconds that the rows have. It must not guess what they do not say: CPU time, disks and errors by kind stay
//! empty.

mod percentiles;

use crate::latencies::merged;
use fathom_core::backend::Op;
use fathom_core::run::{HistogramRow, JobSummary, OpSummary, Run, SeriesRow};
use fathom_core::units::MonoTime;
use fathom_core::workload::Job;
use std::collections::BTreeMap;

/// Fills the jobs and groups of a run's summary from its series and its histograms so far, where they are empty.
pub fn fill(run: &mut Run, series: &[SeriesRow], histograms: &[HistogramRow]) {
    if !run.summary.jobs.is_empty() {
        return;
    }
    let jobs = &run.workload.jobs;
    let of_jobs = |wanted: &[u32]| -> Vec<&SeriesRow> {
        let counts = |row: &&SeriesRow| !row.ramp && wanted.contains(&row.job);
        series.iter().filter(counts).collect()
    };
    let of_members = |members: &[(u32, &Job)]| {
        let (indices, jobs): (Vec<u32>, Vec<&Job>) = members.iter().copied().unzip();
        let mut summary = summary(&jobs, &of_jobs(&indices));
        let list = jobs.first().map_or(&[][..], |job| &job.percentiles.list);
        percentiles::fill(&mut summary, &indices, list, histograms);
        summary
    };
    let all: Vec<(u32, &Job)> = (0u32..).zip(jobs).collect();
    run.summary.jobs = all.chunks(1).map(of_members).collect();
    let mut groups: Vec<u32> = jobs.iter().map(|job| job.group).collect();
    groups.sort_unstable();
    groups.dedup();
    run.summary.total = (groups.len() > 1).then(|| JobSummary {
        name: format!("{} jobs", jobs.len()),
        ..of_members(&all)
    });
    let of_group = |group: u32| {
        let members = all.iter().copied().filter(|(_, job)| job.group == group);
        of_members(&members.collect::<Vec<_>>())
    };
    run.summary.groups = groups.into_iter().map(of_group).collect();
}

/// One job or group from its rows after the ramp.
fn summary(jobs: &[&Job], rows: &[&SeriesRow]) -> JobSummary {
    let end = rows.iter().map(|row| row.end.0).max().unwrap_or(0);
    let start = rows
        .iter()
        .map(|row| row.end.0.saturating_sub(row.duration_ns))
        .min();
    let runtime_ns = end.saturating_sub(start.unwrap_or(end));
    // Of each job the last row; each direction's has the backlog of all.
    let mut at_the_end: BTreeMap<u32, (MonoTime, u64)> = BTreeMap::new();
    for row in rows {
        let last = at_the_end.entry(row.job).or_insert((row.end, row.backlog));
        if row.end >= last.0 {
            *last = (row.end, row.backlog);
        }
    }
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let mut result = JobSummary {
        name: names.join(", "),
        group: jobs.first().map_or(0, |job| job.group),
        workers: jobs.iter().map(|job| job.numjobs).sum(),
        runtime_ns,
        backlog_max: rows.iter().map(|row| row.backlog).max().unwrap_or(0),
        backlog_end: at_the_end.values().map(|(_, backlog)| backlog).sum(),
        ..JobSummary::default()
    };
    for op in [Op::Read, Op::Write, Op::Trim, Op::Sync] {
        let rows: Vec<&SeriesRow> = rows
            .iter()
            .copied()
            .filter(|row| row.op.index() == op.index())
            .collect();
        *result.op_mut(op) = direction(&rows, runtime_ns);
    }
    result
}

fn direction(rows: &[&SeriesRow], runtime_ns: u64) -> OpSummary {
    let ios: u64 = rows.iter().map(|row| row.ios).sum();
    let bytes: u64 = rows.iter().map(|row| row.bytes).sum();
    let per_second = |amount: u64| match runtime_ns {
        0 => 0.0,
        ns => amount as f64 / (ns as f64 / 1e9),
    };
    OpSummary {
        ios,
        bytes,
        errors: rows.iter().map(|row| row.errors).sum(),
        runtime_ns,
        iops: per_second(ios),
        bytes_per_second: per_second(bytes),
        lat_ns: merged(rows.iter().map(|row| &row.lat)),
        response_ns: merged(rows.iter().map(|row| &row.response)),
        ..OpSummary::default()
    }
}

#[cfg(test)]
mod tests;
