//! The rows around a lot of neighbouring spikes.

use super::super::evidence::{Evidence, Window};
use super::Found;
use super::scene::Context;
use fathom_core::record::{BlockRequest, IoRecord, ProcessRow, SchedSlice};

/// How long before a spike processes are looked at: their rows stand for a second each.
const PROCESSES_BEFORE_NS: u64 = 20_000_000_000;
/// The row of a process that covers a moment comes up to a second later.
const PROCESSES_AFTER_NS: u64 = 2_000_000_000;
/// Rows of the scheduler that are kept of one lot: far more than its ring holds.
const SLICES_MAX: usize = 2_000_000;

/// Neighbouring spikes, and whether each is to be examined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lot<'a> {
    pub found: &'a [(Found, bool)],
}

/// Rows, each kind in the order of its ends.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub ios: Vec<IoRecord>,
    pub requests: Vec<BlockRequest>,
    pub slices: Vec<SchedSlice>,
    pub processes: Vec<ProcessRow>,
}

impl Rows {
    /// Reads the rows around the spikes of a lot.
    pub(super) fn read<E: Evidence>(
        context: &Context<'_, '_>,
        lot: &Lot<'_>,
        evidence: &mut E,
    ) -> Result<Self, E::Error> {
        let examined = || {
            lot.found
                .iter()
                .filter(|(_, examined)| *examined)
                .map(|(found, _)| found)
        };
        let mut rows = Self::default();
        let near = Window::apart(examined().map(|found| found.window));
        if near.is_empty() {
            return Ok(rows);
        }
        let within = |at_ns: u64| Window::any_holds(&near, at_ns);
        let Self { ios, requests, .. } = &mut rows;
        let mut take_ios = |batch: &[IoRecord]| {
            ios.extend(batch.iter().filter(|row| within(row.completed_ns)));
        };
        let mut take_requests = |batch: &[BlockRequest]| {
            let wanted = batch
                .iter()
                .filter(|row| within(row.completed_ns) && context.is_below(row.device));
            requests.extend(wanted);
        };
        match (context.has_load(), context.has_block()) {
            (true, true) => evidence.io_and_block(&near, &mut take_ios, &mut take_requests)?,
            (true, false) => evidence.io(&near, &mut take_ios)?,
            (false, true) => evidence.block(&near, &mut take_requests)?,
            (false, false) => {}
        }
        rows.ios.sort_by_key(|row| row.completed_ns);
        rows.requests.sort_by_key(|row| row.completed_ns);
        evidence.sched(&near, &mut |batch| {
            let room = SLICES_MAX.saturating_sub(rows.slices.len());
            let wanted = batch.iter().filter(|row| within(row.end_ns));
            rows.slices.extend(wanted.take(room));
        })?;
        rows.slices.sort_by_key(|row| row.end_ns);
        let wide = Window::apart(examined().map(|found| Window {
            start_ns: found.event.start_ns.saturating_sub(PROCESSES_BEFORE_NS),
            end_ns: found.event.end_ns.saturating_add(PROCESSES_AFTER_NS),
        }));
        evidence.processes(&wide, &mut |batch| {
            rows.processes
                .extend(batch.iter().filter(|row| Window::any_holds(&wide, row.at_ns)));
        })?;
        rows.processes.sort_by_key(|row| row.at_ns);
        Ok(rows)
    }
}
