//! The streams of a record, who takes their rows, and what became of each.

use serde::{Deserialize, Serialize};
use std::io;

/// One stream of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamKind {
    /// Every I/O of the load: [`super::IoRecord`].
    Io,
    /// Every request of the devices: [`super::BlockRequest`].
    Block,
    /// The system's counters: [`super::CounterRow`].
    Counters,
    /// What each process used: [`super::ProcessRow`].
    Processes,
    /// Who ran: [`super::SchedSlice`].
    Sched,
    /// Who had each CPU, a hundredth of a second at a time: [`super::CpuShare`].
    Cpus,
    /// What the kernel did for a while: [`super::KernelSpan`].
    Kernel,
}

impl StreamKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Io,
        Self::Block,
        Self::Counters,
        Self::Processes,
        Self::Sched,
        Self::Cpus,
        Self::Kernel,
    ];

    /// Its name: of the folder that holds it, and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Block => "block",
            Self::Counters => "counters",
            Self::Processes => "processes",
            Self::Sched => "sched",
            Self::Cpus => "cpus",
            Self::Kernel => "kernel",
        }
    }
}

/// What became of one stream that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamSummary {
    pub kind: StreamKind,
    /// Rows kept.
    pub rows: u64,
    /// Rows (of `block`: events of the kernel) that were lost because the recording could not keep up.
    pub dropped: u64,
    /// Why it, or a part of it, is not there, and how to get it; empty where all of it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// Takes the rows of one stream as they are made: a second after it was given, a row is in the file system. Called from
/// outside the measured threads.
pub trait RowSink<R>: Send {
    /// Takes rows: I/Os of one worker in the order of their completion, requests in that of theirs, all else in the
    /// order of time.
    ///
    /// # Errors
    /// They could not be kept; the run goes on, and the error is reported at its end.
    fn rows(&mut self, rows: &[R]) -> io::Result<()>;
}

impl<R: Clone + Send> RowSink<R> for Vec<R> {
    fn rows(&mut self, rows: &[R]) -> io::Result<()> {
        self.extend_from_slice(rows);
        Ok(())
    }
}
