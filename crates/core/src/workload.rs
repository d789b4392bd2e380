//! The workload as resolved: what each job does, with every default filled in and every unit settled.
//!
//! Data in: what a dialect read. Data out: plain data that the engine freezes before its loop, that the
//! run directory stores and that reports put into words. It must not know how it was written (fio, diskspd,
//! flags), nor which clock or backend carries it out.

mod data;
mod http;
mod net;
mod pace;
mod pattern;
mod place;
mod program;
mod replay;
mod reporting;
mod start;
mod stops;

pub use data::{Buffers, Compression, Dedupe, ErrorRule, LastWrites, Verify, VerifyAlgorithm, WrittenSoFar};
pub use http::{Http, HttpMode, Secret};
pub use net::{DATAGRAM_BYTES_MAX, Net, NetProtocol, NetSide};
pub use pace::{Arrival, Pace, Rate, ThinkTime, ThinkTimeBasis};
pub use pattern::{
    BlockSize, Distribution, Mix, Pattern, RandomMap, SplitEntry, Strides, Zone, ZoneRules, ZoneSize,
};
pub use place::{
    Advised, Amount, Fallocate, FileChoice, FileLocks, Files, RangeSync, Region, SyncMode, SyncRules,
    WriteLife,
};
pub use program::Program;
pub use replay::{
    Fold, FoldKind, LeftOut, ReadIolog, RecordFormat, Replay, ReplayFile, ReplayLayout, ReplayOrder,
};
pub use reporting::{LogValue, Logs, Reporting, Unified, Without};
pub use start::{DEFAULT_PERCENTILES, Percentiles, Start, Written, WrittenSection};
pub use stops::{ExitWhat, Flow, LatencyTarget, Steady, SteadyOf, Stops};

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// One value for each data direction: read, write, trim (the order of fio's `a,b,c` lists and of
/// [`crate::backend::Op::index`]).
pub type PerOp<T> = [T; 3];

/// Whether a field has nothing to say: it is then left out of what is stored.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Everything that one run does: its jobs in the order of their sections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// One entry a job section; each stands for `numjobs` workers.
    pub jobs: Vec<Job>,
}

