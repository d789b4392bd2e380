//! What the guest's kernel would see of its disk: each request, and the counters as they stand at any moment.
//!
//! Data in: requests as the guest sends them, and their ends, which mostly are known at once. Data out: [`BlockRequest`]s
//! in the order of their ends, and counters named as Prometheus' node exporter names them. The volume is one device, striped
//! or not: what is below it (stripes, the host's cache) the guest does not see here. It must not know who looks.
//!
//! The guest has no queue of its own: all limits are beyond it, so that a request is issued when it is queued.

mod counters;

use crate::waiter::Waiter;
use counters::Counters;
use fathom_core::backend::Op;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm, CounterRow};
use fathom_core::virtual_disk::Trace;
use std::collections::BTreeMap;

/// The number of the volume as a device, in its requests: 0:1. Major 0 is that of no block device of a kernel.
pub const DEVICE: u32 = 1;
const SECTOR_BYTES: u64 = 512;

/// Looks on.
#[derive(Debug, Clone)]
pub struct Watch {
    what: Trace,
    /// Those whose end is known and was not reached when last looked at, by their end and the order of sending.
    ending: BTreeMap<(u64, u64), BlockRequest>,
    /// Those whose end is not known yet.
    waiting: Vec<(Waiter, BlockRequest)>,
    /// Those that have ended and were not taken, where they are to be kept.
    ended: Vec<BlockRequest>,
    sent: u64,
    counters: Counters,
}

impl Watch {
    /// Looks at the volume called `name` from now on, for `what`.
    pub fn new(name: &str, what: Trace) -> Self {
        Self {
            what,
            ending: BTreeMap::new(),
            waiting: Vec::new(),
            ended: Vec::new(),
            sent: 0,
            counters: Counters::new(name),
        }
    }

    /// The guest sends a request at `now_ns`, which is complete at `due_ns`; `None`: [`Watch::told`] will say when.
    #[cold]
    pub(crate) fn sent(
        &mut self,
        now_ns: u64,
        waiter: Waiter,
        (op, offset, len): (Op, u64, u32),
        due_ns: Option<u64>,
    ) {
        let own = matches!(waiter, Waiter::Ticket(_));
        let (op, waited_for) = match op {
            Op::Read => (BlockOp::Read, false),
            Op::Write => (BlockOp::Write, own),
            Op::Trim => (BlockOp::Discard, own),
            Op::Sync | Op::DataSync => (BlockOp::Flush, own),
        };
        let request = BlockRequest {
            device: DEVICE,
            queued_ns: Some(now_ns),
            allocated_ns: None,
            inserted_ns: None,
            issued_ns: Some(now_ns),
            completed_ns: 0,
            sector: if op == BlockOp::Flush {
                u64::MAX
            } else {
                offset / SECTOR_BYTES
            },
            len_bytes: len,
            op,
            // As the kernel has it: of reads it does not say so.
            flags: BlockFlags(if waited_for { BlockFlags::SYNC } else { 0 }),
            requeues: 0,
            merges: 0,
            errno: 0,
            // There are no processes.
            pid: 0,
            comm: Comm::from(if own { "fathom" } else { "kworker" }),
            owner_pid: 0,
            owner_comm: Comm::default(),
        };
        match due_ns {
            Some(due_ns) => self.ends(request, due_ns),
            None => self.waiting.push((waiter, request)),
        }
    }

    /// A request of somebody's begins, of whom `ticket` is the name until [`Watch::end`]: what answers live tells of each both
    /// moments as they come.
    pub fn begin(&mut self, ticket: u32, request: BlockRequest) {
        self.waiting.push((Waiter::Ticket(ticket), request));
    }

    /// It has ended at `completed_ns`, with this `errno` (0: well).
    pub fn end(&mut self, ticket: u32, completed_ns: u64, errno: u16) {
        let waiter = Waiter::Ticket(ticket);
        if let Some((_, request)) = self.waiting.iter_mut().find(|(other, _)| *other == waiter) {
            request.errno = errno;
        }
        self.told(waiter, completed_ns);
    }

    /// The request that `waiter` waits for, if there is one, is complete at `due_ns`.
    pub(crate) fn told(&mut self, waiter: Waiter, due_ns: u64) {
        if let Some(at) = self.waiting.iter().position(|(other, _)| *other == waiter) {
            let (_, request) = self.waiting.swap_remove(at);
            self.ends(request, due_ns);
        }
    }

    fn ends(&mut self, mut request: BlockRequest, due_ns: u64) {
        request.completed_ns = due_ns;
        self.ending.insert((due_ns, self.sent), request);
        self.sent += 1;
    }

    /// Lets time pass up to `now_ns`.
    fn pass(&mut self, now_ns: u64) {
        let mut spans = Vec::new();
        while let Some(entry) = self.ending.first_entry()
            && entry.key().0 <= now_ns
        {
            let request = entry.remove();
            if self.what.counters {
                self.counters.ended(&request);
                spans.push((request.begun_ns(), request.completed_ns));
            }
            if self.what.requests {
                self.ended.push(request);
            }
        }
        if self.what.counters {
            spans.extend(self.begun(now_ns).map(|begun| (begun, now_ns)));
            self.counters.busy(spans, now_ns);
        }
    }

    /// When each that is in flight at `now_ns` began, once those that have ended are gone.
    fn begun(&self, now_ns: u64) -> impl Iterator<Item = u64> {
        let waiting = self.waiting.iter().map(|(_, request)| request);
        let begun = self.ending.values().chain(waiting).map(BlockRequest::begun_ns);
        begun.filter(move |&begun| begun <= now_ns)
    }

    /// Moves the requests that have ended to `out`.
    pub fn take(&mut self, now_ns: u64, out: &mut Vec<BlockRequest>) {
        self.pass(now_ns);
        out.append(&mut self.ended);
    }

    /// Appends the counters of the disk at `now_ns` to `out`.
    pub fn count_disk(&mut self, now_ns: u64, out: &mut Vec<CounterRow>) {
        if !self.what.counters {
            return;
        }
        self.pass(now_ns);
        let begun = self.begun(now_ns);
        let (io_now, in_flight_ns) =
            begun.fold((0, 0), |(count, sum), from| (count + 1, sum + (now_ns - from)));
        self.counters.rows(now_ns, (io_now, in_flight_ns), out);
    }

    /// Appends the counters at `now_ns` to `out`, those of what the page cache holds among them: dirty, and on its way to
    /// the disk.
    pub(crate) fn count(&mut self, now_ns: u64, (dirty, writing): (u64, u64), out: &mut Vec<CounterRow>) {
        if !self.what.counters {
            return;
        }
        self.count_disk(now_ns, out);
        for (metric, bytes) in [
            ("node_memory_Dirty_bytes", dirty),
            ("node_memory_Writeback_bytes", writing),
        ] {
            out.push(counters::row(now_ns, metric, String::new(), bytes as f64));
        }
    }
}

#[cfg(test)]
mod tests;
