//! Whose I/Os are looked at apart: each has a normal of its own.
//!
//! Data in: I/Os of one section or process. Data out: a [`Pulse`] for each kind of them: what a read takes says nothing of a
//! sync, nor 4 KiB of 1 MiB.

use super::pulse::Pulse;
use fathom_core::backend::Op;
use fathom_core::record::BlockOp;

/// The sizes that are told apart: up to the first, up to the second, larger.
const SIZES_BYTES: [u32; 2] = [32 << 10, 256 << 10];

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum What {
    Read,
    Write,
    Trim,
    Sync,
    /// No I/O: a thread that could run and was not let.
    Held,
}

/// One kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Kind {
    pub what: What,
    /// Its class of size.
    size: u8,
}

impl Kind {
    /// A thread that was not let run.
    pub(super) const HELD: Self = Self {
        what: What::Held,
        size: 0,
    };

    fn new(what: What, len_bytes: u32) -> Self {
        let larger = SIZES_BYTES.iter().filter(|most| len_bytes > **most).count();
        Self {
            what,
            size: larger as u8,
        }
    }

    /// Of an I/O of the load.
    #[inline]
    pub(super) fn of_io(op: Op, len_bytes: u32) -> Self {
        match op {
            Op::Read => Self::new(What::Read, len_bytes),
            Op::Write => Self::new(What::Write, len_bytes),
            Op::Trim => Self::new(What::Trim, 0),
            Op::Sync | Op::DataSync => Self::new(What::Sync, 0),
        }
    }

    /// Of a request of a device.
    #[inline]
    pub(super) fn of_request(op: BlockOp, len_bytes: u32) -> Self {
        match op {
            BlockOp::Read => Self::new(What::Read, len_bytes),
            BlockOp::Write => Self::new(What::Write, len_bytes),
            BlockOp::Discard => Self::new(What::Trim, 0),
            BlockOp::Flush | BlockOp::Other => Self::new(What::Sync, 0),
        }
    }
}

/// One kind of I/O of one section or process.
#[derive(Debug)]
pub(super) struct Victim {
    pub kind: Kind,
    pub pulse: Pulse,
}

/// All kinds of one section or process; boxed, since most have few.
#[derive(Debug, Default)]
pub(super) struct Victims {
    all: Vec<Victim>,
    last: usize,
}

impl Victims {
    /// Counts one; `None` if no run has that time.
    #[inline]
    pub(super) fn count(&mut self, kind: Kind, started_ns: u64, due_ns: u64, end_ns: u64) -> Option<()> {
        if self.all.get(self.last).is_none_or(|victim| victim.kind != kind) {
            self.last = self.find_or_make(kind, started_ns);
        }
        self.all[self.last].pulse.count(due_ns, end_ns)
    }

    fn find_or_make(&mut self, kind: Kind, started_ns: u64) -> usize {
        let known = self.all.iter().position(|victim| victim.kind == kind);
        known.unwrap_or_else(|| {
            self.all.push(Victim {
                kind,
                pulse: Pulse::new(started_ns),
            });
            self.all.len() - 1
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Victim> {
        self.all.iter()
    }
}
