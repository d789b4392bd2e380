//! What a run leaves: summaries, histograms, errors in words.

use super::job::RunningJob;
use super::{accounts, phases};
use crate::backends::NullBackend;
use crate::collect::summarize;
use crate::content::Content;
use crate::driver::Driver;
use crate::errors::{ErrorEntry, What};
use crate::interval::{Exchange, Interval, Metrics};
use crate::plan::{JobPlan, WorkerFiles};
use crate::thread::{Report, worker_plan};
use crate::worker::{Ends, FileTally, Kept, LATE, Worker};
use fathom_core::clock::Clock;
use fathom_core::run::{
    FileSummary, Floor, HistogramRow, JobSummary, ReplaySummary, RunError, Status, WorkerAccount,
};
use fathom_core::units::{MonoTime, Nanos};
use fathom_sys::clock::HostClock;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// How long the null engine runs for the floor.
const FLOOR_TIME: Nanos = Nanos::from_millis(20);

/// The outcome of a run.
#[derive(Debug, Clone)]
pub struct Results {
    /// How it ended.
    pub status: Status,
    /// When the first job was let go.
    pub epoch: MonoTime,
    /// When the last worker had ended; the epoch where none began.
    pub end: MonoTime,
    /// Each job section.
    pub jobs: Vec<JobSummary>,
    /// Each reporting group.
    pub groups: Vec<JobSummary>,
    /// All of it, where there are several groups.
    pub total: Option<JobSummary>,
    /// The histograms of all jobs.
    pub histograms: Vec<HistogramRow>,
    /// Each worker by itself, of the jobs that asked for it ([`fathom_core::workload::Job::count_workers`]).
    pub accounts: Vec<WorkerAccount>,
    /// Files that were to be removed after the run and could not be, each with the reason.
    pub unremoved: Vec<String>,
}

pub(super) fn results(jobs: &[RunningJob], epoch: MonoTime, status: Status) -> Results {
    let mut histograms = Vec::new();
    for job in jobs {
        job.collector.histograms(&mut histograms);
    }
    let groups = phases::groups(jobs).into_iter();
    let groups = groups.map(|(group, members)| summary(group, &members));
    let groups: Vec<JobSummary> = groups.collect();
    let total = (groups.len() > 1).then(|| {
        let all: Vec<&RunningJob> = jobs.iter().collect();
        JobSummary {
            name: format!("{} jobs", jobs.len()),
            // Each has them by itself.
            errors: Vec::new(),
            ..summary(0, &all)
        }
    });
    let reports = jobs.iter().flat_map(|job| job.reports.iter().flatten());
    Results {
        status,
        epoch,
        end: reports.map(|report| report.end.end).max().unwrap_or(epoch),
        jobs: jobs
            .iter()
            .map(|job| summary(job.plan.job.group, &[job]))
            .collect(),
        groups,
        total,
        histograms,
        accounts: accounts::accounts(jobs, epoch),
        unremoved: Vec::new(),
    }
}

/// One or more jobs together.
fn summary(group: u32, members: &[&RunningJob]) -> JobSummary {
    let names: Vec<&str> = members.iter().map(|job| job.plan.job.name.as_str()).collect();
    let mut totals = Interval::new();
    let mut metrics = Metrics {
        split: false,
        response: false,
    };
    let mut result = JobSummary {
        name: names.join(", "),
        group,
        workers: members.iter().map(|job| job.plan.workers.len() as u32).sum(),
        ..JobSummary::default()
    };
    let (mut start, mut end) = (u64::MAX, 0);
    for job in members {
        job.collector.add_to(&mut totals);
        metrics.split |= job.collector.metrics().split;
        metrics.response |= job.collector.metrics().response;
        result.errors.extend(job.failure.as_ref().map(describe_start));
        for (number, report) in job.reports.iter().enumerate() {
            let Some(report) = report else { continue };
            start = start.min(report.end.start.0);
            end = end.max(report.end.end.0);
            result.cpu.merge(&report.cpu);
            result.backlog_end += report.end.backlog;
            add_errors(&mut result.errors, job, number, report);
        }
    }
    result.files = files(members);
    result.replay = replay(members);
    let percentiles = members[0].collector.percentiles();
    summarize(
        &totals,
        metrics,
        percentiles,
        end.saturating_sub(start),
        &mut result,
    );
    // Several jobs, or workers that were not all done writing, have no one moment of turning.
    let reports = || members.iter().flat_map(|job| job.reports.iter().flatten());
    let turns: Option<Vec<u64>> = reports()
        .map(|report| report.end.read_back_start.map(|at| at.0))
        .collect();
    if let (Some(turns), [job]) = (turns, members) {
        let only_writes = !job.plan.job.pattern.mix.uses()[0];
        let (first, last) = (turns.iter().min(), turns.iter().max());
        if let (Some(first), Some(last)) = (first, last) {
            let reading_ns = if only_writes {
                end.saturating_sub(*first)
            } else {
                result.runtime_ns
            };
            split_rates(&mut result, last.saturating_sub(start), reading_ns);
        }
    }
    result
}

