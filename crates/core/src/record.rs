//! What is kept of a run beside its statistics: every I/O, every request of the device, the system's counters, who ran.
//!
//! Data in: nothing. Data out: the rows of the streams of a run directory. All times are nanoseconds of the monotonic
//! clock, or of virtual time on a modelled disk, where they begin at 0. It must not know who makes the rows, how
//! they are stored or what is made of them.

mod block;
mod counter;
mod io;
mod sched;
mod span;
mod stream;

pub use block::{BlockFlags, BlockOp, BlockRequest};
pub use counter::{CounterRow, ProcessRow};
pub use io::IoRecord;
pub use sched::{BlockedOn, CpuShare, SchedSlice, TaskState};
pub use span::{KernelSpan, SpanKind};
pub use stream::{RowSink, StreamKind, StreamSummary};

use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a task as the kernel keeps it: at most 15 bytes, the rest zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Comm([u8; 16]);

impl Comm {
    /// No name.
    pub const NONE: Self = Self([0; 16]);

    /// The name in `bytes`, up to the first zero, cut after 15 bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut comm = [0; 16];
        for (to, &from) in comm[..15]
            .iter_mut()
            .zip(bytes.iter().take_while(|&&byte| byte != 0))
        {
            *to = from;
        }
        Self(comm)
    }

    /// Its bytes, without the zeros.
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(16);
        &self.0[..end]
    }

    /// Whether a task of that name is one of the kernel's threads that carry out I/O for others.
    pub fn is_kernel_worker(&self) -> bool {
        const PREFIXES: [&[u8]; 9] = [
            b"kworker", b"jbd2/", b"loop", b"xfsaild", b"xfs-", b"kswapd", b"btrfs-", b"dmcrypt", b"md",
        ];
        let name = self.as_bytes();
        // Names such as `mdadm` and `loopback` are programs'.
        PREFIXES.iter().any(|prefix| match name.strip_prefix(*prefix) {
            Some(rest) if *prefix == b"loop" || *prefix == b"md" => {
                rest.first().is_some_and(u8::is_ascii_digit)
            }
            Some(_) => true,
            None => false,
        })
    }
}

impl From<&str> for Comm {
    fn from(name: &str) -> Self {
        Self::new(name.as_bytes())
    }
}

impl From<String> for Comm {
    fn from(name: String) -> Self {
        Self::new(name.as_bytes())
    }
}

impl From<Comm> for String {
    fn from(comm: Comm) -> Self {
        comm.to_string()
    }
}

impl fmt::Display for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
