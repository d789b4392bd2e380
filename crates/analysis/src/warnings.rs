//! The warnings that follow from the record of a run alone.
//!
//! Data in: a run with its summary. Data out: what to know before trusting its numbers. Each threshold is a
//! constant with its reason. It must not look at the system: what needs that (unwritten extents, page cache,
//! memory file systems) was seen and recorded by others while the run went on.

use fathom_core::run::{CLOCK_MONOTONIC, JobSummary, QUIET_HOST, Requirement, Run, TargetKind, Warning};
use fathom_core::workload::{DEFAULT_PERCENTILES, EngineKind, Job, SyncMode};

/// How far behind its schedule a job may fall, in seconds, before its latencies need the warning. Queueing of
/// a few milliseconds is what random arrivals do; a tenth of a second is a stall that a person would notice.
const BACKLOG_SECONDS: f64 = 0.1;

/// From this share of late I/Os on a replay is not the recorded load any more: it then bears on the 99th percentile.
const REPLAY_LATE_SHARE: f64 = 0.01;

/// CPU use of a worker from which the CPU and not the disk may be the limit. Waiting for even the fastest
/// disk leaves a tenth of the time; a tenth is also what context switches blur.
const CPU_BOUND_PERCENT: f64 = 90.0;

/// I/Os beyond a percentile that it takes to call the percentile measured: with ten, its rank is uncertain by
/// a third (one over the root of ten).
pub const SAMPLES_BEYOND: f64 = 10.0;

/// Below this a job has fewer than five rows of the series, and write caches and burst credits hide the disk.
const SHORT_RUN_NS: u64 = 5_000_000_000;

/// Whether `n` I/Os are enough for a percentile (0 to 100): at least ten of them lie beyond it. The 100th, the
/// maximum, is exact with any.
pub fn is_supported(n: u64, percentile: f64) -> bool {
    // 100 - 99.9 is not exact in binary: 10000 I/Os must do for p99.9.
    percentile >= 100.0 || n as f64 * (100.0 - percentile) / 100.0 >= SAMPLES_BEYOND - 1e-6
}

/// All warnings that follow from the record, in the order of their weight: the program, the host, then each job.
/// Those already in `run.summary.warnings` are not repeated nor returned.
pub fn judge(run: &Run) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(debug_build(run));
    warnings.extend(busy_host(run));
    warnings.extend(slow_clock(run));
    warnings.extend(unknown_devices(run));
    for (job, summary) in run.workload.jobs.iter().zip(&run.summary.jobs) {
        let backlog = backlog(job, summary);
        let modelled = run.summary.target.modelled;
        if !modelled {
            warnings.extend(buffered_writes(job));
            warnings.extend(cpu_bound(job, summary, backlog.is_some()));
        }
        warnings.extend(backlog);
        warnings.extend(replay_late(job, summary));
        warnings.extend(few_samples(job, summary));
        warnings.extend(short_run(job, summary));
    }
    warnings.retain(|warning| !run.summary.warnings.contains(warning));
    warnings
}

fn debug_build(run: &Run) -> Option<Warning> {
    // In virtual time the program's own cost is no part of any number.
    (run.build.debug && !run.summary.target.modelled).then_some(Warning::DebugBuild)
}

/// As it was judged before the run (requirement `quiet_host`), so that there is one verdict. Virtual time does not care
/// for the host.
fn busy_host(run: &Run) -> Option<Warning> {
    let busy = |requirement: &Requirement| requirement.name == QUIET_HOST && requirement.met == Some(false);
    let busy = run.requirements.iter().any(busy) && !run.summary.target.modelled;
    busy.then_some(Warning::BusyHost {
        load_1min: run.environment.load_1min,
        cpus: run.environment.cpus,
    })
}

fn slow_clock(run: &Run) -> Option<Warning> {
    let source = &run.environment.clock_source;
    let slow = source == CLOCK_MONOTONIC && !run.summary.target.modelled;
    slow.then(|| Warning::SlowClock {
        source: source.clone(),
    })
}

/// One warning a reason: a job with a hundred files in one directory has one cause.
fn unknown_devices(run: &Run) -> Vec<Warning> {
    let mut seen: Vec<(&str, &str, usize)> = Vec::new();
    for file in &run.summary.target.files {
        let on_disk = !matches!(
            file.kind,
            TargetKind::Null | TargetKind::Modelled | TargetKind::Remote
        );
        let Some(reason) = file
            .device_missing
            .as_deref()
            .filter(|_| on_disk && file.device.is_none())
        else {
            continue;
        };
        match seen.iter_mut().find(|(_, known, _)| *known == reason) {
            Some((_, _, more)) => *more += 1,
            None => seen.push((&file.path, reason, 0)),
        }
    }
    let path = |path: &str, more: usize| match more {
        0 => path.to_owned(),
        more => format!("{path} and {more} more"),
    };
    seen.into_iter()
        .map(|(first, reason, more)| Warning::DeviceUnknown {
            path: path(first, more),
            reason: reason.to_owned(),
        })
        .collect()
}

