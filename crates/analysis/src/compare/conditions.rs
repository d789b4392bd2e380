//! Under which conditions each side was measured, where they differ, and whether that forbids to compare.
//!
//! Data in: runs. Data out: conditions with both sides' values. It must not know results.
//!
//! Another block size, another order of access, another depth, another part of the disk is another question to it: the answer cannot be
//! compared. The same holds for a cache on one side only. Another disk, machine or kernel may be what the comparison is about: it is named.

use fathom_core::run::{CommandExit, CommandSummary, Run, TargetKind, Warning};
use fathom_core::units::Bytes;
use fathom_core::workload::{
    Amount, BlockSize, Distribution, EngineKind, Job, Mix, Rate, Replay, ReplayOrder, SyncMode, ThinkTime,
};
use std::fmt::Write as _;

/// Something that may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    Jobs,
    Pattern,
    BlockSize,
    Depth,
    Threads,
    Pace,
    Syncs,
    PageCache,
    HostCache,
    MemoryFilesystem,
    /// The part of files or devices that jobs go to.
    Size,
    Target,
    /// How much files and devices hold, whatever of it jobs go to.
    Capacity,
    Device,
    Filesystem,
    Scheduler,
    Host,
    Machine,
    Cpu,
    Memory,
    Kernel,
    Engine,
    Runtime,
    Program,
    /// What was run and recorded.
    Command,
    /// How that ended.
    Exit,
}

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// It is named: it may be the question.
    Named,
    /// Figures cannot be compared.
    Refused,
}

/// A condition that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub field: Field,
    /// What it is on A and on B, each value once; several: the side's own runs differ.
    pub sides: [Vec<String>; 2],
}

impl Field {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 26] = [
        Self::Command,
        Self::Exit,
        Self::Jobs,
        Self::Pattern,
        Self::BlockSize,
        Self::Depth,
        Self::Threads,
        Self::Pace,
        Self::Syncs,
        Self::PageCache,
        Self::HostCache,
        Self::MemoryFilesystem,
        Self::Size,
        Self::Target,
        Self::Capacity,
        Self::Device,
        Self::Filesystem,
        Self::Scheduler,
        Self::Host,
        Self::Machine,
        Self::Cpu,
        Self::Memory,
        Self::Kernel,
        Self::Engine,
        Self::Runtime,
        Self::Program,
    ];

    /// As it is called where it is allowed to differ, and in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Pattern => "pattern",
            Self::BlockSize => "block-size",
            Self::Depth => "depth",
            Self::Threads => "threads",
            Self::Pace => "pace",
            Self::Syncs => "syncs",
            Self::PageCache => "page-cache",
            Self::HostCache => "host-cache",
            Self::MemoryFilesystem => "memory-filesystem",
            Self::Target => "target",
            Self::Size => "size",
            Self::Capacity => "capacity",
            Self::Device => "device",
            Self::Filesystem => "filesystem",
            Self::Scheduler => "scheduler",
            Self::Host => "host",
            Self::Machine => "machine",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Kernel => "kernel",
            Self::Engine => "engine",
            Self::Runtime => "runtime",
            Self::Program => "program",
            Self::Command => "command",
            Self::Exit => "exit",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }

    pub const fn grade(self) -> Grade {
        match self {
            Self::Jobs
            | Self::Pattern
            | Self::BlockSize
            | Self::Depth
            | Self::Threads
            | Self::Pace
            | Self::Syncs
            | Self::PageCache
            | Self::HostCache
            | Self::MemoryFilesystem
            | Self::Size
            | Self::Exit => Grade::Refused,
            Self::Command
            | Self::Target
            | Self::Capacity
            | Self::Device
            | Self::Filesystem
            | Self::Scheduler
            | Self::Host
            | Self::Machine
            | Self::Cpu
            | Self::Memory
            | Self::Kernel
            | Self::Engine
            | Self::Runtime
            | Self::Program => Grade::Named,
        }
    }

    /// What it is in a run.
    fn value(self, run: &Run) -> String {
        let environment = &run.environment;
        let jobs = &run.workload.jobs;
        match self {
            Self::Jobs => jobs.len().to_string(),
            Self::Pattern => each(jobs, pattern),
            Self::BlockSize => each(jobs, block_sizes),
            Self::Depth => each(jobs, |job| depth(job).to_string()),
            Self::Threads => each(jobs, |job| job.numjobs.to_string()),
            Self::Pace => each(jobs, pace),
            Self::Syncs => each(jobs, syncs),
            Self::PageCache => in_play(
                jobs.iter()
                    .any(|job| job.uses_page_cache() && job.engine.kind != EngineKind::Null),
            ),
            Self::HostCache => in_play(has_host_cache(run)),
            Self::MemoryFilesystem => in_play(has_memory_filesystem(run)),
            Self::Size => each(jobs, |job| span(run, job)),
            Self::Target => target(run),
            Self::Capacity => files(run, |file| Some(Bytes(file.size_bytes).to_string())),
            Self::Device => devices(run, |device| {
                let model = device.model.as_deref().unwrap_or_default();
                Some(format!("{} {model}", device.name).trim().to_owned())
            }),
            Self::Filesystem => files(run, |file| file.filesystem.clone()),
            Self::Scheduler => devices(run, |device| device.scheduler.clone()),
            Self::Host => environment.host.clone(),
            Self::Machine => joined(
                [environment.machine.clone(), environment.virtualization.clone()]
                    .into_iter()
                    .flatten(),
            ),
            Self::Cpu => format!("{} × {}", environment.cpus, environment.cpu_model),
            Self::Memory => Bytes(environment.memory_bytes).to_string(),
            Self::Kernel => environment.kernel.clone(),
            Self::Engine => each(jobs, |job| job.engine.kind.name().to_owned()),
            Self::Runtime => each(jobs, |job| {
                job.limit
                    .runtime
                    .map_or_else(|| String::from("its amount"), |runtime| runtime.to_string())
            }),
            Self::Program => {
                let debug = if run.build.debug { ", debug build" } else { "" };
                format!("fathom {}{debug}", run.build.version)
            }
            Self::Command => of_commands(run, |command| command.argv.join(" ")),
            Self::Exit => of_commands(run, |command| match command.exit {
                CommandExit::Code(code) => format!("exit code {code}"),
                CommandExit::Signal(signal) => format!("signal {signal}"),
            }),
        }
    }
}

