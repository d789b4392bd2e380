//! The first pass over the load's I/Os.
//!
//! Data in: batches of rows, roughly in the order of time. Data out: sums and events of each job section.

use super::Facts;
use super::timeline::Timeline;
use super::victims::{Kind, Victims};
use fathom_core::backend::Op;
use fathom_core::record::IoRecord;

/// Takes rows in.
#[derive(Debug)]
pub struct IoScan {
    jobs: Vec<JobScan>,
    started_ns: u64,
    refused: u64,
}

/// What was found of the load's I/Os.
#[derive(Debug)]
pub struct IoScanned {
    pub(super) jobs: Vec<JobScan>,
    refused: u64,
}

/// One job section.
#[derive(Debug)]
pub(super) struct JobScan {
    /// Reads, writes, trims.
    pub data: Timeline,
    /// The same by kind, syncs too.
    pub victims: Victims,
    /// I/Os of each kind: read, write, trim, sync.
    pub ops: [u64; 4],
    /// Sum of the time that I/Os were due and not yet made.
    pub unsent_sum_ns: u128,
}

impl IoScan {
    /// Ready for the rows of this run.
    pub fn new(facts: &Facts<'_>) -> Self {
        let started_ns = facts.started_ns();
        let job = |_| JobScan {
            data: Timeline::new(started_ns),
            victims: Victims::default(),
            ops: [0; 4],
            unsent_sum_ns: 0,
        };
        Self {
            jobs: facts.jobs().iter().map(job).collect(),
            started_ns,
            refused: 0,
        }
    }

    /// Takes rows in.
    pub fn feed(&mut self, rows: &[IoRecord]) {
        for row in rows {
            self.row(row);
        }
    }

    #[inline]
    fn row(&mut self, row: &IoRecord) {
        let Some(job) = self.jobs.get_mut(row.job as usize) else {
            self.refused += 1;
            return;
        };
        let due_ns = row.intended_ns.min(row.created_ns);
        let kind = Kind::of_io(row.op, row.len_bytes);
        if job
            .victims
            .count(kind, self.started_ns, due_ns, row.completed_ns)
            .is_none()
        {
            self.refused += 1;
            return;
        }
        if !matches!(row.op, Op::Sync | Op::DataSync) {
            let Some(second) = job.data.count(due_ns, row.completed_ns, row.lat_ns()) else {
                self.refused += 1;
                return;
            };
            second.bytes += u64::from(row.len_bytes);
            second.errors += u32::from(row.errno != 0);
        }
        job.ops[row.op.index()] += 1;
        job.unsent_sum_ns += u128::from(row.created_ns - due_ns);
    }

    /// What was found.
    pub fn finish(self) -> IoScanned {
        IoScanned {
            jobs: self.jobs,
            refused: self.refused,
        }
    }
}

impl IoScanned {
    /// Rows that no run can have: they were left out.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests;