/// One job section: `numjobs` equal workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The section's name.
    pub name: String,
    /// Free text.
    pub description: String,
    /// How many workers run this section at once; at least 1.
    pub numjobs: u32,
    /// The reporting group (0-based): a stonewall or `new_group` starts the next one.
    pub group: u32,
    /// Whether the group's jobs are also reported together.
    pub group_reporting: bool,
    /// When it starts.
    pub start: Start,
    /// How long it runs.
    pub limit: Limit,
    pub files: Files,
    /// On which part of them, and how much in all.
    pub region: Region,
    /// In which order and mix of directions.
    pub pattern: Pattern,
    /// The recording that it plays instead; its mix is then [`Mix::Recorded`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// The record that it asks for (`read_iolog`), which `replay` is made of before anything is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_iolog: Option<ReadIolog>,
    /// In which sizes; per direction.
    #[serde(rename = "block_size_bytes")]
    pub block_size: PerOp<BlockSize>,
    /// Offsets are multiples of this (bytes; per direction; 0: the smallest block size).
    #[serde(rename = "block_align_bytes")]
    pub block_align: PerOp<u64>,
    /// Through which system interface.
    pub engine: Engine,
    /// How many at once.
    pub depth: Depth,
    /// Whether the page cache is bypassed (`O_DIRECT`).
    pub direct: bool,
    /// How writes reach the medium.
    pub sync: SyncRules,
    /// When I/Os are due.
    pub pace: Pace,
    /// What is written.
    pub buffers: Buffers,
    /// Whether and how data is verified.
    pub verify: Option<Verify>,
    /// Which errors do not end the job.
    pub on_error: ErrorRule,
    /// Errors, by their numbers, that do not count at all: of reads, of writes and trims, of verification (`ignore_error`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignored_errors: PerOp<Vec<i32>>,
    /// What else ends it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stops: Stops,
    /// Find the depth that keeps a latency.
    #[serde(default, skip_serializing_if = "is_default")]
    pub latency_target: Option<LatencyTarget>,
    /// A balance with other jobs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flow: Option<Flow>,
    /// I/Os on the same bytes are never in flight together, where one of them writes (`serialize_overlap`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub serialize_overlap: bool,
    /// The NUMA nodes whose CPUs its workers may use; empty: all (`numa_cpu_nodes`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub numa_cpu_nodes: Vec<u32>,
    /// Where its workers' memory comes from (`numa_mem_policy`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory_policy: Option<MemoryPolicy>,
    /// Each worker locks so much memory beside its own, in bytes (`lockmem`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock_bytes: u64,
    /// The user and the group that its workers are (`uid`, `gid`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub runs_as: RunsAs,
    /// Commands before and after it (`exec_prerun`, `exec_postrun`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub commands: Commands,
    /// The program that it runs in place of I/O (`program`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub program: Program,
    /// The export that it measures (`uri`); empty: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub uri: String,
    /// The server whose objects it measures (`http_host` and others).
    #[serde(default, skip_serializing_if = "is_default")]
    pub http: Http,
    /// Whom it sends to or receives from (`protocol`, `hostname`, `port` and others).
    #[serde(default, skip_serializing_if = "is_default")]
    pub net: Net,
    /// The control group that its workers are in (`cgroup`); without a name: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub control_group: ControlGroup,
    /// The clock of its run (`clocksource`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub timed_by: TimedBy,
    /// The CPUs that its workers may use; empty: all.
    pub cpus_allowed: Vec<u32>,
    /// `true`: each worker gets one CPU of `cpus_allowed` in turn; `false`: all workers share them.
    pub cpus_split: bool,
    /// Priority of the process: nice value, -20 to 19.
    pub nice: i8,
    /// Priority of its I/O, where it is not the system's choice (`prioclass`, `prio`; diskspd's `-I`).
    #[serde(default)]
    pub io_priority: Option<IoPriority>,
    /// Priorities that some of its I/Os have by themselves (`cmdprio_percentage`, `cmdprio_bssplit`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub command_priorities: CommandPriorities,
    /// Count I/Os and bytes of each of its files by itself, in [`crate::run::JobSummary::files`].
    #[serde(default)]
    pub count_files: bool,
    /// Keep what each of its workers did by itself, in [`crate::run::WorkerAccount`]s.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count_workers: bool,
    /// How it is told of in the formats of others, and what is logged of it.
    #[serde(default, skip_serializing_if = "Reporting::is_default")]
    pub reporting: Reporting,
    /// Seed of all its random decisions, before the worker's number is mixed in.
    pub random_seed: u64,
    /// Which percentiles are reported.
    pub percentiles: Percentiles,
}

/// How long a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limit {
    /// An upper bound on the time after the ramp; `None`: until its amount is done.
    #[serde(rename = "runtime_ns")]
    pub runtime: Option<Nanos>,
    /// Go on over the same region until the runtime is over.
    pub time_based: bool,
    /// Run this long before anything is counted, on top of the runtime.
    #[serde(rename = "ramp_time_ns")]
    pub ramp_time: Nanos,
    /// Go on this long after the runtime without counting (diskspd's `-C`); the load stays on while others finish.
    #[serde(rename = "cooldown_time_ns", default)]
    pub cooldown_time: Nanos,
}

/// The system interface that carries I/O out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// `lseek` and `read` or `write`.
    Sync,
    /// `pread` or `pwrite`.
    Psync,
    /// `preadv` or `pwritev`.
    Pvsync,
    /// `preadv2` or `pwritev2`.
    Pvsync2,
    /// Copy from or to a memory mapping.
    Mmap,
    /// Linux native asynchronous I/O (`io_submit`).
    Libaio,
    /// `io_uring`.
    IoUring,
    /// Does nothing at once: measures the tool.
    Null,
    /// POSIX AIO: `io_uring` whose I/Os are all carried out by threads of the kernel.
    Posixaio,
    /// `splice` through a pipe.
    Splice,
    /// `fallocate`: writes reserve, reads reserve without changing the size, trims punch holes.
    Falloc,
    /// `ftruncate` to the offset of each write.
    Ftruncate,
    /// Makes a file with the first I/O on it.
    FileCreate,
    /// `stat` of the file.
    FileStat,
    /// Removes the file with the first I/O on it.
    FileDelete,
    /// Makes a directory with the first I/O on it.
    DirCreate,
    /// `stat` of the directory.
    DirStat,
    /// Removes the directory with the first I/O on it.
    DirDelete,
    /// Runs a program, and does no I/O.
    Exec,
    /// An export of an NBD server.
    Nbd,
    /// Objects of a web server or of S3: a block each.
    Http,
    /// Blocks to or from somebody on a network.
    Net,
    /// `NVMe` commands through `io_uring`, past the block layer (`/dev/ng0n1`).
    IoUringCmd,
    /// SCSI commands, past the block layer (`/dev/sg0`).
    Sg,
}

