//! From what happened to requests of block devices to I/Os: what was queued, and when that was complete.
//!
//! Data in: events in the order of time. Data out: an I/O for each that was queued, when all of it is complete, or two seconds
//! later without an end. An I/O is complete when requests that cover it are: what was merged with it, or split off it, is not asked
//! for. It must not know how events were written.

use super::{Out, Row, length};
use fathom_core::arrival::{Sent, Waits};
use fathom_core::backend::Op;
use std::collections::{BTreeSet, VecDeque};

/// So long after it was queued an I/O without an end is given up: its end is not known then.
const GIVEN_UP_NS: u64 = 2_000_000_000;
/// Waiting for an end, at most.
const PENDING_MAX: usize = 1 << 20;
const SECTOR_BYTES: u64 = 512;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Q: it was asked for.
    Queued,
    /// D: the device got it.
    Issued,
    /// C: it is complete.
    Completed,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct What {
    pub(super) op: Option<Op>,
    /// A flush comes before it, or is all of it.
    pub(super) flush: bool,
    pub(super) sync: bool,
    pub(super) ahead: bool,
}

/// One event of one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) ns: u64,
    pub(super) device: (u32, u32),
    pub(super) action: Action,
    pub(super) sector: u64,
    pub(super) len_bytes: u64,
    pub(super) pid: u32,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    row: Row,
    /// From this sector on it is not complete.
    from: u64,
    end: u64,
    done: bool,
}

/// Pairs them.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// By their numbers, the first of which is `first`; in the order in which they were queued.
    pending: VecDeque<Pending>,
    first: u64,
    /// By volume and the first sector that is not complete.
    places: BTreeSet<(u32, u64, u64)>,
    /// Events in all.
    seen: u64,
    queued: u64,
    ended: u64,
    latest_ns: u64,
    /// Of a device that was asked for last.
    device: Option<((u32, u32), u32)>,
}

impl Events {
    pub(super) fn take(&mut self, event: &Event, out: &mut Out) -> Result<(), String> {
        self.seen += 1;
        self.latest_ns = self.latest_ns.max(event.ns);
        match event.action {
            Action::Queued => {
                self.queued += 1;
                self.queue(event, out)?;
            }
            Action::Issued => self.issue(event, out),
            Action::Completed => self.complete(event, out),
        }
        self.give_up(self.latest_ns.saturating_sub(GIVEN_UP_NS), PENDING_MAX, out);
        Ok(())
    }

    /// All the others, without ends.
    pub(super) fn finish(&mut self, out: &mut Out) {
        self.give_up(u64::MAX, 0, out);
    }

    pub(super) fn has_ends(&self) -> bool {
        self.ended > 0
    }

    /// Why a trace with events has no I/O.
    pub(super) fn lacks(&self) -> Option<String> {
        (self.queued == 0 && self.seen > 0).then(|| {
            format!(
                "no Q action is in it ({} of others): trace with queue, issue and complete (blktrace's default)",
                self.seen
            )
        })
    }

    fn volume(&mut self, device: (u32, u32), out: &mut Out) -> Result<u32, String> {
        if let Some((known, volume)) = self.device
            && known == device
        {
            return Ok(volume);
        }
        let volume = out.volume(&format!("{},{}", device.0, device.1))?;
        self.device = Some((device, volume));
        Ok(volume)
    }

