//! What the model is asked, and what waits for its answer.
//!
//! Data in: I/Os as they come. Data out: when each is complete: at once, or once the model knows. It must not know doors or data.

use super::request::{Io, TRIM_COUNTS_BYTES};
use super::{Bench, Event, Gate, Pending, lock};
use fathom_core::backend::Op;
use fathom_model::attached::{Attached, VolumeIo};
use fathom_sys::clock::monotonic_ns;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

#[derive(Debug)]
pub(super) struct Model {
    /// `None`: nothing takes any time.
    pub(super) attached: Option<Attached>,
    next_ticket: u32,
    waiting: HashMap<u32, Waiting>,
    /// When the model is to be asked next, as the timer knows it.
    advance_at_ns: u64,
}

/// An I/O whose end the model did not know at once.
#[derive(Debug)]
enum Waiting {
    /// Its data is on its way.
    Claimed,
    /// The end became known meanwhile.
    Known(u64),
    Parked(Box<Pending>),
}

impl Model {
    pub(super) fn new(attached: Option<Attached>) -> Self {
        Self {
            attached,
            next_ticket: 0,
            waiting: HashMap::new(),
            advance_at_ns: u64::MAX,
        }
    }
}

impl Bench {
    /// Asks the model: when the I/O came, its ticket, when it is complete; `None`: not known yet.
    pub(super) fn admit(&self, io: &Io<'_>, op: Op, len: u64) -> (u64, u32, Option<u64>) {
        let fixed_ns = self.fixed_ns.load(Ordering::Relaxed);
        let mut model = lock(&self.model);
        // Read under the lock: to the model, time does not go back.
        let now_ns = monotonic_ns();
        let ticket = model.next_ticket;
        model.next_ticket = ticket.wrapping_add(1);
        let Some(attached) = model.attached.as_mut().filter(|_| fixed_ns == 0) else {
            return (now_ns, ticket, Some(now_ns + fixed_ns));
        };
        let len_bytes = match op {
            Op::Trim => TRIM_COUNTS_BYTES,
            _ => len as u32,
        };
        let due = attached.admit(
            now_ns - self.origin_ns,
            VolumeIo {
                volume: io.disk,
                ticket,
                op,
                offset_bytes: io.offset_bytes,
                len_bytes,
            },
        );
        if due.is_none() {
            model.waiting.insert(ticket, Waiting::Claimed);
        }
        self.ask_again(&mut model);
        (now_ns, ticket, due.map(|due| due + self.origin_ns))
    }

    /// Has the timer ask the model when it next does something of itself.
    fn ask_again(&self, model: &mut Model) {
        let next_ns = model.attached.as_ref().map_or(u64::MAX, Attached::next_event_ns);
        if next_ns < model.advance_at_ns {
            model.advance_at_ns = next_ns;
            self.timer
                .at(next_ns.saturating_add(self.origin_ns), Event::Advance);
        }
    }

    /// Keeps an I/O until the model knows its end.
    pub(super) fn park(&self, gate: &Gate, pending: Box<Pending>) {
        let mut model = lock(&self.model);
        let ticket = pending.ticket;
        if let Some(Waiting::Known(due_ns)) = model.waiting.get(&ticket) {
            let due_ns = *due_ns;
            model.waiting.remove(&ticket);
            drop(model);
            return self.schedule(gate, pending, due_ns);
        }
        model.waiting.insert(ticket, Waiting::Parked(pending));
    }

    /// Lets the model do what it has to do by now.
    pub(super) fn advance(&self) {
        let mut ready: Vec<(Box<Pending>, u64)> = Vec::new();
        let mut model = lock(&self.model);
        let now_ns = monotonic_ns() - self.origin_ns;
        let mut known: Vec<(u32, u64)> = Vec::new();
        if let Some(attached) = &mut model.attached {
            attached.advance(now_ns, &mut |_, ticket, due_ns| known.push((ticket, due_ns)));
        }
        model.advance_at_ns = u64::MAX;
        self.ask_again(&mut model);
        for (ticket, due_ns) in known {
            let due_ns = due_ns + self.origin_ns;
            if let Some(Waiting::Parked(pending)) = model.waiting.insert(ticket, Waiting::Known(due_ns)) {
                model.waiting.remove(&ticket);
                ready.push((pending, due_ns));
            }
        }
        drop(model);
        for (pending, due_ns) in ready {
            let gate = self.disks[pending.disk].gate();
            self.schedule(&gate, pending, due_ns);
        }
    }
}
