//! The files of one process.
//!
//! Duty: take out what is wanted. Data in: text of `/proc/PID/stat`, `io`, `schedstat` (proc(5)). Data out: plain numbers, or
//! `None` for text of another shape. It must not know the process before.

use super::super::text::{lines, number, number_of, words};
use fathom_core::record::Comm;

/// `PF_KTHREAD` of include/linux/sched.h.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// What `stat` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) comm: Comm,
    pub(super) parent: u32,
    pub(super) kernel_thread: bool,
    /// CPU time in user mode and in the kernel, by all threads, in the kernel's ticks.
    pub(super) ticks: u64,
    /// When it began: tells a process from an older one of the same number.
    pub(super) start_ticks: u64,
}

/// What `io` says: bytes that went to and came from storage since the process began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Io {
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
}

impl Io {
    /// What came since `before`; 0 where it fell.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.read_bytes = self.read_bytes.saturating_add(more.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(more.written_bytes);
    }
}

/// `1 (name) S 0 …`: the name may hold anything, brackets and spaces among it.
pub(super) fn parse_stat(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let comm = Comm::new(text.get(open + 1..close)?);
    // The state is field 3 of proc(5), so that field n is the word n - 3 from here.
    let mut fields = words(&text[close + 1..]).skip(1);
    let mut field = |skipped: usize| number(fields.nth(skipped)?);
    let parent = field(0)?;
    // Process group, session and terminal are between, and may be negative.
    let flags = field(4)?;
    let user = field(4)?;
    let system = field(0)?;
    let start_ticks = field(6)?;
    Some(Stat {
        comm,
        parent: u32::try_from(parent).ok()?,
        kernel_thread: flags & KERNEL_THREAD != 0,
        ticks: user.saturating_add(system),
        start_ticks,
    })
}

/// Lines of `name: number`.
pub(super) fn parse_io(text: &[u8]) -> Option<Io> {
    let find = |key: &[u8]| lines(text).find_map(|line| number_of(line, key));
    Some(Io {
        read_bytes: find(b"read_bytes:")?,
        written_bytes: find(b"write_bytes:")?,
    })
}

/// Time on a CPU, time ready without one, stays; the first two in nanoseconds (Documentation/scheduler/sched-stats.rst).
pub(super) fn parse_run_delay(text: &[u8]) -> Option<u64> {
    number(words(text).nth(1)?)
}
