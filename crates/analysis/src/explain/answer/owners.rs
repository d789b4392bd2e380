//! Whose time is lost.

use super::{Cause, Process};
use serde::Serialize;

/// What a span of a slow I/O's time is spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerClass {
    /// What such an I/O takes in quiet time: nothing is lost.
    Usual,
    /// The device, or what is behind it.
    Device,
    /// A flush of the device's cache.
    Flush,
    /// Another process's I/O at the device: it would have been faster without.
    CompetingIo,
    /// The kernel's queue: a tag, the scheduler.
    KernelQueue,
    /// A cgroup's limit on I/O.
    CgroupIo,
    /// The CPU quota of a cgroup.
    Quota,
    /// The load stood ready and another one had the CPU.
    NoCpu,
    /// The load computed.
    OwnCpu,
    /// Behind other I/Os of the load, which took no longer than they usually do.
    OwnQueue,
    /// A commit of the file system's journal.
    Journal,
    /// Too many dirty pages, or a page that was being written back.
    DirtyPages,
    /// Memory was reclaimed, or a page read.
    Memory,
    /// A lock that another task had.
    Lock,
    /// A signal had stopped the load.
    Stopped,
    /// The freezer had.
    Frozen,
    /// The CPU, or all of them, did not run: timers came late by that long, whoever seemed to have it.
    Standstill,
    /// A timer was late though nobody had its CPU: the machine itself did not run, or that CPU slept deep.
    LateTimer,
    /// No evidence says.
    NotSeen,
}

impl OwnerClass {
    /// What that is called as the cause of a disturbance.
    pub const fn cause(self) -> Cause {
        match self {
            Self::Usual | Self::NotSeen => Cause::Unknown,
            Self::Device => Cause::Device,
            Self::Flush | Self::Journal => Cause::FlushOrJournal,
            Self::CompetingIo => Cause::CompetingIo,
            Self::KernelQueue => Cause::KernelQueue,
            Self::CgroupIo | Self::Quota => Cause::CgroupThrottle,
            Self::NoCpu => Cause::CpuStarvation,
            Self::OwnCpu | Self::OwnQueue | Self::DirtyPages => Cause::LoadItself,
            Self::Memory => Cause::Memory,
            Self::Lock => Cause::Lock,
            Self::Stopped | Self::Frozen => Cause::LoadStopped,
            Self::Standstill => Cause::Standstill,
            Self::LateTimer => Cause::LateTimer,
        }
    }

    /// In a few words, after "8.1 s": `no CPU`, `at the device`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Usual => "as usual",
            Self::Device => "at the device",
            Self::Flush => "behind a flush",
            Self::CompetingIo => "behind other processes' I/O",
            Self::KernelQueue => "in the kernel's queue",
            Self::CgroupIo => "held by the cgroup's I/O limit",
            Self::Quota => "CPU quota used up",
            Self::NoCpu => "no CPU",
            Self::OwnCpu => "computing",
            Self::OwnQueue => "behind its own I/Os",
            Self::Journal => "waiting for the journal",
            Self::DirtyPages => "dirty pages",
            Self::Memory => "waiting for memory",
            Self::Lock => "waiting for a lock",
            Self::Stopped => "stopped by a signal",
            Self::Frozen => "frozen",
            Self::Standstill => "while the machine stood still",
            Self::LateTimer => "woken late by an idle CPU",
            Self::NotSeen => "not seen",
        }
    }

    /// A time of it with who it was: `8.1 s no CPU, which sh had`.
    pub fn told(self, time: &str, who: Option<&str>) -> String {
        let words = self.words();
        match (self, who) {
            (_, None) => format!("{time} {words}"),
            (Self::NoCpu, Some(who)) => format!("{time} {words}, which {who} had"),
            (_, Some(who)) => format!("{time} {words}: {who}"),
        }
    }
}

/// A part of the time that slow I/Os took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Owned {
    pub class: OwnerClass,
    /// Who, where that is known.
    pub process: Option<Process>,
    /// The path of that one's cgroup, where it is known and not the root of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// Over all slow I/Os; of very many, those that were looked at stand for the others.
    pub ns: u64,
    /// As part of what was lost; 0 for what is usual.
    pub share: f64,
    /// What shows it.
    pub evidence: &'static str,
}
