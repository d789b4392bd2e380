//! What is told together: one worker, or all of a reporting group.
//!
//! Data in: accounts of workers. Data out: entries with fio's statistics, still without words. It must not format.

use super::bins::{Distribution, Shares};
use super::{Entries, FioRun};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{
    CpuUsage, Depths, OpAccount, PriorityAccount, RunError, Samples, SteadyAccount, WorkerAccount,
};
use fathom_core::workload::{DEFAULT_PERCENTILES, IoPriority, Job, Percentiles, Unified};
use std::collections::BTreeMap;

/// fio's own default list; ours has three nines more.
const FIO_PERCENTILES: usize = 17;
/// What fio says of contents that are not what was written: `EILSEQ`.
const EILSEQ: i32 = 84;
const EIO: i32 = 5;

/// One worker, or several.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    /// The section of its first worker.
    pub first: &'a Job,
    /// The number of the section of its last one, whose options are told.
    pub last_section: usize,
    pub members: u32,
    pub tid: u32,
    /// Read, write, trim; only the first where they are told together.
    pub data: [Direction; 3],
    /// All together, where that is told beside each.
    pub mixed: Option<Direction>,
    pub sync: Distribution,
    /// From the first I/O to the end, milliseconds, longest of its workers.
    pub runtime_ms: u64,
    /// The same added up over its workers.
    pub job_runtime_ms: u64,
    pub cpu: CpuUsage,
    pub depths: Depths,
    pub shares: Shares,
    pub errors: Vec<RunError>,
    /// How steady its job's results are, where it ends once they are.
    pub steady: Option<&'a SteadyAccount>,
    /// The depth that keeps the latency that was asked for; without one that of the job.
    pub depth: u32,
    /// Zones that were emptied.
    pub zone_resets: u64,
    /// The errno of the first error; 0 without.
    pub error: i32,
    pub percentiles: Vec<f64>,
}

/// One direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Direction {
    pub bytes: u64,
    /// With those that were not sent, since fio counts them.
    pub ios: u64,
    /// Of these, how many were not sent: their job only checks.
    pub left_out: u64,
    pub short: u64,
    pub dropped: u64,
    /// Milliseconds; 0 where nothing was moved.
    pub runtime_ms: u64,
    pub slat: Distribution,
    pub clat: Distribution,
    pub lat: Distribution,
    pub bw: Samples,
    pub iops: Samples,
    /// By priority, where some I/Os have their own.
    pub priorities: Vec<ByPriority>,
}

/// I/Os of one priority.
#[derive(Debug, Clone)]
pub(super) struct ByPriority {
    pub priority: IoPriority,
    pub clat: Distribution,
    pub lat: Distribution,
}

impl Direction {
    /// Bytes a second.
    pub(super) fn bytes_a_second(&self) -> u64 {
        let bytes = u128::from(self.bytes) * 1000;
        bytes.checked_div(u128::from(self.runtime_ms)).unwrap_or(0) as u64
    }

    /// I/Os a second.
    pub(super) fn ios_a_second(&self) -> f64 {
        if self.runtime_ms == 0 {
            return 0.0;
        }
        1000.0 * self.ios as f64 / self.runtime_ms as f64
    }

    /// The mean of the samples in percent of `whole`, at most 100: what share of its group's bandwidth it had.
    pub(super) fn share_of(&self, whole_bytes_a_second: u64) -> f64 {
        if whole_bytes_a_second < 1024 || self.bw.n == 0 {
            return 0.0;
        }
        (100.0 * self.bw.mean / (whole_bytes_a_second / 1024) as f64).min(100.0)
    }
}

/// Distributions and counts while workers are added up.
#[derive(Debug, Clone, Default)]
struct Sum {
    ops: [OpAccount; 4],
    runtime_ms: [u64; 3],
    priorities: Vec<PriorityAccount>,
}

