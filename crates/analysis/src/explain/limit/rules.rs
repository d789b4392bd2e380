//! The rules for a section of a load, the most certain first.

use super::super::answer::LimitKind;
use super::super::counter_scan::CgroupLimitKind;
use super::super::words::{percent, time};
use super::{Found, Question, capped};
use fathom_core::run::JobSummary;
use fathom_core::units::{Bytes, binary_rate, count};
use fathom_core::workload::{Job, Rate};

/// I/Os that fail from which on failing is what limits.
const ERRORS_MIN: f64 = 0.1;
/// A schedule that is kept to this share is kept.
const KEPT_MIN: f64 = 0.97;
/// Of what the load moves, the device may see so much if memory is to be what answers.
const CACHED_MAX: f64 = 0.5;
/// The latency of the load over that of the block layer from which on I/O is held above.
const ABOVE_MIN: f64 = 3.0;
const ABOVE_MIN_LIMITED: f64 = 1.3;
/// CPU of a worker from which on it can do no more.
const CPU_MIN: f64 = 0.9;

pub(super) fn judge(question: &Question<'_, '_>) -> Found {
    let Some(load) = question.section.load else {
        return unknown(question);
    };
    let job = load.job;
    errors(question)
        .or_else(|| own_pace(question, job))
        .or_else(|| page_cache(question, job))
        .or_else(|| above(question, job))
        .or_else(|| cpu(question, job))
        .or_else(|| capped::judge(question))
        .or_else(|| latency(question))
        .unwrap_or_else(|| unknown(question))
}

fn errors(question: &Question<'_, '_>) -> Option<Found> {
    let errors = question.measures.errors;
    (errors >= ERRORS_MIN).then(|| {
        let because = format!("{} % of its I/Os failed", percent(errors));
        Found::new(
            LimitKind::DeviceErrors,
            0.9,
            because,
            "find out why they fail: the kernel's log and the run's own report say more",
        )
    })
}

/// I/Os a second that the load was told to do, over all its workers; `None` where it may do as many as it can.
pub(super) fn asked(job: &Job, mean_bytes: f64) -> Option<f64> {
    let workers = f64::from(job.numjobs);
    let mut asked = 0.0;
    for op in job.used_ops() {
        asked += match job.pace.rate[op]? {
            Rate::Iops(iops) => iops as f64 * workers,
            Rate::BytesPerSecond(bytes) => bytes as f64 * workers / mean_bytes.max(1.0),
        };
    }
    (asked > 0.0).then_some(asked)
}

fn own_pace(question: &Question<'_, '_>, job: &Job) -> Option<Found> {
    let measures = &question.measures;
    if let Some(asked) = asked(job, measures.mean_bytes()) {
        let kept = measures.iops / asked;
        let in_time = measures.unsent_ns < 100e6;
        if kept >= KEPT_MIN && in_time {
            let because = format!(
                "it was told to do {} I/Os a second, and did {} % of that, {} late on average",
                count(asked.round()),
                percent(kept),
                time(measures.unsent_ns)
            );
            return Some(Found::new(
                LimitKind::OwnPace,
                0.97,
                because,
                "ask for a higher rate, or for none",
            ));
        }
    }
    let think = job.pace.think?;
    let idle = 1.0 - measures.in_flight / measures.depth.max(1.0);
    (idle >= 0.1 && !think.pause.is_zero()).then(|| {
        let because = format!(
            "it pauses for {} after every {} I/Os, and had {} % of its depth in flight",
            think.pause,
            think.blocks,
            percent(1.0 - idle)
        );
        Found::new(
            LimitKind::OwnPace,
            0.6 + 0.35 * idle,
            because,
            "shorten its think time",
        )
    })
}