    fn queue(&mut self, event: &Event, out: &mut Out) -> Result<(), String> {
        let volume = self.volume(event.device, out)?;
        let What {
            op,
            flush,
            sync,
            ahead,
        } = event.what;
        let sent = Sent {
            start_ns: event.ns,
            end_ns: event.ns,
            offset_bytes: 0,
            len_bytes: 0,
            worker: event.pid,
            op: Op::Sync,
            waits: if sync && !ahead { Waits::Perhaps } else { Waits::No },
        };
        // A flush that carries data is both.
        if flush {
            out.rows.push(Row { volume, sent });
        }
        let Some(op) = op else {
            if !flush {
                out.skip("that neither read, write, discard nor flush");
            }
            return Ok(());
        };
        if event.len_bytes == 0 {
            if !flush {
                out.skip("of length 0");
            }
            return Ok(());
        }
        let offset = event.sector.checked_mul(SECTOR_BYTES);
        let len_bytes = offset.and_then(|offset| length(offset, event.len_bytes).ok());
        let Some(len_bytes) = len_bytes else {
            if op == Op::Trim {
                out.skip("discards of more than 1 GiB");
                return Ok(());
            }
            return Err(format!(
                "{} bytes at sector {}: no disk has that",
                event.len_bytes, event.sector
            ));
        };
        let row = Row {
            volume,
            sent: Sent {
                offset_bytes: event.sector * SECTOR_BYTES,
                len_bytes,
                op,
                ..sent
            },
        };
        let number = self.first + self.pending.len() as u64;
        self.places.insert((volume, event.sector, number));
        self.pending.push_back(Pending {
            row,
            from: event.sector,
            end: event.sector + event.len_bytes.div_ceil(SECTOR_BYTES),
            done: false,
        });
        Ok(())
    }

    /// A request that nothing waiting is part of was asked for before the trace began, or its Q action is not in it: there is no I/O
    /// to be made of it, and that is told.
    fn issue(&mut self, event: &Event, out: &mut Out) {
        let moves_data = matches!(event.what.op, Some(Op::Read | Op::Write)) && event.len_bytes > 0;
        let Ok(volume) = self.volume(event.device, out) else {
            return;
        };
        if !moves_data {
            return;
        }
        let end = event
            .sector
            .saturating_add(event.len_bytes.div_ceil(SECTOR_BYTES));
        let before = self.places.range(..(volume, end, 0)).next_back();
        let asked_for = before.is_some_and(|&(of, _, number)| {
            let pending = self.pending.get((number - self.first) as usize);
            of == volume && pending.is_some_and(|pending| pending.end > event.sector)
        });
        if !asked_for {
            out.skip("that the device was given though no Q action of the two seconds before asked for them");
        }
    }

    fn complete(&mut self, event: &Event, out: &mut Out) {
        let Ok(volume) = self.volume(event.device, out) else {
            return;
        };
        let end = event
            .sector
            .saturating_add(event.len_bytes.div_ceil(SECTOR_BYTES));
        let mut at = (volume, event.sector, 0);
        while let Some(&(of, from, number)) = self.places.range(at..).next()
            && of == volume
            && from < end
        {
            at = (of, from, number + 1);
            let Some(pending) = self.pending.get_mut((number - self.first) as usize) else {
                continue;
            };
            if event.what.op.is_some_and(|op| op != pending.row.sent.op) {
                continue;
            }
            self.places.remove(&(of, from, number));
            if pending.end <= end {
                pending.done = true;
                pending.row.sent.end_ns = event.ns.max(pending.row.sent.start_ns);
                self.ended += 1;
                out.rows.push(pending.row);
            } else {
                // The rest of it is another request's.
                pending.from = end;
                self.places.insert((of, end, number));
            }
        }
        while self.pending.front().is_some_and(|pending| pending.done) {
            self.pending.pop_front();
            self.first += 1;
        }
    }

    /// Gives up what was queued before `until_ns`, and more while more than `most` wait.
    fn give_up(&mut self, until_ns: u64, most: usize, out: &mut Out) {
        while let Some(pending) = self.pending.front().copied()
            && (pending.done || pending.row.sent.start_ns < until_ns || self.pending.len() > most)
        {
            self.pending.pop_front();
            if !pending.done {
                self.places
                    .remove(&(pending.row.volume, pending.from, self.first));
                out.rows.push(Row {
                    sent: Sent {
                        waits: Waits::No,
                        ..pending.row.sent
                    },
                    ..pending.row
                });
            }
            self.first += 1;
        }
    }
}