impl Sum {
    fn add(&mut self, account: &WorkerAccount) {
        for (sum, part) in self.ops.iter_mut().zip(&account.ops) {
            add_op(sum, part);
        }
        for op in 0..3 {
            self.runtime_ms[op] = self.runtime_ms[op].max(direction_ms(account, op));
        }
        for part in &account.priorities {
            let same = |sum: &&mut PriorityAccount| sum.op == part.op && sum.priority == part.priority;
            match self.priorities.iter_mut().find(same) {
                Some(sum) => {
                    sum.clat.merge(&part.clat);
                    sum.lat.merge(&part.lat);
                }
                None => self.priorities.push(part.clone()),
            }
        }
    }

    /// The I/Os of these directions by priority, the lowest number first.
    fn by_priority(&self, ops: &[Op], first: &Job) -> Vec<ByPriority> {
        let mut sums: BTreeMap<u8, (Histogram, Histogram)> = BTreeMap::new();
        for part in self.priorities.iter().filter(|part| ops.contains(&part.op)) {
            let (clat, lat) = sums.entry(part.priority.packed()).or_default();
            clat.merge(&part.clat);
            lat.merge(&part.lat);
        }
        let without = first.reporting.without;
        if without.clat && without.lat {
            return Vec::new();
        }
        sums.into_iter()
            .map(|(packed, (clat, lat))| ByPriority {
                priority: IoPriority::unpacked(packed),
                clat: Distribution::new(&clat),
                lat: Distribution::new(&lat),
            })
            .collect()
    }

    fn direction(op: &OpAccount, runtime_ms: u64, first: &Job) -> Direction {
        let without = first.reporting.without;
        let of = |histogram: &Histogram, without: bool| {
            if without {
                Distribution::default()
            } else {
                Distribution::new(histogram)
            }
        };
        Direction {
            bytes: op.bytes + op.left_out.bytes,
            ios: op.ios() + op.left_out.ios,
            left_out: op.left_out.ios,
            short: op.short_ios,
            dropped: op.lost_ios,
            runtime_ms: if op.ios() == 0 { 0 } else { runtime_ms },
            slat: of(&op.slat, without.slat),
            clat: of(&op.clat, without.clat),
            lat: of(&op.lat, without.lat),
            bw: if without.bw { Samples::default() } else { op.bw },
            iops: if without.bw { Samples::default() } else { op.iops },
            priorities: Vec::new(),
        }
    }

    /// Read, write and trim as one.
    fn mixed(&self, first: &Job) -> Direction {
        let mut all = OpAccount::default();
        self.ops[..3].iter().for_each(|op| add_op(&mut all, op));
        let longest = self.runtime_ms.iter().copied().max().unwrap_or(0);
        Direction {
            priorities: self.by_priority(&Op::DATA, first),
            ..Self::direction(&all, longest, first)
        }
    }
}

/// Adds what ran beside it. A synchronous engine's completion latency is all of its latency.
fn add_op(sum: &mut OpAccount, part: &OpAccount) {
    sum.bytes += part.bytes;
    sum.short_ios += part.short_ios;
    sum.lost_ios += part.lost_ios;
    sum.errors += part.errors;
    sum.left_out.ios += part.left_out.ios;
    sum.left_out.bytes += part.left_out.bytes;
    sum.slat.merge(&part.slat);
    sum.clat
        .merge(if part.clat.n() == 0 { &part.lat } else { &part.clat });
    sum.lat.merge(&part.lat);
    sum.bw.add_parallel(&part.bw);
    sum.iops.add_parallel(&part.iops);
}

/// How long a worker was at one direction, in milliseconds, microseconds rounded up.
fn direction_ms(account: &WorkerAccount, op: usize) -> u64 {
    if account.ops[op].ios() == 0 || !account.began() {
        return 0;
    }
    let ms = |from: u64, to: u64| to.saturating_sub(from).div_ceil(1_000).div_ceil(1_000);
    let (start, end) = (account.start.0, account.end.0);
    match account.read_back_start {
        None => ms(start, end),
        Some(turn) if op == Op::Read.index() => ms(turn.0, end),
        Some(turn) => ms(start, turn.0),
    }
}

