//! A request becomes its events.

use super::{BlockEvent, Step};
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm};

/// The task that completes requests: whoever has the CPU when the device interrupts.
const INTERRUPTED: u32 = 1;
/// The task that sends a device what it gave back, and flush commands.
const WORKER: u32 = 59;

/// The events of one request, not in the order of time.
pub(super) fn of(row: &BlockRequest) -> Vec<BlockEvent> {
    let mut story = Story {
        row,
        events: Vec::new(),
    };
    if row.allocated_ns.is_none() && row.issued_ns.is_none() {
        story.bio();
    } else {
        story.begin();
        if row.op == BlockOp::Flush {
            story.flush();
        } else {
            story.request();
        }
    }
    story.events
}

struct Story<'a> {
    row: &'a BlockRequest,
    events: Vec<BlockEvent>,
}

impl Story<'_> {
    fn sectors(&self) -> u32 {
        self.row.len_bytes / 512
    }

    fn finished(&self) -> bool {
        !self.row.flags.has(BlockFlags::UNFINISHED)
    }

    /// An event about `sectors` from `sector` on.
    fn add(&mut self, step: Step, time_ns: u64, (sector, sectors): (u64, u32)) -> &mut BlockEvent {
        let row = self.row;
        let flags = BlockFlags(row.flags.0 & !BlockFlags::UNFINISHED);
        let op = match row.op {
            BlockOp::Flush => BlockOp::Write,
            op => op,
        };
        let (pid, comm) = match step {
            Step::Complete | Step::CompleteBio => (INTERRUPTED, Comm::default()),
            Step::Requeue => (WORKER, Comm::default()),
            _ => (row.pid, row.comm),
        };
        self.events.push(BlockEvent {
            time_ns,
            step,
            device: row.device,
            sector,
            sectors,
            op,
            flags,
            errno: 0,
            pid,
            comm,
        });
        let last = self.events.len() - 1;
        &mut self.events[last]
    }

    /// The completion of all of it, as the row says.
    fn complete(&mut self, step: Step, time_ns: u64, place: (u64, u32)) {
        if self.finished() {
            let errno = self.row.errno;
            let event = self.add(step, time_ns, place);
            event.errno = errno;
            // Its flush before is done: it is not said any more.
            if step == Step::Complete {
                event.flags.0 &= !BlockFlags::PREFLUSH;
            }
        }
    }

    fn bio(&mut self) {
        let place = self.place();
        if let Some(queued_ns) = self.row.queued_ns {
            self.add(Step::Queue, queued_ns, place);
        }
        self.complete(Step::CompleteBio, self.row.completed_ns, place);
    }

    /// A flush without data is of no place.
    fn place(&self) -> (u64, u32) {
        match self.row.op {
            BlockOp::Flush => (0, 0),
            _ => (self.row.sector, self.sectors()),
        }
    }

    /// Queued and allocated: the first part, and then what is merged into it.
    fn begin(&mut self) {
        let (sector, sectors) = self.place();
        let row = self.row;
        let parts = u32::from(row.merges) + 1;
        let part = sectors / parts;
        let first = sectors - part * (parts - 1);
        if let Some(queued_ns) = row.queued_ns {
            self.add(Step::Queue, queued_ns, (sector, first));
        }
        if let Some(allocated_ns) = row.allocated_ns {
            self.add(Step::Allocate, allocated_ns, (sector, first));
        }
        let mut at = sector + u64::from(first);
        let from_ns = row.allocated_ns.or(row.queued_ns).unwrap_or(row.completed_ns);
        for _ in 1..parts {
            self.add(Step::Queue, from_ns, (at, part));
            self.add(Step::Merge, from_ns, (at, part));
            at += u64::from(part);
        }
        if let Some(inserted_ns) = row.inserted_ns {
            self.add(Step::Insert, inserted_ns, (sector, sectors));
        }
    }

    fn request(&mut self) {
        let row = self.row;
        let place = self.place();
        let Some(issued_ns) = row.issued_ns else {
            return self.complete(Step::Complete, row.completed_ns, place);
        };
        if row.flags.has(BlockFlags::PREFLUSH) {
            // The flush, the data, and the word that all is done: a quarter of the time each.
            let quarter_ns = row.completed_ns.saturating_sub(issued_ns) / 4;
            self.flush_command(issued_ns, issued_ns + quarter_ns);
            self.add(Step::Issue, issued_ns + quarter_ns, place);
            self.complete(Step::Complete, issued_ns + 2 * quarter_ns, place);
            self.complete(Step::Complete, row.completed_ns, (place.0, 0));
            return;
        }
        let from_ns = row.inserted_ns.or(row.allocated_ns).unwrap_or(issued_ns);
        let steps = u64::from(row.requeues) * 2 + 1;
        let step_ns = issued_ns.saturating_sub(from_ns) / steps;
        for back in (1..=u64::from(row.requeues)).rev() {
            self.add(Step::Issue, issued_ns - step_ns * back * 2, place);
            self.add(Step::Requeue, issued_ns - step_ns * (back * 2 - 1), place);
        }
        self.add(Step::Issue, issued_ns, place);
        self.complete(Step::Complete, row.completed_ns, place);
    }

    fn flush(&mut self) {
        let row = self.row;
        if let Some(issued_ns) = row.issued_ns {
            self.flush_command(issued_ns, row.completed_ns.saturating_sub(1).max(issued_ns));
        }
        self.complete(Step::Complete, row.completed_ns, (0, 0));
    }

    fn flush_command(&mut self, issued_ns: u64, completed_ns: u64) {
        let (op, flags) = (BlockOp::Flush, BlockFlags(BlockFlags::PREFLUSH));
        let event = self.add(Step::Issue, issued_ns, (0, 0));
        (event.op, event.flags, event.pid) = (op, flags, WORKER);
        if self.finished() {
            let event = self.add(Step::Complete, completed_ns, (u64::MAX, 0));
            (event.op, event.flags) = (op, flags);
        }
    }
}
