//! The figures of one section while it ran at its rate: utilisation, saturation, errors.
//!
//! Data in: a section's sums, the counters. Data out: means over its full seconds. It must not judge.

use super::super::counter_scan::{DiskSecond, SystemSecond};
use super::super::section::{Load, Section};
use super::super::timeline::{SECOND_NS, Second, Timeline};
use super::super::words::ratio;
use super::super::{Facts, Scanned};

/// Standard deviations between the 5th and the 95th percentile of a normal distribution.
const NINE_TENTHS: f64 = 3.29;

/// Percentile and latency from the whole distribution.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Latencies {
    pub n: u64,
    pub min_ns: f64,
    pub p5_ns: f64,
    pub p50_ns: f64,
    /// Standard deviation over mean, from the middle nine tenths: a single outage must not make all else look steady.
    pub varies: f64,
}

/// What the devices' requests say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    pub iops: f64,
    pub bytes_per_second: f64,
    /// Means: from the queue to the end, at the device, waiting for a tag.
    pub latency_ns: f64,
    pub device_ns: f64,
    pub tag_ns: f64,
    /// At the device, on average.
    pub in_flight: f64,
    pub other_iops: f64,
    pub errors: f64,
    /// Standard deviation of a second's rate over its mean, as in [`Measures`], but of everybody's requests.
    pub rate_varies: f64,
}

/// What the disk's own counters say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Disk {
    pub iops: f64,
    pub bytes_per_second: f64,
    pub await_ns: f64,
    pub in_flight: f64,
    /// The share of the time with anything in flight.
    pub busy: f64,
}

/// What the system says, as shares of all CPUs or of the time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct System {
    pub iowait: f64,
    pub busy: f64,
    pub cpu_waiting: f64,
    pub io_waiting: f64,
    pub cpu_throttled: f64,
    pub dirty_max: f64,
}

/// The figures of one section.
#[derive(Debug, Clone, Default)]
pub(super) struct Measures {
    /// Full seconds that the means are over, since the start of the run: neither ramp nor cooldown.
    pub from: u64,
    pub to: u64,
    pub iops: f64,
    pub bytes_per_second: f64,
    pub latency_ns: f64,
    /// Sum of latencies over time (Little's law).
    pub in_flight: f64,
    /// What the load was told to keep in flight, all workers together.
    pub depth: f64,
    /// Standard deviation of a second's rate over its mean: of I/Os and of bytes, whichever is smaller.
    pub rate_varies: f64,
    pub latencies: Latencies,
    pub errors: f64,
    /// The mean time that I/Os were due and not sent.
    pub unsent_ns: f64,
    /// CPU time of the load over that of its workers' clocks.
    pub worker_cpu: Option<f64>,
    pub block: Option<Block>,
    pub disk: Option<Disk>,
    pub system: Option<System>,
    /// The rate of each full second, in I/Os; for those of a record without load.
    pub rates: Vec<f64>,
    pub latencies_by_second: Vec<f64>,
    pub bytes_by_second: Vec<f64>,
}