impl EngineKind {
    /// The name that job files use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Psync => "psync",
            Self::Pvsync => "pvsync",
            Self::Pvsync2 => "pvsync2",
            Self::Mmap => "mmap",
            Self::Libaio => "libaio",
            Self::IoUring => "io_uring",
            Self::Null => "null",
            Self::Posixaio => "posixaio",
            Self::Splice => "splice",
            Self::Falloc => "falloc",
            Self::Ftruncate => "ftruncate",
            Self::FileCreate => "filecreate",
            Self::FileStat => "filestat",
            Self::FileDelete => "filedelete",
            Self::DirCreate => "dircreate",
            Self::DirStat => "dirstat",
            Self::DirDelete => "dirdelete",
            Self::Exec => "exec",
            Self::Nbd => "nbd",
            Self::Http => "http",
            Self::Net => "net",
            Self::IoUringCmd => "io_uring_cmd",
            Self::Sg => "sg",
        }
    }
    /// Whether its I/Os are about names and not about contents: nothing is read or written.
    pub const fn is_about_names(self) -> bool {
        matches!(self, Self::FileCreate | Self::FileStat | Self::FileDelete) || self.is_about_directories()
    }
    /// Whether what its names stand for are directories.
    pub const fn is_about_directories(self) -> bool {
        matches!(self, Self::DirCreate | Self::DirStat | Self::DirDelete)
    }
    /// Whether it is about no file or device of this machine: none is looked at, made or opened.
    pub const fn needs_no_file(self) -> bool {
        matches!(self, Self::Null | Self::Exec | Self::Nbd | Self::Http | Self::Net)
    }
    /// Whether it sends commands to a disk's generic device: neither the page cache nor the block layer takes part.
    pub const fn sends_commands(self) -> bool {
        matches!(self, Self::IoUringCmd | Self::Sg)
    }
    /// Whether its I/Os change files whatever their direction.
    pub const fn always_changes(self) -> bool {
        matches!(
            self,
            Self::Falloc
                | Self::Ftruncate
                | Self::FileCreate
                | Self::FileDelete
                | Self::DirCreate
                | Self::DirDelete
        )
    }
    /// Whether more than one I/O can be in flight.
    pub const fn is_asynchronous(self) -> bool {
        matches!(
            self,
            Self::Libaio | Self::IoUring | Self::Posixaio | Self::Nbd | Self::IoUringCmd | Self::Sg
        )
    }
}

/// An interface and its options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    pub kind: EngineKind,
    /// Poll for completions instead of waiting for an interrupt (`hipri`; `io_uring`, `pvsync2`).
    pub poll: bool,
    /// Register the buffers with the ring (`fixedbufs`).
    pub fixed_buffers: bool,
    /// Register the files with the ring (`registerfiles`).
    pub registered_files: bool,
    /// A kernel thread takes submissions (`sqthread_poll`).
    pub submission_thread: bool,
    pub submission_thread_cpu: Option<u32>,
    /// Use the vectored operations of the ring (`nonvectored=0`).
    pub vectored: bool,
    /// Fail with EAGAIN rather than wait (`nowait`; `pvsync2`, `io_uring`, `libaio`).
    pub nowait: bool,
    /// Every so many I/Os are carried out by threads of the kernel (`force_async`; `posixaio`: all); 0: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kernel_threads_every: u32,
    /// Reads come from the medium, not from the disk's cache (`readfua`; `sg`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub reads_medium: bool,
    /// Writes are on the medium when they are done (`writefua`; `sg`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub writes_medium: bool,
    /// Ask for huge pages for the mappings (`thp`; `mmap`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub huge_mappings: bool,
}

