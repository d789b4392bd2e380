//! What few jobs have between an I/O and its turn: balances with other jobs, I/Os that must not overlap, a depth that is found.
//!
//! Data in: draws, completions, the time. Data out: whether to wait. A worker without any of it looks at one pointer.

mod target;

pub use target::Target;
pub(super) use target::Verdict;

use super::Priorities;
use crate::balance::Share;
use crate::locks::Locks;
use crate::pattern::Draw;
use crate::zones::WorkerZones;
use fathom_core::backend::{Op, Request};
use fathom_core::units::{MonoTime, Nanos};

/// Ahead of its balance, or before a lock, a worker looks again so much later.
pub(super) const LOOK_AGAIN: Nanos = Nanos::from_micros(100);

/// What holds a worker's I/Os back.
#[derive(Debug, Default)]
pub struct Guards {
    /// A balance with other workers.
    pub(crate) share: Option<Share>,
    /// I/Os in flight, by their slots, where none may overlap another; else empty.
    in_flight: Box<[Option<Request>]>,
    pub(super) target: Option<Target>,
    /// Priorities that I/Os have by themselves.
    pub(super) priorities: Option<Priorities>,
    /// Files that other workers may have locked.
    pub(super) locks: Option<Locks>,
    /// The zones of its files.
    pub(super) zones: Option<WorkerZones>,
}

impl Guards {
    /// `None`: nothing holds a worker of this kind back.
    pub fn new(share: Option<Share>, serialized: Option<u32>, target: Option<Target>) -> Option<Box<Self>> {
        let any = share.is_some() || serialized.is_some() || target.is_some();
        any.then(|| {
            Box::new(Self {
                share,
                in_flight: vec![None; serialized.unwrap_or(0) as usize].into_boxed_slice(),
                target,
                priorities: None,
                locks: None,
                zones: None,
            })
        })
    }

    /// The same with priorities for I/Os, where there are any.
    pub(crate) fn with_priorities(
        guards: Option<Box<Self>>,
        priorities: Option<Priorities>,
    ) -> Option<Box<Self>> {
        Self::with(guards, priorities, |guards| &mut guards.priorities)
    }

    /// The same with locks on files, where there are any.
    pub(crate) fn with_locks(guards: Option<Box<Self>>, locks: Option<Locks>) -> Option<Box<Self>> {
        Self::with(guards, locks, |guards| &mut guards.locks)
    }

    /// The same with zones, where there are any.
    pub(crate) fn with_zones(guards: Option<Box<Self>>, zones: Option<WorkerZones>) -> Option<Box<Self>> {
        Self::with(guards, zones, |guards| &mut guards.zones)
    }

    fn with<T>(
        guards: Option<Box<Self>>,
        part: Option<T>,
        place: impl FnOnce(&mut Self) -> &mut Option<T>,
    ) -> Option<Box<Self>> {
        if part.is_none() {
            return guards;
        }
        let mut guards = guards.unwrap_or_default();
        *place(&mut guards) = part;
        Some(guards)
    }

    /// Until when nothing may be sent; `None`: it may.
    pub(super) fn waits(&mut self, now: MonoTime) -> Option<MonoTime> {
        let share = self.share.as_mut()?;
        let ahead = share.is_ahead();
        ahead.then(|| {
            now.after(if share.sleep.is_zero() {
                LOOK_AGAIN
            } else {
                share.sleep
            })
        })
    }

    /// Whether an I/O in flight touches bytes of this one, and one of them changes them.
    pub(super) fn overlaps(&self, draw: &Draw) -> bool {
        let touches = |other: &Request| {
            let apart = other.offset >= draw.offset + u64::from(draw.len)
                || draw.offset >= other.offset + u64::from(other.len);
            let only_reads = other.op == Op::Read && draw.op == Op::Read;
            other.file == draw.file && !apart && !only_reads
        };
        self.in_flight.iter().flatten().any(touches)
    }

    pub(super) fn sent(&mut self, request: &Request) {
        if let Some(place) = self.in_flight.get_mut(request.slot as usize) {
            *place = Some(*request);
        }
        if let Some(share) = &mut self.share
            && request.len > 0
        {
            share.take();
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.sent(request);
        }
        if let Some(zones) = &mut self.zones {
            zones.sent(request);
        }
    }

    pub(super) fn completed(&mut self, slot: u32) {
        if let Some(place) = self.in_flight.get_mut(slot as usize) {
            *place = None;
        }
    }
}

#[cfg(test)]
mod tests;
