//! Depth: what of it an interface can keep, and batches that fit into it.

use super::Settling;
use crate::diagnostic::Fault;
use fathom_core::workload::{BlockSize, EngineKind};

impl Settling<'_> {
    pub(super) fn depth(&mut self) {
        self.batches();
        let depth = self.job.depth.iodepth;
        let kind = self.job.engine.kind;
        if depth > 1 && !self.job.is_asynchronous() && kind != EngineKind::Null {
            let (with, remedy) = if kind == EngineKind::Sg {
                (
                    " with direct=1 or sync=1",
                    "leave them out: commands pass the page cache by anyway",
                )
            } else {
                ("", "use ioengine=io_uring or libaio, or numjobs")
            };
            let fault = Fault::new(format!(
                "ioengine={}{with} keeps one I/O in flight: iodepth={depth} has no effect",
                kind.name()
            ));
            self.warning(&["iodepth"], fault.remedy(remedy));
        }
        if depth > 1 && kind == EngineKind::Libaio && !self.job.direct {
            let fault =
                Fault::new("buffered I/O through libaio waits for each I/O: iodepth has little effect");
            self.warning(
                &["iodepth"],
                fault.remedy("add direct=1, or use ioengine=io_uring"),
            );
        }
        if kind == EngineKind::Mmap && self.job.direct {
            let fault = Fault::new("direct=1 has no effect on a memory mapping");
            self.warning(&["direct", "buffered"], fault.remedy("use another ioengine"));
        }
        if self
            .job
            .block_size
            .iter()
            .any(|size| matches!(size, BlockSize::Split(entries) if entries.is_empty()))
        {
            self.error(&["bssplit"], Fault::new("the split is empty"));
        }
    }

    /// Batches and marks above the depth are lowered to it, as in fio, but not in silence.
    fn batches(&mut self) {
        let depth = self.job.depth.iodepth;
        let low = self.draft.iodepth_low;
        self.job.depth.low = if low == 0 {
            depth
        } else {
            self.at_most_depth("iodepth_low", low)
        };
        let submit = self.job.depth.batch_submit;
        self.job.depth.batch_submit = self.at_most_depth("iodepth_batch", submit);
        let min = self.job.depth.batch_complete_min;
        let min = self.at_most_depth("iodepth_batch_complete_min", min);
        self.job.depth.batch_complete_min = min;
        let max = self.job.depth.batch_complete_max;
        if max != 0 && max < min {
            let fault = Fault::new(format!(
                "iodepth_batch_complete_max={max} is less than the minimum: {min} is used"
            ));
            self.warning(&["iodepth_batch_complete_max"], fault);
            self.job.depth.batch_complete_max = min;
        }
    }

    fn at_most_depth(&mut self, option: &str, n: u32) -> u32 {
        let depth = self.job.depth.iodepth;
        if n > depth {
            let fault = Fault::new(format!("{option}={n} is more than iodepth: {depth} is used"));
            self.warning(&[option], fault);
        }
        n.min(depth)
    }
}

#[cfg(test)]
mod tests;
