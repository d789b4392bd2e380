//! Rows of windows of time, read again from a run directory.
//!
//! Data in: windows in the order of time. Data out: the rows that ended in them, and some beside. Windows that lie close are
//! read together: finding a place in a stream costs as much as reading on for some ten thousand rows. It must not know
//! what the windows are about.

use fathom_analysis::explain::{Evidence, Window};
use fathom_core::record::{BlockRequest, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice, StreamKind};
use fathom_store::{RecordReader, StoreError, StreamRow, stored_streams};
use std::path::Path;

/// Most places that are looked up for one question.
const PLACES_MAX: usize = 48;

/// The streams of a run directory, for questions about windows.
pub(super) struct StoredEvidence {
    io: Option<RecordReader<IoRecord>>,
    block: Option<RecordReader<BlockRequest>>,
    sched: Option<RecordReader<SchedSlice>>,
    cpus: Option<RecordReader<CpuShare>>,
    kernel: Option<RecordReader<KernelSpan>>,
    processes: Option<RecordReader<ProcessRow>>,
}

impl StoredEvidence {
    /// Opens what there is in `dir`.
    ///
    /// # Errors
    /// A stream cannot be read.
    pub(super) fn open(dir: &Path) -> Result<Self, StoreError> {
        let there = stored_streams(dir);
        let has = |kind| there.contains(&kind);
        Ok(Self {
            io: open(dir, has(StreamKind::Io))?,
            block: open(dir, has(StreamKind::Block))?,
            sched: open(dir, has(StreamKind::Sched))?,
            cpus: open(dir, has(StreamKind::Cpus))?,
            kernel: open(dir, has(StreamKind::Kernel))?,
            processes: open(dir, has(StreamKind::Processes))?,
        })
    }
}

fn open<R: StreamRow>(dir: &Path, there: bool) -> Result<Option<RecordReader<R>>, StoreError> {
    there.then(|| RecordReader::open(dir)).transpose()
}

fn rows<R: StreamRow>(
    reader: &mut Option<RecordReader<R>>,
    windows: &[Window],
    each: &mut dyn FnMut(&[R]),
) -> Result<(), StoreError> {
    let Some(reader) = reader else { return Ok(()) };
    for (start_ns, end_ns) in places(windows) {
        reader.seek(start_ns..end_ns.saturating_add(1));
        reader.for_each_batch(&mut *each)?;
    }
    Ok(())
}

/// The windows, those with the smallest gaps between them put together until they are few enough.
fn places(windows: &[Window]) -> Vec<(u64, u64)> {
    let mut gaps: Vec<u64> = windows
        .windows(2)
        .map(|pair| gap_ns(&pair[0], &pair[1]))
        .collect();
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    // The smallest gap that still separates.
    let separates_ns = gaps.get(PLACES_MAX.saturating_sub(2)).copied().unwrap_or(0);
    let mut places: Vec<(u64, u64)> = Vec::new();
    let mut before: Option<&Window> = None;
    for window in windows {
        let apart = before.is_none_or(|before| gap_ns(before, window) > separates_ns);
        match places.last_mut() {
            Some((_, end_ns)) if !apart => *end_ns = (*end_ns).max(window.end_ns),
            _ => places.push((window.start_ns, window.end_ns)),
        }
        before = Some(window);
    }
    places
}

fn gap_ns(before: &Window, after: &Window) -> u64 {
    after.start_ns.saturating_sub(before.end_ns)
}

impl Evidence for StoredEvidence {
    type Error = StoreError;

    fn io(&mut self, windows: &[Window], each: &mut dyn FnMut(&[IoRecord])) -> Result<(), StoreError> {
        rows(&mut self.io, windows, each)
    }

    fn block(&mut self, windows: &[Window], each: &mut dyn FnMut(&[BlockRequest])) -> Result<(), StoreError> {
        rows(&mut self.block, windows, each)
    }

    fn io_and_block(
        &mut self,
        windows: &[Window],
        ios: &mut (dyn FnMut(&[IoRecord]) + Send),
        requests: &mut (dyn FnMut(&[BlockRequest]) + Send),
    ) -> Result<(), StoreError> {
        let Self { io, block, .. } = self;
        std::thread::scope(|scope| {
            let block = scope.spawn(|| rows(block, windows, &mut *requests));
            rows(io, windows, &mut *ios)?;
            block
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn sched(&mut self, windows: &[Window], each: &mut dyn FnMut(&[SchedSlice])) -> Result<(), StoreError> {
        rows(&mut self.sched, windows, each)
    }

    fn cpus(&mut self, windows: &[Window], each: &mut dyn FnMut(&[CpuShare])) -> Result<(), StoreError> {
        rows(&mut self.cpus, windows, each)
    }

    fn kernel(&mut self, windows: &[Window], each: &mut dyn FnMut(&[KernelSpan])) -> Result<(), StoreError> {
        rows(&mut self.kernel, windows, each)
    }

    fn processes(
        &mut self,
        windows: &[Window],
        each: &mut dyn FnMut(&[ProcessRow]),
    ) -> Result<(), StoreError> {
        rows(&mut self.processes, windows, each)
    }
}

#[cfg(test)]
mod tests;