/// How the times of a record were kept, over all workers that played it.
fn replay(members: &[&RunningJob]) -> Option<ReplaySummary> {
    let played = || members.iter().filter_map(|job| job.plan.job.replay.as_ref());
    let recorded: u64 = played().map(|replay| replay.ios.iter().sum::<u64>()).sum();
    let mut kept: Option<Kept> = None;
    for report in members.iter().flat_map(|job| job.reports.iter().flatten()) {
        if let Some(part) = &report.end.kept {
            kept.get_or_insert_default().merge(part);
        }
    }
    let kept = kept?;
    Some(ReplaySummary {
        start_error_ns: kept.errors.summary(members[0].collector.percentiles()),
        late_from_ns: LATE.0,
        late_ios: kept.late,
        late_no_room_ios: kept.late_no_room,
        late_reading_ios: kept.late_reading,
        unsent_ios: recorded.saturating_sub(kept.sent),
        left_out: played()
            .flat_map(|replay| replay.left_out.iter().cloned())
            .collect(),
    })
}

/// What was done on each file, all workers together, where that was counted; in the order of the workers' files.
fn files(members: &[&RunningJob]) -> Vec<FileSummary> {
    let mut order: Vec<&Path> = Vec::new();
    let mut tallies: BTreeMap<&Path, FileTally> = BTreeMap::new();
    for job in members.iter().filter(|job| job.plan.job.count_files) {
        for (worker, report) in job.plan.workers.iter().zip(&job.reports) {
            let counted = report.as_ref().map(|report| &*report.end.files);
            for (at, file) in worker.files.iter().enumerate() {
                let tally = tallies.entry(&file.path).or_insert_with(|| {
                    order.push(&file.path);
                    FileTally::default()
                });
                if let Some(more) = counted.and_then(|files| files.get(at)) {
                    tally.merge(more);
                }
            }
        }
    }
    let summary = |path: &Path| FileSummary {
        path: path.display().to_string(),
        read: tallies[path].read.count(),
        write: tallies[path].write.count(),
    };
    order.into_iter().map(summary).collect()
}

/// Takes the rates of a job that read back what it wrote over the part in which each was done.
fn split_rates(result: &mut JobSummary, writing_ns: u64, reading_ns: u64) {
    for (op, ns) in [
        (&mut result.read, reading_ns),
        (&mut result.write, writing_ns),
        (&mut result.trim, writing_ns),
        (&mut result.sync, writing_ns),
    ] {
        let rate = |n: u64| if ns == 0 { 0.0 } else { n as f64 * 1e9 / ns as f64 };
        op.runtime_ns = ns;
        op.iops = rate(op.ios);
        op.bytes_per_second = rate(op.bytes);
    }
}