impl Measures {
    pub(super) fn of(facts: &Facts<'_>, scanned: &Scanned, section: &Section<'_>) -> Self {
        let timeline = section.timeline;
        let (begin_ns, end_ns) = counted(section);
        let first = timeline.number_of(begin_ns);
        let last = timeline.number_of(end_ns);
        // The first and the last second are not full.
        let (from, to) = if last > first + 1 {
            (first + 1, last - 1)
        } else {
            (first, last)
        };
        let seconds: Vec<Second> = timeline.seconds(from, to).map(|(_, second)| *second).collect();
        let span_s = span_s(facts, timeline, from, to);
        let sum = |value: fn(&Second) -> f64| added(seconds.iter().map(value));
        let n = sum(|second| second.ios.into());
        let lat_ns = sum(|second| second.lat_sum_ns as f64);
        let all = timeline.latencies();
        let at = all.percentiles(&[5.0, 50.0, 95.0]);
        let spread_ns = at[2].saturating_sub(at[0]) as f64 / NINE_TENTHS;
        let mut measures = Self {
            from,
            to,
            iops: n / span_s,
            bytes_per_second: sum(|second| second.bytes as f64) / span_s,
            latency_ns: if n > 0.0 { lat_ns / n } else { all.mean() },
            in_flight: lat_ns / 1e9 / span_s,
            depth: section.load.map_or(0.0, |load| load.job.total_depth() as f64),
            latencies: Latencies {
                n: all.n(),
                min_ns: all.min().unwrap_or(0) as f64,
                p5_ns: at[0] as f64,
                p50_ns: at[1] as f64,
                varies: spread_ns.min(all.stddev()) / all.mean().max(1.0),
            },
            errors: ratio(sum(|second| second.errors.into()), n),
            rates: seconds.iter().map(|second| f64::from(second.ios)).collect(),
            bytes_by_second: seconds.iter().map(|second| second.bytes as f64).collect(),
            latencies_by_second: seconds
                .iter()
                .map(|second| second.lat_sum_ns as f64 / f64::from(second.ios.max(1)))
                .collect(),
            ..Self::default()
        };
        measures.rate_varies = varies(&measures.rates).min(varies(&measures.bytes_by_second));
        if let Some(load) = section.load {
            let ios: u64 = load.scan.ops[..3].iter().sum();
            measures.unsent_ns = load.scan.unsent_sum_ns as f64 / ios.max(1) as f64;
            measures.worker_cpu = worker_cpu(&load);
        }
        measures.block = block(scanned, section, from, to, span_s);
        measures.disk = disk(section, from, to);
        measures.system = system(scanned, facts, from, to);
        measures
    }

    pub(super) fn mean_bytes(&self) -> f64 {
        ratio(self.bytes_per_second, self.iops)
    }

    /// What the device served: I/Os and bytes a second, by its requests or else by its counters.
    pub(super) fn served(&self) -> Option<(f64, f64)> {
        let block = self.block.map(|block| (block.iops, block.bytes_per_second));
        block.or(self.disk.map(|disk| (disk.iops, disk.bytes_per_second)))
    }

    /// The mean latency of the block layer, by its requests or else by its counters.
    pub(super) fn below_ns(&self) -> Option<f64> {
        let block = self
            .block
            .filter(|block| block.iops > 0.0)
            .map(|block| block.latency_ns);
        block.or(self.disk.filter(|disk| disk.iops > 0.0).map(|disk| disk.await_ns))
    }
}

/// When the load of a section was counted: after its ramp, before its cooldown; all of it where it did not come so far.
fn counted(section: &Section<'_>) -> (u64, u64) {
    let all = (section.timeline.first_ns, section.timeline.last_ns);
    let Some(load) = &section.load else {
        return all;
    };
    let limit = &load.job.limit;
    let from = all.0.saturating_add(limit.ramp_time.0);
    let cooled = !limit.cooldown_time.is_zero();
    // The summary knows of counting that ended before the runtime was over; a run that was killed has none.
    let summarised = load.summary.map(|summary| summary.runtime_ns);
    let counted_ns = summarised
        .filter(|ns| *ns > 0)
        .or(limit.runtime.map(|runtime| runtime.0))
        .filter(|_| cooled);
    let to = counted_ns.map_or(all.1, |ns| all.1.min(from.saturating_add(ns)));
    if from < to { (from, to) } else { all }
}

/// How long the timeline goes on within the seconds `from..=to`.
fn span_s(facts: &Facts<'_>, timeline: &Timeline, from: u64, to: u64) -> f64 {
    let moment = |second: u64| facts.started_ns().saturating_add(second * SECOND_NS);
    let end_ns = moment(to + 1).min(timeline.last_ns);
    let span_ns = end_ns.saturating_sub(moment(from).max(timeline.first_ns));
    (span_ns as f64 / 1e9).max(1e-3)
}