fn page_cache(question: &Question<'_, '_>, job: &Job) -> Option<Found> {
    if !job.uses_page_cache() {
        return None;
    }
    let measures = &question.measures;
    let change = "use direct I/O, a file larger than memory, or syncs, to measure the disk";
    if let Some((_, bytes)) = measures.served() {
        let share = bytes / measures.bytes_per_second.max(1.0);
        return (share < CACHED_MAX).then(|| {
            let because = format!(
                "it moved {}, the device {}: memory answered the rest",
                binary_rate(measures.bytes_per_second),
                binary_rate(bytes)
            );
            let mut found = Found::new(LimitKind::PageCache, 0.95 - 0.5 * share, because, change);
            let system = measures.system.filter(|_| job.writes());
            if let Some(system) = system.filter(|system| system.dirty_max > 0.0) {
                found.because.push(format!(
                    "up to {} were dirty or on their way to the device",
                    Bytes(system.dirty_max as u64)
                ));
            }
            found
        });
    }
    (measures.latencies.p50_ns < 30_000.0 && measures.latency_ns < 300_000.0).then(|| {
        let because = format!(
            "it goes through the page cache, and half of its I/Os take less than {}",
            time(measures.latencies.p50_ns)
        );
        let mut found = Found::new(LimitKind::PageCache, 0.6, because, change);
        found.lacks("what the device did meanwhile (streams `block` and `counters`)");
        found
    })
}

/// I/O that waits before it comes to the block layer.
fn above(question: &Question<'_, '_>, job: &Job) -> Option<Found> {
    let measures = &question.measures;
    let below_ns = measures.below_ns()?;
    let held_ns = measures.latency_ns - below_ns;
    // Syncs, readahead and merging make requests that are no I/Os of the load: then the two do not compare.
    let others = measures.block.map_or(0.0, |block| block.other_iops);
    let comparable = measures
        .served()
        .is_some_and(|(iops, _)| (0.7..1.5).contains(&((iops - others) / measures.iops.max(1e-9))));
    let limit = cgroup_limit(question);
    let released = question.sample.released;
    let reached = limit.as_ref().is_some_and(|(_, reached)| *reached);
    // A limit that is reached needs less of other evidence.
    let (least, least_ns) = if reached || released >= 0.5 {
        (ABOVE_MIN_LIMITED, 50_000.0)
    } else {
        (ABOVE_MIN, 300_000.0)
    };
    if measures.latency_ns < below_ns * least || held_ns < least_ns || !comparable {
        return None;
    }
    let seen = format!(
        "its I/Os take {} on average, of which the block layer and the device know {}",
        time(measures.latency_ns),
        time(below_ns)
    );
    // A rate that is exactly the limit of the cgroup is no chance, however busy the CPUs are with others.
    if let Some(mut found) = no_cpu(question, job).filter(|_| !reached) {
        found.because.insert(0, seen);
        return Some(found);
    }
    let change =
        "raise or lift the limit of the cgroup (io.max, blkio.throttle.*); a faster disk changes nothing";
    let confidence = match (&limit, released >= 0.5) {
        (Some((_, true)), _) => 0.97,
        (Some(_), true) => 0.9,
        (None, true) => 0.8,
        (Some(_), false) => 0.75,
        (None, false) if measures.rate_varies < 0.03 => 0.65,
        (None, false) => return None,
    };
    let mut found = Found::new(LimitKind::AboveBlockLayer, confidence, seen, change);
    match limit {
        Some((text, _)) => found.because.push(text),
        None => found.lacks("the cgroup's limits: none was seen in the counters"),
    }
    if released >= 0.5 {
        found.because.push(format!(
            "{} % of its requests were sent by a bound worker of the kernel (kworker/N:M), as a throttle does when it lets I/O go",
            percent(released)
        ));
    }
    Some(found)
}

/// The cgroup's limit that fits best, in words, and whether the rate is that limit.
fn cgroup_limit(question: &Question<'_, '_>) -> Option<(String, bool)> {
    let measures = &question.measures;
    let scan = question.section.load?.scan;
    let all: f64 = scan.ops[..3].iter().sum::<u64>() as f64;
    let share = |op: usize| scan.ops[op] as f64 / all.max(1.0);
    let numbers: Vec<String> = question
        .section
        .devices
        .iter()
        .map(|device| format!("{}:{}", device.device >> 20, device.device & 0xf_ffff))
        .collect();
    let limits = question.scanned.counters.as_ref()?.cgroup_limits.iter();
    let each = limits.map(|limit| {
        let (name, reached, text) = match limit.kind {
            CgroupLimitKind::ReadIops => ("read IOPS", measures.iops * share(0), count(limit.value)),
            CgroupLimitKind::WriteIops => ("write IOPS", measures.iops * share(1), count(limit.value)),
            CgroupLimitKind::ReadBytes => (
                "read bandwidth",
                measures.bytes_per_second * share(0),
                binary_rate(limit.value),
            ),
            CgroupLimitKind::WriteBytes => (
                "write bandwidth",
                measures.bytes_per_second * share(1),
                binary_rate(limit.value),
            ),
        };
        let ratio = reached / limit.value.max(1e-9);
        let other = if numbers.is_empty() || numbers.contains(&limit.device) {
            String::new()
        } else {
            format!(" on device {}", limit.device)
        };
        let text = format!(
            "its cgroup has a limit of {text} ({name}){other}, and it reached {} % of it",
            percent(ratio)
        );
        ((ratio - 1.0).abs(), text)
    });
    let best = each.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((best.1, best.0 < 0.1))
}

