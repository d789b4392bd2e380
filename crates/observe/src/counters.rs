//! The system's counters each second, and the disks' queues ten times a second.
//!
//! Duty: read what the kernel counts and name it as Prometheus' node exporter does, so that dashboards made for the one
//! fit the other. Data in: `/proc`, `/sys`, the cgroup hierarchies. Data out: rows of [`CounterRow`] and [`ProcessRow`],
//! and what is not available with its reason. It must not know the run: who calls decides when, and stamps the rows.
//!
//! Files are kept open and read from their beginning each time; a sample allocates only what its rows hold. A counter never
//! goes back: wraps of 32-bit fields are undone, a counter that started again goes on from where it was.

mod cgroup;
mod disk;
mod growing;
mod open_file;
mod process;
mod system;
mod text;

use crate::root::SystemRoot;
use cgroup::Cgroups;
pub(crate) use cgroup::{Group, groups};
use disk::Disks;
use fathom_core::record::{CounterRow, ProcessRow};
use process::Processes;
use std::borrow::Cow;
use system::System;

/// Reads the counters. Made once, then asked in turn; not shared between threads.
#[derive(Debug)]
pub struct CounterSampler {
    disks: Disks,
    system: System,
    cgroups: Cgroups,
    processes: Processes,
    remarks: Remarks,
}

impl CounterSampler {
    /// Opens what there is for `disks` (kernel names, as [`crate::target::whole_disk`] gives them) and for the system.
    /// Beside it, what is not available: one sentence each, with the reason and, where there is one, the way to get it.
    pub fn new(root: &SystemRoot, disks: &[String]) -> (Self, Vec<String>) {
        let mut remarks = Remarks::default();
        let sampler = Self {
            disks: Disks::new(root, disks, &mut remarks),
            system: System::new(root, &mut remarks),
            cgroups: Cgroups::new(root, disks, &mut remarks),
            processes: Processes::new(root, &mut remarks),
            remarks,
        };
        let said = sampler.remarks.0.clone();
        (sampler, said)
    }

    /// Reads everything, for once a second. Appends the counters to `out`, and to `processes` those that used CPU or storage
    /// since the last call: none at the first. `now_ns` stamps the rows; it must not go back.
    pub fn sample(&mut self, now_ns: u64, out: &mut Vec<CounterRow>, processes: &mut Vec<ProcessRow>) {
        let mut rows = Rows { at_ns: now_ns, out };
        self.disks.sample(&mut rows, &mut self.remarks);
        self.system.sample(&mut rows, &mut self.remarks);
        self.cgroups.sample(&mut rows, &mut self.remarks);
        self.processes.sample(now_ns, processes, &mut self.remarks);
    }

    /// Reads how many requests each disk has in flight and how long it was busy, for ten times a second: rows of
    /// `node_disk_io_now` and `node_disk_io_time_seconds_total` alone.
    pub fn sample_disks(&mut self, now_ns: u64, out: &mut Vec<CounterRow>) {
        self.disks.sample_queues(&mut Rows { at_ns: now_ns, out });
    }

    /// From here on [`Self::sample`] also tells what the control groups of this process hold its tasks up with: by the groups'
    /// paths, and once, or when it was moved, which process is in which (`fathom_cgroup_member`). To be called again now and
    /// then for a process that goes on; it costs nothing then.
    pub fn follow(&mut self, pid: u32, now_ns: u64) {
        self.cgroups.follow(pid, now_ns, &mut self.remarks);
    }

    /// The next [`Self::sample`] tells which control groups this task is in (`fathom_cgroup_member`), once, and nothing of what
    /// they do to it; of many new ones some.
    pub fn name(&mut self, tid: u32) {
        self.cgroups.name(tid);
    }

    /// All that was found not to be available so far, what [`CounterSampler::new`] said among it. Each is said once.
    pub fn remarks(&self) -> &[String] {
        &self.remarks.0
    }
}

/// What is not available, each once.
#[derive(Debug, Default)]
struct Remarks(Vec<String>);

impl Remarks {
    fn say(&mut self, remark: String) {
        if !self.0.contains(&remark) {
            self.0.push(remark);
        }
    }
}

/// Where the rows of one reading go.
struct Rows<'a> {
    at_ns: u64,
    out: &'a mut Vec<CounterRow>,
}

impl Rows<'_> {
    fn push(&mut self, metric: &'static str, labels: impl Into<Cow<'static, str>>, value: f64) {
        self.out.push(CounterRow {
            at_ns: self.at_ns,
            metric: Cow::Borrowed(metric),
            labels: labels.into(),
            value,
        });
    }
}

#[cfg(test)]
mod tests;
