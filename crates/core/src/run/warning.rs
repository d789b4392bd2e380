//! What to know before trusting a run's numbers: each with what was seen and what to do about it.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reason to doubt a number. Display says what was seen; [`Warning::remedy`] what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Warning {
    /// The program was built without optimisation.
    DebugBuild,
    /// Other work ran on the machine.
    BusyHost { load_1min: f64, cpus: u32 },
    /// Reads of a file's unwritten extents never reach the disk.
    UnwrittenExtents { path: String, share_percent: f64 },
    /// I/O that the page cache may have served.
    PageCache { path: String, resident_percent: f64 },
    /// The file system keeps data in memory.
    MemoryFilesystem { path: String, filesystem: String },
    /// The file system is a layer over another.
    StackedFilesystem { path: String, filesystem: String },
    /// Direct I/O was asked for and refused.
    DirectRefused { path: String, reason: String },
    /// The block size or offset does not allow direct I/O.
    DirectUnaligned {
        path: String,
        block_bytes: u64,
        need_bytes: u64,
    },
    /// The size asked for does not fit into the device or file.
    SizeClipped {
        path: String,
        size_bytes: u64,
        path_bytes: u64,
        offset_bytes: u64,
        used_bytes: u64,
    },
    /// Of the region asked for, whole zones are used.
    RoundedToZones {
        path: String,
        offset_bytes: u64,
        used_bytes: u64,
    },
    /// Writes were buffered and not flushed: the disk did not yet have them when the job ended.
    BufferedWrites { job: String },
    /// The schedule was not kept.
    Backlog {
        job: String,
        backlog_max: u64,
        backlog_end: u64,
    },
    /// A recording's times were not kept.
    ReplayLate {
        job: String,
        /// I/Os that started late.
        late_ios: u64,
        /// Of so many.
        ios: u64,
        /// From this error on an I/O is late.
        late_from_ns: u64,
    },
    /// A recording could not be played to its end.
    ReplayCut { detail: String },
    /// The CPUs of the load were busy throughout: the tool or the CPU may be the limit.
    CpuBound { job: String, cpu_percent: f64 },
    /// Too few I/Os for the percentiles asked for.
    FewSamples { job: String, n: u64, percentile: f64 },
    /// The clock of the stamps is not the processor's counter.
    SlowClock { source: String },
    /// The run was shorter than it takes to say something of a disk.
    ShortRun { job: String, runtime_ns: u64 },
    /// The device below is not known: disk counters are missing.
    DeviceUnknown { path: String, reason: String },
    /// The program did not run for a while, and the load with it.
    LoadStopped {
        /// The first of them, in the order of time.
        stops: Vec<LoadStop>,
        /// How often it was stopped in all.
        number: u64,
        /// For how long in all.
        total_ns: u64,
    },
    /// Some of the record could not be kept.
    RecordIncomplete { detail: String },
    /// Something was set up on a target while the load wrote to it, which ended the run.
    TargetTaken { detail: String },
    /// Something of the targets is not as it was to be left.
    Left { detail: String },
    /// Limits of the modelled machine that no source states.
    ModelLimitNotKnown { limits: Vec<String> },
    /// What of the modelled machine no source states, and is assumed.
    ModelAssumes { what: Vec<String> },
    /// A disk smaller than the one of that name: it would be sold as another one.
    ModelSizeOffCatalogue {
        disk: String,
        size_bytes: u64,
        catalogue_bytes: u64,
        sold_as: String,
    },
    /// Verification on a disk that holds no data.
    ModelHoldsNoData { job: String },
    /// A modelled disk was served live, and its answers came too late.
    ServedLate {
        /// By how much, of 99 % of them at most.
        late_ns_p99: u64,
        /// Up to this share of the median service time they are in time.
        share_max_percent: f64,
    },
    /// An interface that the kernel lets nobody have here was replaced, as was asked for then.
    EngineBlocked {
        /// Jobs that have libaio in the place of `io_uring`.
        jobs: Vec<String>,
        /// What blocks it.
        why: String,
    },
    /// Something that the dialect does otherwise than the tool it imitates.
    Dialect { message: String },
}

/// A time in which no thread of the program ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadStop {
    /// When it began, after the start of the run.
    pub at_ns: u64,
    /// How long it went on.
    pub length_ns: u64,
    pub by: StoppedBy,
}

/// What can stop a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// `SIGSTOP` or a signal of the terminal, up to a `SIGCONT`.
    Signal,
    /// No signal: the freezer of a control group, or a machine that was paused.
    Frozen,
}