/// Writes that no rule of the job brings to the medium before it ends.
fn buffered_writes(job: &Job) -> Option<Warning> {
    let [_, writes, _] = job.pattern.mix.uses();
    let sync = &job.sync;
    let flushed = sync.mode != SyncMode::None
        || sync.fsync_every > 0
        || sync.fdatasync_every > 0
        || sync.fsync_at_end
        || sync.fsync_on_close;
    let buffered =
        writes && job.writes() && job.uses_page_cache() && !flushed && !job.engine.kind.needs_no_file();
    buffered.then(|| Warning::BufferedWrites {
        job: job.name.clone(),
    })
}

/// How far behind is the backlog over the rate that was reached.
fn backlog(job: &Job, summary: &JobSummary) -> Option<Warning> {
    let most = summary.backlog_max.max(summary.backlog_end);
    // Of a recording it is said I/O by I/O.
    if !job.is_open_loop() || job.replay.is_some() || most == 0 {
        return None;
    }
    let seconds = summary.runtime_ns as f64 / 1e9;
    let rate = summary.total_ios() as f64 / seconds;
    let late = rate.is_nan() || rate <= 0.0 || most as f64 / rate >= BACKLOG_SECONDS;
    late.then(|| Warning::Backlog {
        job: job.name.clone(),
        backlog_max: summary.backlog_max,
        backlog_end: summary.backlog_end,
    })
}

/// Of a recording whose I/Os did not start when they were to: its latencies are those of another load.
fn replay_late(job: &Job, summary: &JobSummary) -> Option<Warning> {
    let replay = summary.replay.as_ref()?;
    let ios = replay.start_error_ns.n;
    let late = replay.late_ios as f64 >= ios as f64 * REPLAY_LATE_SHARE;
    (late && replay.late_ios > 0).then(|| Warning::ReplayLate {
        job: job.name.clone(),
        late_ios: replay.late_ios,
        ios,
        late_from_ns: replay.late_from_ns,
    })
}

/// Workers that spin on purpose (polling, a spinning think time, waiting for the next due I/O) prove nothing; with
/// a schedule only a job that also fell behind may lack CPU.
fn cpu_bound(job: &Job, summary: &JobSummary, behind: bool) -> Option<Warning> {
    let spins = job.engine.poll || job.pace.think.is_some_and(|think| !think.spin.is_zero());
    if spins || job.engine.kind == EngineKind::Null || (job.is_open_loop() && !behind) {
        return None;
    }
    let worker_ns = summary.runtime_ns as f64 * f64::from(summary.workers.max(1));
    let used_ns = summary.cpu.user_ns as f64 + summary.cpu.system_ns as f64;
    let cpu_percent = used_ns / worker_ns * 100.0;
    // Without a runtime the share is not a number, and the comparison is false.
    (cpu_percent >= CPU_BOUND_PERCENT && cpu_percent.is_finite()).then(|| Warning::CpuBound {
        job: job.name.clone(),
        cpu_percent,
    })
}

/// Only for percentiles that were asked for: of the default list a report leaves out what is not supported.
fn few_samples(job: &Job, summary: &JobSummary) -> Option<Warning> {
    let list = &job.percentiles.list;
    if *list == DEFAULT_PERCENTILES {
        return None;
    }
    let below_max = list.iter().copied().filter(|&p| p < 100.0);
    let percentile = below_max.reduce(f64::max)?;
    let directions = [&summary.read, &summary.write, &summary.trim];
    let n = directions.iter().map(|op| op.ios).filter(|&ios| ios > 0).min()?;
    (!is_supported(n, percentile)).then(|| Warning::FewSamples {
        job: job.name.clone(),
        n,
        percentile,
    })
}

/// The null engine measures the program, which needs no minute.
fn short_run(job: &Job, summary: &JobSummary) -> Option<Warning> {
    let short = summary.total_ios() > 0 && summary.runtime_ns < SHORT_RUN_NS;
    (short && job.engine.kind != EngineKind::Null).then(|| Warning::ShortRun {
        job: job.name.clone(),
        runtime_ns: summary.runtime_ns,
    })
}

#[cfg(test)]
mod tests;
