//! Who had a CPU, and why a task left it.

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
}

impl TaskState {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 4] = [
        Self::Preempted,
        Self::Sleeping,
        Self::Uninterruptible,
        Self::Other,
    ];

    /// `preempted`, `sleeping`, `uninterruptible` or `other`.
    pub const fn name(self) -> &'static str {
        ["preempted", "sleeping", "uninterruptible", "other"][self as usize]
    }
}

/// One stay of a task on a CPU, kept because an I/O was slow meanwhile or a little before.
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
}