/// Whether the load had no CPU: its workers used all of theirs, a quota was used up, or all CPUs were busy.
fn no_cpu(question: &Question<'_, '_>, job: &Job) -> Option<Found> {
    if let Some(found) = cpu(question, job) {
        return Some(found);
    }
    let system = question.measures.system?;
    let change = "give the load a CPU of its own, or stop what else runs";
    if system.cpu_throttled >= 0.3 {
        let because = format!(
            "the CPU quota of its cgroup was used up for {} % of the time",
            percent(system.cpu_throttled)
        );
        return Some(Found::new(LimitKind::Cpu, 0.85, because, "raise the CPU quota"));
    }
    (system.busy >= 0.95 && system.cpu_waiting >= 0.3).then(|| {
        let because = format!(
            "all CPUs were {} % busy, and somebody waited for one {} % of the time",
            percent(system.busy),
            percent(system.cpu_waiting)
        );
        Found::new(LimitKind::Cpu, 0.75, because, change)
    })
}

/// The load's own threads use all the CPU they can.
fn cpu(question: &Question<'_, '_>, job: &Job) -> Option<Found> {
    let spins = job.engine.poll || job.pace.think.is_some_and(|think| !think.spin.is_zero());
    if spins || question.facts.modelled() || job.is_open_loop() {
        return None;
    }
    let cpu = question.measures.worker_cpu.filter(|cpu| *cpu >= CPU_MIN)?;
    let summary: Option<&JobSummary> = question.section.load.and_then(|load| load.summary);
    let workers = summary.map_or(1, |summary| summary.workers);
    let because = format!(
        "its {} used {} % of a CPU each, so hardly ever waited for the device",
        if workers == 1 {
            String::from("worker")
        } else {
            format!("{workers} workers")
        },
        percent(cpu)
    );
    Some(Found::new(
        LimitKind::Cpu,
        0.6 + 0.35 * cpu.min(1.0),
        because,
        "more workers on other CPUs, larger I/Os, or an engine that costs less for each",
    ))
}

fn latency(question: &Question<'_, '_>) -> Option<Found> {
    let measures = &question.measures;
    let full = measures.in_flight / measures.depth.max(1.0);
    if full < 0.7 {
        return None;
    }
    let because = format!(
        "all {} I/Os that it keeps in flight are under way {} % of the time; each takes {}, which makes {} a second",
        count(measures.depth),
        percent(full.min(1.0)),
        time(measures.latency_ns),
        count((measures.depth / measures.latency_ns.max(1.0) * 1e9).round())
    );
    let confidence = if measures.depth <= 4.0 { 0.85 } else { 0.6 };
    let mut found = Found::new(
        LimitKind::Latency,
        confidence,
        because,
        "more I/Os in flight (a higher iodepth, more workers), or a disk that answers sooner",
    );
    if measures.depth > 4.0 {
        found.lacks("the same load at another depth: if its rate stays, the disk's limit is reached");
    }
    Some(found)
}

fn unknown(question: &Question<'_, '_>) -> Found {
    let measures = &question.measures;
    let because = format!(
        "it keeps {:.1} of {} I/Os in flight, and nothing that was recorded says why",
        measures.in_flight,
        count(measures.depth)
    );
    let mut found = Found::new(LimitKind::Unknown, 0.0, because, "");
    if measures.block.is_none() {
        found.lacks("the requests of the device (stream `block`)");
    }
    if measures.system.is_none() && !question.facts.modelled() {
        found.lacks("the system's counters (stream `counters`)");
    }
    found
}