impl StoppedBy {
    const fn in_words(self) -> &'static str {
        match self {
            Self::Signal => "by a signal",
            Self::Frozen => "without a signal: frozen by its control group, or with the whole machine",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DebugBuild => {
                f.write_str("this is a debug build: its own cost is many times that of a release")
            }
            Self::BusyHost { load_1min, cpus } => {
                write!(
                    f,
                    "the machine was busy before the run: load {load_1min:.1} on {cpus} CPUs"
                )
            }
            Self::UnwrittenExtents { path, share_percent } => write!(
                f,
                "{share_percent:.0} % of {path} has no data on the disk (unwritten extents or holes): reads of it \
                 never reach the disk"
            ),
            Self::PageCache {
                path,
                resident_percent,
            } => write!(
                f,
                "I/O on {path} goes through the page cache ({resident_percent:.0} % of it was in memory before the \
                 run): what is written, and what is read again, is served by memory"
            ),
            Self::MemoryFilesystem { path, filesystem } => {
                write!(
                    f,
                    "{path} is on {filesystem}: its data is in memory, not on a disk"
                )
            }
            Self::StackedFilesystem { path, filesystem } => {
                write!(f, "{path} is on {filesystem}, a layer over another file system")
            }
            Self::DirectRefused { path, reason } => {
                write!(
                    f,
                    "direct I/O on {path} was refused ({reason}): the page cache took part"
                )
            }
            Self::DirectUnaligned {
                path,
                block_bytes,
                need_bytes,
            } => write!(
                f,
                "direct I/O on {path} needs multiples of {}, the job uses {}",
                Bytes(*need_bytes),
                Bytes(*block_bytes)
            ),
            Self::SizeClipped {
                path,
                size_bytes,
                path_bytes,
                offset_bytes,
                used_bytes,
            } => {
                let (size, whole, used) = (Bytes(*size_bytes), Bytes(*path_bytes), Bytes(*used_bytes));
                write!(f, "size={size} is larger than {path} ({whole})")?;
                if *offset_bytes > 0 {
                    write!(f, " from offset {} on", Bytes(*offset_bytes))?;
                }
                write!(f, ": clipped to {used}")
            }
            Self::RoundedToZones {
                path,
                offset_bytes,
                used_bytes,
            } => write!(
                f,
                "zones are used whole: of {path}, {} from offset {} on",
                Bytes(*used_bytes),
                Bytes(*offset_bytes)
            ),
            Self::BufferedWrites { job } => write!(
                f,
                "{job}: writes ended in the page cache: the disk was still behind when the job ended"
            ),
            Self::Backlog {
                job,
                backlog_max,
                backlog_end,
            } => write!(
                f,
                "{job}: the schedule was not kept: up to {backlog_max} I/Os were due and not sent, {backlog_end} at the \
                 end"
            ),
            Self::ReplayLate {
                job,
                late_ios,
                ios,
                late_from_ns,
            } => write!(
                f,
                "{job}: the recorded times were not kept: {late_ios} of {ios} I/Os started {} or more late",
                Nanos(*late_from_ns)
            ),
            Self::ReplayCut { detail } => write!(f, "the recording was not played to its end: {detail}"),
            Self::CpuBound { job, cpu_percent } => {
                write!(
                    f,
                    "{job}: its workers used {cpu_percent:.0} % of their CPUs: the CPU may be what limits"
                )
            }
            Self::FewSamples { job, n, percentile } => {
                write!(
                    f,
                    "{job}: {n} I/Os are too few for p{percentile}: it is decided by fewer than ten of them"
                )
            }
            Self::SlowClock { source } => {
                write!(f, "stamps come from {source}, which costs some 20 ns more each")
            }
            Self::ShortRun { job, runtime_ns } => write!(f, "{job}: ran for {} only", Nanos(*runtime_ns)),
            Self::DeviceUnknown { path, reason } => write!(f, "no disk counters for {path}: {reason}"),
            Self::TargetTaken { detail } => write!(f, "the load was ended: {detail}"),
            Self::Left { detail } => f.write_str(detail),
            Self::LoadStopped {
                stops,
                number,
                total_ns,
            } => fmt_of_stops(f, stops, *number, *total_ns),
            Self::RecordIncomplete { detail } => write!(f, "the record is incomplete: {detail}"),
            Self::ModelLimitNotKnown { limits } => write!(
                f,
                "limits of the modelled machine that no source states, and that held nothing back: {}",
                limits.join("; ")
            ),
            Self::ModelAssumes { what } => write!(
                f,
                "to be known of the modelled machine before its figures are used: {}",
                what.join("; ")
            ),
            Self::ModelSizeOffCatalogue {
                disk,
                size_bytes,
                catalogue_bytes,
                sold_as,
            } => write!(
                f,
                "the modelled {disk} has {}, the {disk} of the catalogue {}: {0} are sold as {sold_as}; modelled are the \
                 limits of {disk}",
                Bytes(*size_bytes),
                Bytes(*catalogue_bytes)
            ),
            Self::ModelHoldsNoData { job } => {
                write!(f, "{job}: a modelled disk holds no data: nothing was verified")
            }
            Self::ServedLate {
                late_ns_p99,
                share_max_percent,
            } => write!(
                f,
                "not valid: the server gave its answers up to {} late (p99), more than {share_max_percent} % of the median \
                 service time",
                Nanos(*late_ns_p99)
            ),
            Self::EngineBlocked { jobs, why } => {
                write!(
                    f,
                    "{}: libaio was used in the place of io_uring: {why}",
                    jobs.join(", ")
                )
            }
            Self::Dialect { message } => f.write_str(message),
        }
    }
}

