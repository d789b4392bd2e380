//! What is counted of a disk, and what is kept of it for a record.
//!
//! Data in: when each I/O begins and ends. Data out: counts, requests, counters. It must not know why they take their time.

use super::Options;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm, CounterRow};
use fathom_core::virtual_disk::Trace;
use fathom_model::{DEVICE, Watch};

const SECTOR_BYTES: u64 = 512;

/// What was counted since the disk is served.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// By [`Op::index`].
    pub ops: [OpCounts; 4],
    /// I/Os that a disk that was not there did not take.
    pub refused: u64,
    pub in_flight: u32,
    /// How long each I/O was to take.
    pub service_ns: Histogram,
    /// How long each took, from when it was taken to its answer.
    pub lat_ns: Histogram,
    /// Time with anything in flight, up to the last end.
    pub busy_ns: u64,
}

/// Of one kind of I/O.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpCounts {
    /// Completed, those that failed among them.
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Sum of their times.
    pub time_ns: u64,
}

/// Of one kind of I/O, what ended between two looks.
#[derive(Debug, Clone, Default)]
pub struct OpInterval {
    /// Those that failed among them.
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    /// How long each took, from when it was taken to its answer.
    pub lat_ns: Histogram,
}

impl Counts {
    /// I/Os that failed.
    pub fn errors(&self) -> u64 {
        self.ops.iter().map(|op| op.errors).sum::<u64>() + self.refused
    }
}

#[derive(Debug)]
pub(super) struct Seen {
    device: u32,
    counts: Counts,
    busy_since_ns: u64,
    name: String,
    keep: Trace,
    watch: Option<Watch>,
    interval: Option<Box<[OpInterval; 4]>>,
}

impl Seen {
    /// Of the disk of that number and name.
    pub(super) fn new(number: usize, name: &str, options: Options) -> Self {
        let keep = options.keep;
        Self {
            device: DEVICE + number as u32,
            counts: Counts::default(),
            busy_since_ns: 0,
            name: name.to_owned(),
            keep,
            watch: watch(name, keep),
            interval: options.intervals.then(Box::default),
        }
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) fn forget(&mut self) {
        let in_flight = self.counts.in_flight;
        self.counts = Counts {
            in_flight,
            ..Counts::default()
        };
        self.watch = watch(&self.name, self.keep);
        self.take_interval();
    }

    pub(super) fn refused(&mut self) {
        self.counts.refused += 1;
    }

    /// An I/O came.
    pub(super) fn begin(
        &mut self,
        now_ns: u64,
        ticket: u32,
        (op, offset_bytes, len_bytes): (Op, u64, u64),
        (pid, comm): (u32, Comm),
    ) {
        if self.counts.in_flight == 0 {
            self.busy_since_ns = now_ns;
        }
        self.counts.in_flight += 1;
        let Some(watch) = &mut self.watch else { return };
        let (kind, flags) = match op {
            Op::Read => (BlockOp::Read, 0),
            Op::Write => (BlockOp::Write, BlockFlags::SYNC),
            Op::Trim => (BlockOp::Discard, BlockFlags::SYNC),
            Op::Sync | Op::DataSync => (BlockOp::Flush, BlockFlags::SYNC),
        };
        let request = BlockRequest {
            device: self.device,
            queued_ns: Some(now_ns),
            allocated_ns: None,
            inserted_ns: None,
            issued_ns: Some(now_ns),
            completed_ns: 0,
            sector: if kind == BlockOp::Flush {
                u64::MAX
            } else {
                offset_bytes / SECTOR_BYTES
            },
            len_bytes: len_bytes.min(u64::from(u32::MAX)) as u32,
            op: kind,
            flags: BlockFlags(flags),
            requeues: 0,
            merges: 0,
            errno: 0,
            pid,
            comm,
            owner_pid: 0,
            owner_comm: Comm::default(),
        };
        watch.begin(ticket, request);
    }

    /// It is known how long an I/O takes.
    pub(super) fn told(&mut self, service_ns: u64) {
        self.counts.service_ns.record(service_ns);
    }

    /// An I/O is answered.
    pub(super) fn end(
        &mut self,
        now_ns: u64,
        ticket: u32,
        (op, len_bytes, took_ns): (Op, u32, u64),
        errno: u16,
    ) {
        let counts = &mut self.counts;
        counts.in_flight = counts.in_flight.saturating_sub(1);
        if counts.in_flight == 0 {
            counts.busy_ns += now_ns.saturating_sub(self.busy_since_ns);
        }
        counts.lat_ns.record(took_ns);
        let of_op = &mut counts.ops[op.index()];
        of_op.ios += 1;
        of_op.time_ns += took_ns;
        if errno == 0 {
            of_op.bytes += u64::from(len_bytes);
        } else {
            of_op.errors += 1;
        }
        if let Some(interval) = &mut self.interval {
            let of_op = &mut interval[op.index()];
            of_op.ios += 1;
            of_op.lat_ns.record(took_ns);
            if errno == 0 {
                of_op.bytes += u64::from(len_bytes);
            } else {
                of_op.errors += 1;
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.end(ticket, now_ns, errno);
        }
    }

    /// What ended since the last call; `None`: it is not kept.
    pub(super) fn take_interval(&mut self) -> Option<[OpInterval; 4]> {
        self.interval.as_deref_mut().map(std::mem::take)
    }

    pub(super) fn take(
        &mut self,
        now_ns: u64,
        requests: &mut Vec<BlockRequest>,
        counters: &mut Vec<CounterRow>,
    ) {
        if let Some(watch) = &mut self.watch {
            watch.take(now_ns, requests);
            watch.count_disk(now_ns, counters);
        }
    }
}

fn watch(name: &str, keep: Trace) -> Option<Watch> {
    (keep != Trace::default()).then(|| Watch::new(name, keep))
}