/// Their sum; of none 0, where that of [`Iterator::sum`] is -0.
fn added(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Fewer do not tell how much they vary.
pub(super) const SECONDS_TO_VARY: usize = 3;

/// Standard deviation over mean; 1 where there is too little to tell.
pub(super) fn varies(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < SECONDS_TO_VARY || mean <= 0.0 {
        return 1.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / n).sqrt() / mean
}

fn worker_cpu(load: &Load<'_>) -> Option<f64> {
    let summary = load.summary?;
    let capacity_ns = summary.runtime_ns as f64 * f64::from(summary.workers.max(1));
    let used_ns = summary.cpu.user_ns as f64 + summary.cpu.system_ns as f64;
    (capacity_ns > 0.0 && used_ns > 0.0).then_some(used_ns / capacity_ns)
}

fn block(scanned: &Scanned, section: &Section<'_>, from: u64, to: u64, span_s: f64) -> Option<Block> {
    scanned.block.as_ref()?;
    let seconds = || {
        section
            .devices
            .iter()
            .flat_map(|scan| scan.requests.seconds(from, to))
    };
    let sum = |value: &dyn Fn(&Second) -> f64| added(seconds().map(|(_, second)| value(second)));
    let n = sum(&|second| second.ios.into());
    let mean = |value: fn(&Second) -> f64| ratio(sum(&value), n);
    let whole = (to - from + 1) as usize;
    let (mut rates, mut bytes) = (vec![0.0; whole], vec![0.0; whole]);
    for (number, second) in seconds() {
        rates[(number - from) as usize] += f64::from(second.ios);
        bytes[(number - from) as usize] += second.bytes as f64;
    }
    Some(Block {
        iops: n / span_s,
        bytes_per_second: sum(&|second| second.bytes as f64 / span_s),
        latency_ns: mean(|second| second.lat_sum_ns as f64),
        device_ns: mean(|second| second.device_sum_ns as f64),
        tag_ns: mean(|second| second.tag_sum_ns as f64),
        in_flight: sum(&|second| second.device_sum_ns as f64) / 1e9 / span_s,
        other_iops: sum(&|second| f64::from(second.other_ios) / span_s),
        errors: mean(|second| second.errors.into()),
        rate_varies: varies(&rates).min(varies(&bytes)),
    })
}

fn disk(section: &Section<'_>, from: u64, to: u64) -> Option<Disk> {
    let each = || {
        section
            .disks
            .iter()
            .map(|disk| disk.range(from..=to).map(|(_, second)| second))
    };
    let sum = |value: fn(&DiskSecond) -> f64| added(each().flatten().map(value));
    let most = |value: fn(&DiskSecond) -> f64| {
        let disks = each().map(|seconds| added(seconds.map(value)));
        disks.fold(0.0, f64::max)
    };
    let seconds = most(|_| 1.0);
    let ios = sum(|second| second.ios.into());
    (seconds > 0.0).then(|| Disk {
        await_ns: ratio(sum(|second| second.time.into()), ios) * 1e9,
        iops: ios / seconds,
        bytes_per_second: sum(|second| second.bytes) / seconds,
        in_flight: sum(|second| second.weighted.into()) / seconds,
        busy: most(|second| second.busy.into()) / seconds,
    })
}

fn system(scanned: &Scanned, facts: &Facts<'_>, from: u64, to: u64) -> Option<System> {
    let counters = scanned.counters.as_ref().filter(|_| !facts.modelled())?;
    let seconds = || counters.system.range(from..=to).map(|(_, second)| second);
    let sum = |value: fn(&SystemSecond) -> f32| added(seconds().map(|second| f64::from(value(second))));
    let n = seconds().count() as f64;
    let cpu_s = sum(|second| second.idle + second.iowait + second.busy);
    let dirty = seconds().map(|second| second.dirty + second.writeback);
    (cpu_s > 0.0).then(|| System {
        iowait: sum(|second| second.iowait) / cpu_s,
        busy: sum(|second| second.busy) / cpu_s,
        cpu_waiting: sum(|second| second.cpu_waiting) / n,
        io_waiting: sum(|second| second.io_waiting) / n,
        cpu_throttled: sum(|second| second.cpu_throttled) / n,
        dirty_max: dirty.fold(0.0, f64::max),
    })
}