impl Warning {
    /// What it says and what to do, in sentences.
    pub fn in_full(&self) -> String {
        match self.remedy() {
            "" => format!("{self}."),
            remedy => format!("{self}. {remedy}"),
        }
    }

    /// What to do about it, in one sentence; empty where there is nothing to do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::DebugBuild => "Build with --release.",
            Self::ModelLimitNotKnown { .. } => {
                "Take rates as upper bounds, or give the limits in a model file."
            }
            Self::ModelAssumes { .. } => "Give what was measured in a model file, which overrides any field.",
            Self::ModelSizeOffCatalogue { .. } => {
                "Leave size= out, or name the disk that is sold at this size."
            }
            Self::BusyHost { .. } => "Run on a quiet machine, or repeat and compare.",
            Self::UnwrittenExtents { .. } => {
                "Write the file in full first (overwrite=1, or a write job before this one)."
            }
            Self::PageCache { .. } => "Use direct=1, or a file several times the size of memory.",
            Self::MemoryFilesystem { .. } => "Use a file on the disk that you want to measure.",
            Self::StackedFilesystem { .. } => "Use a file on a volume mounted from the disk itself.",
            Self::DirectRefused { .. } => "Use a file system with direct I/O, or direct=0 knowingly.",
            Self::DirectUnaligned { .. } => "Use bs and offset in multiples of the sector size, or direct=0.",
            Self::SizeClipped { .. } => "Give a smaller size=, or leave it out to use all that there is.",
            Self::RoundedToZones { .. } => "Give offset= and size= in multiples of the zones' size.",
            Self::BufferedWrites { .. } => "Add end_fsync=1 to count the flush, or direct=1.",
            Self::Backlog { .. } => "Lower the rate or raise iodepth; judge by response time, not by lat.",
            Self::ReplayLate { .. } => {
                "Where the target does not keep up, replay with --dependent, or judge by response time; else raise --depth or \
                 --workers."
            }
            Self::ReplayCut { .. } => "Replay it again from a file that nobody changes.",
            Self::CpuBound { .. } => "Use more workers or CPUs, or a cheaper engine (io_uring).",
            Self::FewSamples { .. } => "Run longer, or read a lower percentile.",
            Self::SlowClock { .. } => {
                "Choose the clock source tsc (on Arm arch_sys_counter), if the hypervisor offers it."
            }
            Self::ShortRun { .. } => "Run for a minute at least: cloud disks burst, and caches fill.",
            Self::TargetTaken { .. } => {
                "Undo that, look whether what is there is still whole, then run again."
            }
            Self::DeviceUnknown { .. }
            | Self::Left { .. }
            | Self::ModelHoldsNoData { .. }
            | Self::Dialect { .. } => "",
            Self::LoadStopped { .. } => {
                "Do not take latencies of that time for the disk's; repeat the run where nothing stops it."
            }
            Self::EngineBlocked { .. } => {
                "Allow io_uring_setup, io_uring_enter and io_uring_register (in Kubernetes a seccomp profile that has them) to measure with io_uring."
            }
            Self::ServedLate { .. } => {
                "Serve it on a machine with less else to do or with more CPUs, and as root, so that its answers come in real time."
            }
            Self::RecordIncomplete { .. } => "Write the run directory to a faster or emptier disk (-o).",
        }
    }
}

fn fmt_of_stops(f: &mut fmt::Formatter<'_>, stops: &[LoadStop], number: u64, total_ns: u64) -> fmt::Result {
    let total = Nanos(total_ns);
    let Some(longest) = stops.iter().max_by_key(|stop| stop.length_ns) else {
        return write!(f, "the load was stopped for {total}");
    };
    let (at, by) = (Nanos(longest.at_ns), longest.by.in_words());
    if number <= 1 {
        return write!(f, "the load was stopped for {total} ({by}), {at} after its start");
    }
    write!(
        f,
        "the load was stopped {number} times, for {total} in all; for {} ({by}), {at} after its start",
        Nanos(longest.length_ns)
    )
}
