//! What a command did while it was recorded: the document that a recording of a command has beside its streams.

use super::CpuUsage;
use serde::{Deserialize, Serialize};

/// A command with all the processes that it started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSummary {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// When it was started, on the clock of the run.
    pub started_ns: u64,
    /// When it was seen to have ended.
    pub ended_ns: u64,
    pub exit: CommandExit,
    /// CPU time, context switches and page faults of the command and of all that was waited for (`getrusage(2)`); all zeros,
    /// and then not written: not measured.
    #[serde(default, skip_serializing_if = "CpuUsage::is_not_known")]
    pub cpu: CpuUsage,
    /// The kernel's account of its I/O; `None`: not to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<ProcessIo>,
    /// Whose bytes the recorded devices moved meanwhile; empty where their requests were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<CommandDevice>,
    /// What it spent its time on; `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<CommandWaits>,
    /// The same, part by part of its duration; `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<CommandCourse>,
    /// Processes and threads that it consisted of, the first one included; `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// Those of them that went on when it had ended.
    #[serde(default)]
    pub outliving: u64,
    /// How long it took afterwards to write out what it had left in the page cache; `None`: nobody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<u64>,
    /// What is not known of it, and why, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl CommandSummary {
    /// How long it took, in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.started_ns)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandExit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl CommandExit {
    /// Whether it says that all went well.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

/// `/proc/PID/io` of a process that has ended, with that of all those that were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessIo {
    /// By `read(2)` and the like, from wherever.
    pub read_call_bytes: u64,
    /// By `write(2)` and the like, to wherever.
    pub write_call_bytes: u64,
    /// Such calls.
    pub read_calls: u64,
    pub write_calls: u64,
    /// Fetched from storage.
    pub read_bytes: u64,
    /// Sent towards storage: what goes through the page cache counts when its page becomes dirty.
    pub written_bytes: u64,
    /// Of those, never to be written: the file was truncated or removed before.
    pub cancelled_bytes: u64,
}

/// Reads and writes of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moved {
    pub read_ios: u64,
    pub read_bytes: u64,
    pub write_ios: u64,
    pub write_bytes: u64,
}

impl Moved {
    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }

    /// Requests in both directions.
    pub fn ios(&self) -> u64 {
        self.read_ios + self.write_ios
    }
}

/// Whose requests a device served while a command ran.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandDevice {
    /// Kernel name.
    pub name: String,
    /// `major << 20 | minor`.
    pub device: u32,
    /// The command's: queued by one of its tasks, or by the kernel on behalf of one.
    pub tree: Moved,
    /// Of those, queued by the kernel: buffered writes, journal commits.
    pub tree_by_kernel: Moved,
    /// Of those, queued after the command had ended.
    pub tree_after: Moved,
    /// Others', known by name.
    pub others: Moved,
    /// Queued by the kernel on behalf of nobody knows whom.
    pub unattributed: Moved,
}

/// What a command spent its time on. What is seen of none of its threads belongs to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandWaits {
    /// Of its duration: adds up to it with what is not known.
    pub elapsed: TimeSplit,
    /// Of all its threads' time, added up.
    pub threads: TimeSplit,
}

/// A time by what it was spent on, in nanoseconds. Of a command's duration a moment is of the first of these that any of its
/// threads was at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TimeSplit {
    /// On a CPU.
    pub cpu_ns: u64,
    /// Could have run, and had no CPU.
    pub ready_ns: u64,
    /// Blocked until an I/O, or what stands for one (a tag, the journal, too many dirty pages), was done.
    pub disk_ns: u64,
    /// Any other sleep: locks, pipes, the network, timers.
    pub other_ns: u64,
}

/// What a command spent each part of its duration on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandCourse {
    /// How long each part is, from its start on: a second, or longer where there would be too many.
    pub part_ns: u64,
    pub parts: Vec<TimeSplit>,
}

impl TimeSplit {
    /// All of it.
    pub fn total_ns(&self) -> u64 {
        self.cpu_ns + self.ready_ns + self.disk_ns + self.other_ns
    }
}
