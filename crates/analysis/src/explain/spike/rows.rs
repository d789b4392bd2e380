//! The rows around a lot of neighbouring spikes.

use super::super::evidence::{Evidence, Window};
use super::Found;
use super::scene::Context;
use fathom_core::record::{BlockRequest, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice};

/// How long before a spike processes are looked at: their rows stand for a second each.
const PROCESSES_BEFORE_NS: u64 = 20_000_000_000;
/// The row of a process that covers a moment comes up to a second later.
const PROCESSES_AFTER_NS: u64 = 2_000_000_000;
/// Rows of the scheduler that are kept of one lot: far more than its ring holds.
const SLICES_MAX: usize = 2_000_000;
/// What the kernel does for a while is kept when it ends; a share of a CPU is of up to a second.
pub(super) const SPANS_AFTER_NS: u64 = 2_000_000_000;

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
    pub cpus: Vec<CpuShare>,
    pub kernel: Vec<KernelSpan>,
    pub processes: Vec<ProcessRow>,
}

impl Rows {
    fn io_and_block<E: Evidence>(
        &mut self,
        context: &Context<'_, '_>,
        near: &[Window],
        evidence: &mut E,
    ) -> Result<(), E::Error> {
        let within = |at_ns: u64| Window::any_holds(near, at_ns);
        let Self { ios, requests, .. } = self;
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
            (true, true) => evidence.io_and_block(near, &mut take_ios, &mut take_requests)?,
            (true, false) => evidence.io(near, &mut take_ios)?,
            (false, true) => evidence.block(near, &mut take_requests)?,
            (false, false) => {}
        }
        self.ios.sort_by_key(|row| row.completed_ns);
        self.requests.sort_by_key(|row| row.completed_ns);
        Ok(())
    }

    /// Reads what the CPUs and the kernel did; what begins in a window may end after it.
    fn around<E: Evidence>(&mut self, near: &[Window], evidence: &mut E) -> Result<(), E::Error> {
        let wide = Window::apart(near.iter().map(|window| Window {
            start_ns: window.start_ns,
            end_ns: window.end_ns.saturating_add(SPANS_AFTER_NS),
        }));
        evidence.cpus(&wide, &mut |batch| self.cpus.extend(batch))?;
        self.cpus.sort_by_key(|row| (row.end_ns, row.cpu));
        evidence.kernel(&wide, &mut |batch| self.kernel.extend(batch))?;
        self.kernel.sort_by_key(|row| row.start_ns);
        Ok(())
    }

    /// Reads the I/Os and requests of a few windows, for what is usual in them.
    pub(super) fn quiet<E: Evidence>(
        context: &Context<'_, '_>,
        windows: &[Window],
        evidence: &mut E,
    ) -> Result<Self, E::Error> {
        let mut rows = Self::default();
        rows.io_and_block(context, &Window::apart(windows.iter().copied()), evidence)?;
        Ok(rows)
    }

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
        rows.io_and_block(context, &near, evidence)?;
        let within = |at_ns: u64| Window::any_holds(&near, at_ns);
        // A stay that begins in a window may end after it.
        let wide = Window::apart(near.iter().map(|window| Window {
            start_ns: window.start_ns,
            end_ns: window.end_ns.saturating_add(SPANS_AFTER_NS),
        }));
        evidence.sched(&wide, &mut |batch| {
            let room = SLICES_MAX.saturating_sub(rows.slices.len());
            let begun = |row: &SchedSlice| row.ready_ns.unwrap_or(row.start_ns).min(row.start_ns);
            let wanted = batch.iter().filter(|row| {
                within(row.end_ns) || within(begun(row)) || covers(&near, begun(row), row.end_ns)
            });
            rows.slices.extend(wanted.take(room));
        })?;
        rows.slices.sort_by_key(|row| row.end_ns);
        rows.around(&near, evidence)?;
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

/// Whether a span goes over one of the windows from before its begin to after its end.
fn covers(windows: &[Window], from_ns: u64, to_ns: u64) -> bool {
    let first = windows.partition_point(|window| window.start_ns < from_ns);
    windows.get(first).is_some_and(|window| window.end_ns <= to_ns)
}