impl Condition {
    /// Another command may be the question; the runs of one side are repeats of one.
    pub fn grade(&self) -> Grade {
        match self.field {
            Field::Command if self.within_a_side() => Grade::Refused,
            field => field.grade(),
        }
    }

    /// Whether the runs of one side differ among each other.
    pub fn within_a_side(&self) -> bool {
        self.sides.iter().any(|values| values.len() > 1)
    }
}

fn of_commands(run: &Run, what: impl Fn(&CommandSummary) -> String) -> String {
    joined(run.summary.commands.iter().map(what))
}

/// The conditions in which the runs of A and of B are not all alike. Of a load that was not fathom's nothing is known but the
/// machine and the target.
pub fn conditions(a: &[&Run], b: &[&Run]) -> Vec<Condition> {
    let values = |field: Field, runs: &[&Run]| {
        let mut values: Vec<String> = Vec::new();
        for value in runs.iter().map(|run| field.value(run)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let both = Field::ALL.into_iter().map(|field| Condition {
        field,
        sides: [values(field, a), values(field, b)],
    });
    let all: Vec<Condition> = both
        .filter(|one| one.within_a_side() || one.sides[0] != one.sides[1])
        .collect();
    let other_jobs = all.iter().any(|one| one.field == Field::Jobs);
    // What a job has that the other side lacks differs in all its conditions: one of them says it.
    let follows = |field: Field| {
        matches!(
            field,
            Field::Pattern
                | Field::BlockSize
                | Field::Depth
                | Field::Threads
                | Field::Pace
                | Field::Syncs
                | Field::Size
                | Field::Engine
                | Field::Runtime
        )
    };
    all.into_iter()
        .filter(|one| !(other_jobs && follows(one.field)))
        .collect()
}

/// Two runs that are one and the same, measured twice on a modelled machine: with the same seed nothing in them is chance.
pub fn twins(runs: &[&Run]) -> Option<(usize, usize)> {
    let same = |one: &Run, other: &Run| {
        let (Some(a), Some(b)) = (&one.summary.model, &other.summary.model) else {
            return false;
        };
        a.seed == b.seed && a.spec_toml == b.spec_toml && one.workload == other.workload
    };
    (0..runs.len()).find_map(|first| {
        let second = (first + 1..runs.len()).find(|&second| same(runs[first], runs[second]))?;
        Some((first, second))
    })
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<String>>().join(", ")
}

/// Once where all jobs have the same.
fn each(jobs: &[Job], of: impl Fn(&Job) -> String) -> String {
    let mut values: Vec<String> = jobs.iter().map(of).collect();
    if values.windows(2).all(|pair| pair[0] == pair[1]) {
        values.truncate(1);
    }
    values.join("; ")
}

/// In words, without the seed of a modelled disk, which is another one each time.
fn target(run: &Run) -> String {
    let description = &run.summary.target.description;
    if !run.summary.target.modelled {
        return description.clone();
    }
    let parts = description.split(',').filter(|part| !part.starts_with("seed="));
    parts.collect::<Vec<&str>>().join(",")
}

fn in_play(so: bool) -> String {
    String::from(if so { "in play" } else { "not in play" })
}

fn files(run: &Run, of: impl Fn(&fathom_core::run::TargetFile) -> Option<String>) -> String {
    let mut values: Vec<String> = run.summary.target.files.iter().filter_map(of).collect();
    values.dedup();
    values.join(", ")
}

fn devices(run: &Run, of: impl Fn(&fathom_core::run::DeviceInfo) -> Option<String>) -> String {
    files(run, |file| file.device.as_ref().and_then(&of))
}

fn has_host_cache(run: &Run) -> bool {
    run.summary.model.as_ref().is_some_and(|model| {
        model.host_cache_hits > 0 || model.host_cache_misses > 0 || model.host_dirty_peak_bytes > 0
    })
}

fn has_memory_filesystem(run: &Run) -> bool {
    let warnings = &run.summary.warnings;
    warnings
        .iter()
        .any(|warning| matches!(warning, Warning::MemoryFilesystem { .. }))
}

/// What of a record is played, and when: two that differ in it are different loads.
fn replayed(replay: &Replay) -> String {
    let Replay {
        order,
        speed_permille,
        ios: [reads, writes, trims, syncs],
        length,
        extent_bytes,
        fold,
        ..
    } = replay;
    let order = match order {
        ReplayOrder::Timed => "at their times",
        ReplayOrder::Dependent => "by who waited for whom",
        ReplayOrder::AsFast => "as fast as it goes",
    };
    let fold = fold.map_or_else(String::new, |fold| {
        format!(", folded below {}", Bytes(fold.to_bytes))
    });
    format!(
        "a record of {length} and {extent}: {reads} reads, {writes} writes, {trims} trims and {syncs} syncs, {order}, {speed} times as \
         fast{fold}",
        extent = Bytes(*extent_bytes),
        speed = *speed_permille as f64 / 1_000.0
    )
}

/// Directions, order of offsets, and what else decides where an I/O goes.
fn pattern(job: &Job) -> String {
    let pattern = &job.pattern;
    let random = if pattern.random { "rand" } else { "" };
    let mut text = match pattern.mix {
        Mix::Read => format!("{random}read"),
        Mix::Write => format!("{random}write"),
        Mix::Trim => format!("{random}trim"),
        Mix::ReadWrite { read_percent } => format!("{random}rw {read_percent} % reads"),
        Mix::TrimWrite => format!("{random}trimwrite"),
        Mix::Recorded { .. } => job.replay.as_ref().map_or_else(String::new, replayed),
    };
    if pattern.run_length > 1 {
        let _ = write!(text, ", runs of {}", pattern.run_length);
    }
    if pattern.skip_bytes != 0 {
        let _ = write!(text, ", skipping {} B", pattern.skip_bytes);
    }
    if pattern.random {
        for op in job.used_ops() {
            if pattern.random_percent[op] < 100 {
                let _ = write!(text, ", {} % random", pattern.random_percent[op]);
            }
            let _ = match &pattern.distribution[op] {
                Distribution::Uniform => Ok(()),
                Distribution::Zipf { theta, .. } => write!(text, ", zipf {theta}"),
                Distribution::Pareto { h, .. } => write!(text, ", pareto {h}"),
                Distribution::Normal {
                    deviation_percent, ..
                } => write!(text, ", normal {deviation_percent}"),
                Distribution::Zones(zones) => write!(text, ", {} zones", zones.len()),
                Distribution::Sequence { blocks, strides } => {
                    let strides = if *strides { " strided" } else { "" };
                    write!(text, ", sequence {blocks:?}{strides}")
                }
            };
        }
    }
    text
}

/// Where its I/O goes, over all files of a worker. Of a whole device that is as much as the device holds, which may be the question.
fn span(run: &Run, job: &Job) -> String {
    let region = &job.region;
    let amount = |amount: Amount| match amount {
        Amount::Bytes(bytes) => Bytes(bytes).to_string(),
        Amount::Percent(percent) => format!("{percent} %"),
    };
    let mut text = match (region.size, region.file_size) {
        (Some(size), _) => amount(size),
        (None, Some((least, most))) if least == most => format!("files of {}", Bytes(least)),
        (None, Some((least, most))) => format!("files of {} to {}", Bytes(least), Bytes(most)),
        (None, None) => {
            let regular = run.summary.target.files.iter();
            let mut sizes: Vec<String> = regular
                .filter(|file| file.kind == TargetKind::File)
                .map(|file| Bytes(file.size_bytes).to_string())
                .collect();
            sizes.dedup();
            if sizes.is_empty() {
                String::from("all of it")
            } else {
                format!("all of {}", joined(sizes))
            }
        }
    };
    let from = |bytes: Amount| matches!(bytes, Amount::Bytes(0) | Amount::Percent(0));
    if let Some(offset) = region.offset.filter(|&offset| !from(offset)) {
        let _ = write!(text, " from {} on", amount(offset));
    }
    if let Some(increment) = region.offset_increment.filter(|&increment| !from(increment)) {
        let _ = write!(text, ", each worker {} further", amount(increment));
    }
    text
}

fn block_sizes(job: &Job) -> String {
    let size = |op: usize| match &job.block_size[op] {
        BlockSize::Fixed(bytes) => Bytes(*bytes).to_string(),
        BlockSize::Range { min, max, .. } => format!("{} to {}", Bytes(*min), Bytes(*max)),
        BlockSize::Split(entries) => {
            let each = entries.iter();
            joined(each.map(|entry| format!("{} {} %", Bytes(entry.bytes), entry.percent)))
        }
    };
    let mut sizes: Vec<String> = job.used_ops().map(size).collect();
    sizes.dedup();
    sizes.join("/")
}

fn depth(job: &Job) -> u64 {
    job.total_depth() / u64::from(job.numjobs.max(1))
}

fn pace(job: &Job) -> String {
    let rate = |op: usize| match job.pace.rate[op] {
        None => String::from("closed loop"),
        Some(Rate::Iops(iops)) => format!("{iops} IOPS {:?}", job.pace.arrival).to_lowercase(),
        Some(Rate::BytesPerSecond(bytes)) => format!("{}/s", Bytes(bytes)),
    };
    let mut rates: Vec<String> = job.used_ops().map(rate).collect();
    rates.dedup();
    let think = |think: ThinkTime| format!("{} after {} I/Os", think.pause, think.blocks);
    joined(rates.into_iter().chain(job.pace.think.map(think)))
}

fn syncs(job: &Job) -> String {
    let sync = &job.sync;
    let mode = match sync.mode {
        SyncMode::None => None,
        SyncMode::Sync => Some(String::from("O_SYNC")),
        SyncMode::DataSync => Some(String::from("O_DSYNC")),
    };
    let every = |n: u32, call: &str| (n > 0).then(|| format!("{call} every {n} writes"));
    let parts = [
        mode,
        every(sync.fsync_every, "fsync"),
        every(sync.fdatasync_every, "fdatasync"),
        sync.fsync_at_end.then(|| String::from("fsync at the end")),
    ];
    let text = joined(parts.into_iter().flatten());
    if text.is_empty() {
        String::from("none")
    } else {
        text
    }
}

#[cfg(test)]
mod tests;
