//! Who had a CPU, why a task left it, and who let it go on.

use super::Comm;

/// Why a task left the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TaskState {
    /// It was made to: it could have gone on.
    Preempted = 0,
    /// It slept, and a signal may wake it.
    Sleeping = 1,
    /// It slept and no signal wakes it: mostly I/O.
    Uninterruptible = 2,
    /// Anything else, such as its end.
    Other = 3,
    /// A signal stopped it (`SIGSTOP`, a debugger).
    Stopped = 4,
}

impl TaskState {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::Preempted,
        Self::Sleeping,
        Self::Uninterruptible,
        Self::Other,
        Self::Stopped,
    ];

    /// `preempted`, `sleeping`, `uninterruptible`, `other` or `stopped`.
    pub const fn name(self) -> &'static str {
        ["preempted", "sleeping", "uninterruptible", "other", "stopped"][self as usize]
    }
}

/// What a task left the CPU for, as its kernel stack at that moment says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum BlockedOn {
    /// The stack was not recorded, or says nothing that is known.
    #[default]
    Unknown = 0,
    /// Itself: a timer, or I/Os of its own that it waits for (`io_getevents`, `epoll_wait`, `io_uring_enter`).
    Itself = 1,
    /// An I/O that it waits for in the call that makes it; a cgroup's throttle looks the same.
    Io = 2,
    /// A tag of the device's queue.
    Tag = 3,
    /// The throttle of writeback (`wbt_wait`).
    WritebackThrottle = 4,
    /// A commit of the journal, or a buffer that one holds.
    Journal = 5,
    /// Too many dirty pages (`balance_dirty_pages`).
    DirtyLimit = 6,
    /// A page that is being written back.
    Writeback = 7,
    /// A lock in the kernel or of the program (`rwsem`, `mutex`, `futex`).
    Lock = 8,
    /// Memory: reclaim on its behalf.
    Reclaim = 9,
    /// A page fault that reads from disk.
    Fault = 10,
    /// The CPU quota of its cgroup is used up.
    Quota = 11,
    /// The freezer.
    Frozen = 12,
    /// A signal that stopped it.
    Stopped = 13,
}

impl BlockedOn {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::Unknown,
        Self::Itself,
        Self::Io,
        Self::Tag,
        Self::WritebackThrottle,
        Self::Journal,
        Self::DirtyLimit,
        Self::Writeback,
        Self::Lock,
        Self::Reclaim,
        Self::Fault,
        Self::Quota,
        Self::Frozen,
        Self::Stopped,
    ];

    /// As a column has it.
    pub const fn name(self) -> &'static str {
        [
            "unknown",
            "itself",
            "io",
            "tag",
            "writeback_throttle",
            "journal",
            "dirty_limit",
            "writeback",
            "lock",
            "reclaim",
            "fault",
            "quota",
            "frozen",
            "stopped",
        ][self as usize]
    }
}

/// One stay of a task on a CPU. Those of the threads that make I/O are kept throughout; those of others where an I/O was slow
/// meanwhile or a little before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedSlice {
    pub cpu: u32,
    /// Which task (a thread's number, not its process's); 0 is the idle task, which is not kept.
    pub tid: u32,
    /// Its name.
    pub comm: Comm,
    /// When it was last woken or made to leave a CPU while it could have run, before this stay: it waited for a CPU from
    /// then to `start_ns`. `None` where that was not seen.
    pub ready_ns: Option<u64>,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Why.
    pub state: TaskState,
    /// What it left for.
    pub blocked_on: BlockedOn,
    /// Which task woke it before this stay; 0 where an interrupt did, or that was not seen.
    pub waker_tid: u32,
    /// That task's name; empty where there is none.
    pub waker_comm: Comm,
}

/// What one task had of one CPU in a short span of time: all spans of all CPUs together say who had them throughout. What tasks
/// had of a span adds up to its length, the idle task's part among it; to less only where events were lost, or it is not known
/// who had the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuShare {
    /// The span's end.
    pub end_ns: u64,
    /// Its length: 10 ms, or longer where one task had the CPU all of it.
    pub duration_ns: u64,
    pub cpu: u32,
    /// Which task; 0: nobody, the CPU was idle; [`CpuShare::OTHERS`]: all that had less than those named.
    pub tid: u32,
    /// Its name.
    pub comm: Comm,
    /// How much of the span it had.
    pub ran_ns: u64,
}

impl CpuShare {
    /// Stands for several tasks.
    pub const OTHERS: u32 = u32::MAX;
}