/// Which NUMA nodes memory comes from (`set_mempolicy(2)`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPolicy {
    pub mode: MemoryMode,
    /// Without any the mode says it all.
    pub nodes: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryMode {
    /// That of the system.
    Default,
    /// Of one node, if it has any left.
    Prefer,
    /// Of these nodes alone.
    Bind,
    /// Of these nodes in turn.
    Interleave,
    /// Of the node that the thread runs on.
    Local,
}

impl MemoryMode {
    /// All of them, by the names that job files use, in the order of the kernel's numbers.
    pub const ALL: [(&str, Self); 5] = [
        ("default", Self::Default),
        ("prefer", Self::Prefer),
        ("bind", Self::Bind),
        ("interleave", Self::Interleave),
        ("local", Self::Local),
    ];
}

/// A control group of the kernel's first version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ControlGroup {
    /// Below the mount of its controller; empty: there is none.
    pub name: String,
    /// Its share of I/O, 100 to 1000; `None`: that of all groups.
    pub weight: Option<u16>,
    /// It is left when the run has ended.
    pub stays: bool,
}

/// What a run's stamps are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimedBy {
    /// The processor's counter where the kernel trusts it, else the kernel's clock.
    #[default]
    Best,
    /// The processor's counter.
    Counter,
    /// The kernel's monotonic clock.
    Monotonic,
    /// The same in whole microseconds.
    Microseconds,
}

/// Commands of a shell around a job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Commands {
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Whose rights workers have; `None`: those of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunsAs {
    pub user: Option<u32>,
    pub group: Option<u32>,
}

/// The kernel's priority of a thread's I/O (`ioprio_set(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoPriority {
    /// 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// Within the class, 0 (first) to 7 (last).
    pub level: u8,
}

/// How many I/Os a worker keeps in flight, and how they are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depth {
    /// At most this many in flight; at least 1. Synchronous engines keep 1.
    pub iodepth: u32,
    /// Most I/Os in one submission; 0: as many as are ready.
    pub batch_submit: u32,
    /// Wait for at least this many completions at a time; at least 1, 0 never waits while any can be sent.
    pub batch_complete_min: u32,
    /// Take at most this many completions at a time; 0: all that are there.
    pub batch_complete_max: u32,
    /// Once full, refill only when no more than this many are in flight; equal to `iodepth`: at once.
    pub low: u32,
}

impl IoPriority {
    /// As the kernel has it in one number.
    pub const fn number(self) -> u16 {
        (self.class as u16) << 13 | self.level as u16
    }

    /// In one byte: class times 8 and level.
    pub const fn packed(self) -> u8 {
        self.class << 3 | self.level & 7
    }

    /// The way back.
    pub const fn unpacked(packed: u8) -> Self {
        Self {
            class: packed >> 3,
            level: packed & 7,
        }
    }
}

/// Which I/Os have a priority of their own, and which: of reads and of writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPriorities {
    /// Share of the I/Os, in percent; 0: none.
    pub percent: PerOp<u8>,
    /// What those have, and others that name none.
    pub priority: PerOp<IoPriority>,
    /// Shares by size, in place of `percent`.
    pub by_size: PerOp<Vec<SizePriority>>,
}

/// A share of the I/Os of one size that has a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizePriority {
    pub bytes: u64,
    pub percent: u8,
    /// `None`: the one of [`CommandPriorities::priority`].
    pub priority: Option<IoPriority>,
}

impl Default for CommandPriorities {
    fn default() -> Self {
        Self {
            percent: [0; 3],
            // Real time, the first level.
            priority: [IoPriority { class: 1, level: 0 }; 3],
            by_size: [Vec::new(), Vec::new(), Vec::new()],
        }
    }
}

impl CommandPriorities {
    /// Whether any I/O has one.
    pub fn any(&self) -> bool {
        self.percent.iter().any(|&percent| percent > 0)
            || self.by_size.iter().any(|shares| !shares.is_empty())
    }
}