/// The entries of a run, in order: a worker each, or all of a group that wants to be told together. Jobs that want no
/// statistics have none.
pub(super) fn entries<'a>(run: &FioRun<'a>) -> Vec<Entry<'a>> {
    let mut groups: Vec<Vec<&'a WorkerAccount>> = Vec::new();
    let mut last_group = None;
    for account in run.accounts {
        let Some(job) = run.workload.jobs.get(account.job as usize) else {
            continue;
        };
        if !job.reporting.stats {
            continue;
        }
        match groups.last_mut() {
            Some(members) if job.group_reporting && last_group == Some(job.group) => members.push(account),
            _ => groups.push(vec![account]),
        }
        last_group = Some(job.group);
    }
    groups.iter().filter_map(|members| entry(run, members)).collect()
}

fn entry<'a>(run: &FioRun<'a>, members: &[&'a WorkerAccount]) -> Option<Entry<'a>> {
    let (first_account, last_account) = (members.first()?, members.last()?);
    let section = |account: &WorkerAccount| account.job as usize;
    let first = run.workload.jobs.get(section(first_account))?;
    let mut sum = Sum::default();
    let mut entry = Entry {
        first,
        last_section: section(last_account),
        members: members.len() as u32,
        tid: first_account.tid,
        data: Default::default(),
        mixed: None,
        sync: Distribution::default(),
        runtime_ms: 0,
        job_runtime_ms: 0,
        cpu: CpuUsage::default(),
        depths: Depths::default(),
        shares: Shares::default(),
        errors: Vec::new(),
        steady: first_account.steady.as_ref(),
        depth: first_account.depth_found.unwrap_or(first.depth.iodepth),
        zone_resets: 0,
        error: 0,
        percentiles: percentiles(&first.percentiles),
    };
    for account in members {
        sum.add(account);
        let ms = if account.began() {
            account.end.since(account.start).0 / 1_000_000
        } else {
            0
        };
        entry.runtime_ms = entry.runtime_ms.max(ms);
        entry.job_runtime_ms += ms;
        entry.cpu.merge(&account.cpu);
        entry.zone_resets += account.zone_resets;
        entry.depths.merge(&account.depths);
        let left_out = account.ops.iter().map(|op| op.left_out.ios).sum::<u64>();
        entry.depths.level[0] += left_out;
        entry.errors.extend(account.errors.iter().cloned());
    }
    entry.error = entry.errors.first().map_or(0, errno);
    // Flushes at the end are no I/O of the job to fio.
    let rules = first.sync;
    if rules.fsync_every > 0 || rules.fdatasync_every > 0 || rules.range.every > 0 || first.replay.is_some() {
        entry.sync = Distribution::new(&sum.ops[Op::Sync.index()].lat);
    }
    for op in &sum.ops[..3] {
        if !first.reporting.without.clat {
            entry.shares.add(&op.clat);
        }
    }
    let unified = first.reporting.unified;
    if unified == Unified::Mixed {
        entry.data[0] = sum.mixed(first);
    } else {
        for op in 0..3 {
            entry.data[op] = Direction {
                priorities: sum.by_priority(&Op::DATA[op..=op], first),
                ..Sum::direction(&sum.ops[op], sum.runtime_ms[op], first)
            };
        }
    }
    entry.mixed = (unified == Unified::Both).then(|| sum.mixed(first));
    Some(entry)
}

/// What fio's exit and outputs say of an error.
fn errno(error: &RunError) -> i32 {
    match (error.errno, error.what.as_str()) {
        (0, "verify") => EILSEQ,
        (0, _) => EIO,
        (errno, _) => errno,
    }
}

/// The list that a job has; its default is fio's.
fn percentiles(asked: &Percentiles) -> Vec<f64> {
    if asked.list == DEFAULT_PERCENTILES {
        return DEFAULT_PERCENTILES[..FIO_PERCENTILES].to_vec();
    }
    asked.list.clone()
}

impl Entry<'_> {
    /// Reads, writes and trims.
    pub(super) fn total_ios(&self) -> u64 {
        self.data.iter().map(|direction| direction.ios).sum()
    }

    /// Whether directions are only told together.
    pub(super) fn is_mixed(&self) -> bool {
        self.first.reporting.unified == Unified::Mixed
    }

    /// Whether errors of its jobs do not end them.
    pub(super) fn goes_on_after_errors(&self) -> bool {
        let rule = self.first.on_error;
        rule.read || rule.write
    }

    /// The latency that its depth is to keep: nanoseconds, window in microseconds, percent.
    pub(super) fn target(&self) -> (u64, u64, f64) {
        self.first.latency_target.map_or((0, 0, 100.0), |target| {
            (target.latency.0, target.window.0 / 1_000, target.percentile)
        })
    }

    pub(super) fn errors_total(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }

    /// The name of the error, as the system has it.
    pub(super) fn error_in_words(&self) -> String {
        let first = self.errors.first();
        first.map_or_else(String::new, |error| strip_number(&error.message))
    }

    /// CPU time in user mode and in the kernel, in percent of its jobs' runtime.
    pub(super) fn cpu_percent(&self) -> (f64, f64) {
        if self.job_runtime_ms == 0 {
            return (0.0, 0.0);
        }
        let percent = |ns: u64| ns as f64 / 1e6 * 100.0 / self.job_runtime_ms as f64;
        (percent(self.cpu.user_ns), percent(self.cpu.system_ns))
    }

    pub(super) fn switches(&self) -> u64 {
        self.cpu.voluntary_switches + self.cpu.involuntary_switches
    }

    /// The shares of how many were in flight, in percent of all I/Os; syncs are among them, so that they may exceed 100.
    pub(super) fn level_percent(&self) -> [f64; 7] {
        self.depths.level.map(|count| share(count, self.total_ios(), 0.1))
    }

    pub(super) fn submit_percent(&self) -> [f64; 7] {
        batches(&self.depths.submit)
    }

    pub(super) fn complete_percent(&self) -> [f64; 7] {
        batches(&self.depths.complete)
    }

    /// How long I/Os took, in percent of them.
    pub(super) fn share_percent(&self) -> ([f64; 10], [f64; 10], [f64; 12]) {
        let sent = self.data.iter().map(|data| data.ios - data.left_out).sum();
        let percent = |count| share(count, sent, 0.01);
        (
            self.shares.ns.map(percent),
            self.shares.us.map(percent),
            self.shares.ms.map(percent),
        )
    }
}

fn batches(counts: &[u64; 7]) -> [f64; 7] {
    let total = counts.iter().sum();
    counts.map(|count| share(count, total, 0.1))
}

/// A share in percent; one that is more than nothing is at least `least`.
fn share(count: u64, total: u64, least: f64) -> f64 {
    if count == 0 || total == 0 {
        return 0.0;
    }
    (100.0 * count as f64 / total as f64).max(least)
}

/// Without Rust's `(os error 28)`.
fn strip_number(message: &str) -> String {
    let end = message.find(" (os error").unwrap_or(message.len());
    message[..end].to_owned()
}

/// Bytes a second of each direction of a group: all bytes over the longest runtime.
pub(super) fn group_bandwidth(entries: &Entries<'_>, group: u32) -> [u64; 3] {
    [0, 1, 2].map(|op: usize| {
        let members = || entries.iter().filter(|entry| entry.first.group == group);
        let bytes: u64 = members().map(|entry| entry.data[op].bytes).sum();
        let longest = members()
            .map(|entry| entry.data[op].runtime_ms)
            .max()
            .unwrap_or(0);
        let bytes = u128::from(bytes) * 1000;
        bytes.checked_div(u128::from(longest)).unwrap_or(0) as u64
    })
}
