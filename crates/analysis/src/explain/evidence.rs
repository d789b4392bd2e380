//! Rows of chosen windows, read again.

use fathom_core::record::{BlockRequest, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice};

/// A span of time on the clock of the streams, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// Its begin, in nanoseconds.
    pub start_ns: u64,
    /// Its end, in nanoseconds.
    pub end_ns: u64,
}

impl Window {
    /// How long.
    pub fn duration_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
    /// Whether a moment lies in it.
    pub fn holds(&self, at_ns: u64) -> bool {
        self.start_ns <= at_ns && at_ns <= self.end_ns
    }
    /// How much of `from..to` lies in it, in nanoseconds.
    pub fn overlap_ns(&self, from: u64, to: u64) -> u64 {
        to.min(self.end_ns).saturating_sub(from.max(self.start_ns))
    }

    /// These ascending, those that touch put together.
    pub(super) fn apart(windows: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut windows: Vec<Self> = windows.into_iter().collect();
        windows.sort_unstable();
        windows.dedup_by(|next, last| {
            let touch = next.start_ns <= last.end_ns;
            if touch {
                last.end_ns = last.end_ns.max(next.end_ns);
            }
            touch
        });
        windows
    }

    /// Whether one of these, ascending and apart, holds a moment.
    pub(super) fn any_holds(windows: &[Self], at_ns: u64) -> bool {
        let after = windows.partition_point(|window| window.end_ns < at_ns);
        windows.get(after).is_some_and(|window| window.holds(at_ns))
    }
}

/// Gives the rows of windows. The windows of one call ascend and do not overlap; those of the next call begin no earlier
/// than the first of this one, so that a store reads its files about once. A stream that the record does not have gives no
/// rows.
///
/// Each gives at least the rows that *end* within a window (`completed_ns`, `end_ns`, `at_ns`), in any order, in batches of
/// any length; rows outside all windows may come too and are passed over.
pub trait Evidence {
    /// What can go wrong in reading.
    type Error;
    /// I/Os of the load.
    ///
    /// # Errors
    /// The stream could not be read.
    fn io(&mut self, windows: &[Window], each: &mut dyn FnMut(&[IoRecord])) -> Result<(), Self::Error>;
    /// Requests of the devices.
    ///
    /// # Errors
    /// The stream could not be read.
    fn block(&mut self, windows: &[Window], each: &mut dyn FnMut(&[BlockRequest]))
    -> Result<(), Self::Error>;
    /// Both of the above: a store may read them at the same time, for they are what takes longest.
    ///
    /// # Errors
    /// One of the streams could not be read.
    fn io_and_block(
        &mut self,
        windows: &[Window],
        ios: &mut (dyn FnMut(&[IoRecord]) + Send),
        requests: &mut (dyn FnMut(&[BlockRequest]) + Send),
    ) -> Result<(), Self::Error> {
        self.io(windows, ios)?;
        self.block(windows, requests)
    }
    /// Who was on a CPU.
    ///
    /// # Errors
    /// The stream could not be read.
    fn sched(&mut self, windows: &[Window], each: &mut dyn FnMut(&[SchedSlice])) -> Result<(), Self::Error>;
    /// Who had each CPU, a hundredth of a second at a time.
    ///
    /// # Errors
    /// The stream could not be read.
    fn cpus(&mut self, windows: &[Window], each: &mut dyn FnMut(&[CpuShare])) -> Result<(), Self::Error>;
    /// What the kernel did for a while.
    ///
    /// # Errors
    /// The stream could not be read.
    fn kernel(&mut self, windows: &[Window], each: &mut dyn FnMut(&[KernelSpan])) -> Result<(), Self::Error>;
    /// What processes used.
    ///
    /// # Errors
    /// The stream could not be read.
    fn processes(
        &mut self,
        windows: &[Window],
        each: &mut dyn FnMut(&[ProcessRow]),
    ) -> Result<(), Self::Error>;
}