impl Job {
    /// The largest block of any direction that the job uses, in bytes: the size of its buffers.
    pub fn max_block_bytes(&self) -> u64 {
        self.used_ops()
            .map(|op| self.block_size[op].max())
            .max()
            .unwrap_or(0)
    }
    /// The smallest block of any direction that the job uses, in bytes.
    pub fn min_block_bytes(&self) -> u64 {
        self.used_ops()
            .map(|op| self.block_size[op].min())
            .min()
            .unwrap_or(0)
    }
    /// What offsets of direction `op` are multiples of, in bytes; at least 1.
    pub fn block_align_bytes(&self, op: usize) -> u64 {
        match self.block_align[op] {
            0 => self.block_size[op].min().max(1),
            given => given,
        }
    }
    /// The indices ([`crate::backend::Op::index`]) of the directions that its mix uses.
    pub fn used_ops(&self) -> impl Iterator<Item = usize> + '_ {
        let used = self.pattern.mix.uses();
        (0..3).filter(move |&op| used[op])
    }
    /// Whether it changes what is stored (writes or trims).
    pub fn writes(&self) -> bool {
        let [_, write, trim] = self.pattern.mix.uses();
        self.engine.kind.always_changes()
            || (write || trim)
                && self.engine.kind != EngineKind::Exec
                && !self.verify.as_ref().is_some_and(|v| v.only)
    }
    /// Whether more than one I/O of a worker can be in flight. As with fio, `sg` sends one command at a time where I/O is to be
    /// direct or synchronous.
    pub fn is_asynchronous(&self) -> bool {
        let one_at_a_time =
            self.engine.kind == EngineKind::Sg && (self.direct || self.sync.mode != SyncMode::None);
        self.engine.kind.is_asynchronous() && !one_at_a_time
    }
    /// Whether the page cache takes part. A mapping is the page cache, whatever `direct` says.
    pub fn uses_page_cache(&self) -> bool {
        let kind = self.engine.kind;
        (!self.direct || kind == EngineKind::Mmap) && !kind.sends_commands()
    }
    /// Whether arrivals follow a schedule of their own.
    pub fn is_open_loop(&self) -> bool {
        self.replay.is_some() || self.used_ops().any(|op| self.pace.rate[op].is_some())
    }
    /// In flight at most, over all its workers.
    pub fn total_depth(&self) -> u64 {
        let depth = if self.is_asynchronous() || self.engine.kind == EngineKind::Null {
            self.depth.iodepth
        } else {
            1
        };
        u64::from(depth) * u64::from(self.numjobs)
    }
}

impl Workload {
    /// How many workers run in all.
    pub fn workers(&self) -> u32 {
        self.jobs.iter().map(|job| job.numjobs).sum()
    }
}

/// A job with fio's defaults for everything but its name: what a dialect starts from.
impl Default for Job {
    fn default() -> Self {
        let block = BlockSize::Fixed(Bytes::from_kib(4).get());
        Self {
            name: String::new(),
            description: String::new(),
            numjobs: 1,
            group: 0,
            group_reporting: false,
            start: Start::default(),
            limit: Limit::default(),
            files: Files::default(),
            region: Region::default(),
            pattern: Pattern::default(),
            replay: None,
            read_iolog: None,
            block_size: [block.clone(), block.clone(), block],
            block_align: [0; 3],
            engine: Engine {
                kind: EngineKind::Psync,
                poll: false,
                fixed_buffers: false,
                registered_files: false,
                submission_thread: false,
                submission_thread_cpu: None,
                vectored: false,
                nowait: false,
                kernel_threads_every: 0,
                reads_medium: false,
                writes_medium: false,
                huge_mappings: false,
            },
            depth: Depth {
                iodepth: 1,
                batch_submit: 1,
                batch_complete_min: 1,
                batch_complete_max: 0,
                low: 1,
            },
            direct: false,
            sync: SyncRules::default(),
            pace: Pace::default(),
            buffers: Buffers::default(),
            verify: None,
            on_error: ErrorRule::default(),
            ignored_errors: PerOp::default(),
            stops: Stops::default(),
            latency_target: None,
            flow: None,
            serialize_overlap: false,
            numa_cpu_nodes: Vec::new(),
            memory_policy: None,
            lock_bytes: 0,
            runs_as: RunsAs::default(),
            commands: Commands::default(),
            program: Program::default(),
            uri: String::new(),
            http: Http::default(),
            net: Net::default(),
            control_group: ControlGroup::default(),
            timed_by: TimedBy::Best,
            cpus_allowed: Vec::new(),
            cpus_split: false,
            nice: 0,
            io_priority: None,
            command_priorities: CommandPriorities::default(),
            count_files: false,
            count_workers: false,
            reporting: Reporting::default(),
            random_seed: 0,
            percentiles: Percentiles::default(),
        }
    }
}