pub(super) fn add_errors(errors: &mut Vec<RunError>, job: &RunningJob, number: usize, report: &Report) {
    for (entry, remark) in report.end.errors.entries().zip(&report.remarks) {
        let mut error = describe(entry, job, number, report);
        if let Some(remark) = remark {
            error.message.clone_from(remark);
        }
        match errors
            .iter_mut()
            .find(|known| known.what == error.what && known.errno == error.errno)
        {
            Some(known) => known.count += error.count,
            None => errors.push(error),
        }
    }
    if report.end.errors.others > 0 {
        errors.push(RunError {
            what: String::from("others"),
            errno: 0,
            message: String::from("errors of further kinds"),
            count: report.end.errors.others,
            path: String::new(),
            offset_bytes: 0,
            length_bytes: 0,
        });
    }
}

fn describe(entry: &ErrorEntry, job: &RunningJob, number: usize, report: &Report) -> RunError {
    let (what, message) = match entry.what {
        What::Io(op) => (op.name(), entry.errno.to_string()),
        What::EndOfFile(op) => (
            op.name(),
            String::from("nothing there: the file ends before this offset; it shrank while the run went on"),
        ),
        What::Mismatch => (
            "verify",
            String::from("the contents are not what was written there"),
        ),
        What::Other(call) => (
            call,
            report
                .backend_error
                .as_ref()
                .map_or_else(|| entry.errno.to_string(), ToString::to_string),
        ),
    };
    let place = job
        .plan
        .workers
        .get(number)
        .and_then(|worker| worker.files.get(entry.file as usize));
    RunError {
        what: what.to_owned(),
        errno: entry.errno.0,
        message,
        count: entry.count,
        path: place
            .map(|file| file.path.display().to_string())
            .unwrap_or_default(),
        offset_bytes: entry.offset,
        length_bytes: entry.len,
    }
}

/// Why a job of a later phase did not start.
pub(super) fn describe_start(failure: &super::RunError) -> RunError {
    let (what, source, path) = match failure {
        super::RunError::Start { failure, .. } => {
            (failure.what.name(), Some(&failure.source), failure.path.as_ref())
        }
        super::RunError::Thread(source) => ("start", Some(source), None),
        super::RunError::Panic { .. } => ("panic", None, None),
        _ => ("start", None, None),
    };
    RunError {
        what: what.to_owned(),
        errno: source.and_then(std::io::Error::raw_os_error).unwrap_or(0),
        message: source.map_or_else(|| failure.to_string(), ToString::to_string),
        count: 1,
        path: path.map(|path| path.display().to_string()).unwrap_or_default(),
        offset_bytes: 0,
        length_bytes: 0,
    }
}

/// What the tool itself costs an I/O of this job: its loop, pattern, depth and statistics, on a backend that
/// does nothing, for 20 ms. `None` where the job cannot say (no I/O was done in that time).
pub fn floor(plan: &JobPlan, clock: &HostClock) -> Option<Floor> {
    // Its pattern is not its own.
    if plan.job.replay.is_some() {
        return None;
    }
    let mut job = plan.job.clone();
    job.limit.runtime = Some(FLOOR_TIME);
    job.limit.time_based = true;
    job.limit.ramp_time = Nanos::ZERO;
    job.limit.cooldown_time = Nanos::ZERO;
    job.pace = fathom_core::workload::Pace::default();
    job.verify = None;
    let files: &WorkerFiles = plan.workers.first()?;
    let settings = worker_plan(&job, files, 0);
    let depth = settings.depth;
    let mut worker = Worker::new(settings, Arc::new(Exchange::new()), Ends::default());
    let mut clock = clock.clone();
    let mut content = Content::new(&job, 0, 0);
    let mut backend = NullBackend::new(depth);
    let before = fathom_sys::process::resource_usage_thread().ok()?;
    let now = clock.now();
    worker.start(now, now);
    Driver::new(&mut worker, &mut backend, &mut clock, &mut content, job.depth)
        .run()
        .ok()?;
    let used = fathom_sys::process::resource_usage_thread().ok()?.since(&before);
    let ios = worker.finish(clock.now()).issued;
    // The loop never waits, so all its CPU time is its own.
    let ns_per_io = (used.user_ns + used.system_ns) as f64 / ios.max(1) as f64;
    (ios > 0).then_some(Floor { ns_per_io, ios })
}
