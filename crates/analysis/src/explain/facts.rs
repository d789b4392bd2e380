//! What is known of a run beside the rows of its streams.
//!
//! Data in: the run's document, what the caller knows of disks on sale. Data out: [`Facts`]. It must not know a
//! catalogue's format nor read one.

use fathom_core::record::Comm;
use fathom_core::run::Run;
use fathom_core::workload::Job;

/// What limits a disk or a machine on sale has: what the limits that were found are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownDisk {
    /// Its name, as the catalogue has it: `azure/P15`.
    pub name: String,
    /// Whose limits they are.
    pub scope: LimitScope,
    /// I/Os a second that it allows; `None` where it has no such limit or none is known.
    pub iops: Option<f64>,
    /// Bytes a second that it allows.
    pub bytes_per_second: Option<f64>,
    /// Whether it is the run's own: its model has it, or the machine itself says that it is this one. The limit of any other
    /// can only be equal to what was reached.
    pub own: bool,
}

/// Whose limits a [`KnownDisk`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope {
    /// One disk's.
    Disk,
    /// A virtual machine's, over all its disks.
    Machine,
}

/// A run and its surroundings.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The run's document: workload, environment, summary. A record without load has no jobs.
    pub run: &'a Run,
    /// The process that made the load, where it is known.
    pub own_pid: Option<u32>,
    /// Whether a task of that name belongs to the load: [`is_fathom`].
    pub is_own: fn(&Comm) -> bool,
    /// Disks and machines whose limits may be those that were found; may be empty.
    pub known_disks: &'a [KnownDisk],
}

/// Whether a task is one of fathom's own threads, by its name.
pub fn is_fathom(comm: &Comm) -> bool {
    comm.as_bytes().starts_with(b"fathom")
}

/// Whether a task is a worker of the job of that name: workers' threads are called `JOB.NUMBER`, and the kernel keeps 15
/// bytes of that.
pub(super) fn is_worker_of(job: &str, comm: &Comm) -> bool {
    let (job, comm) = (job.as_bytes(), comm.as_bytes());
    let cut = comm.len() >= COMM_BYTES;
    if job.len() >= COMM_BYTES {
        return cut && job.starts_with(comm);
    }
    let number = comm.strip_prefix(job).and_then(|rest| rest.strip_prefix(b"."));
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit) && (cut || !number.is_empty()))
}

/// What the kernel keeps of a task's name.
const COMM_BYTES: usize = 15;

impl<'a> Facts<'a> {
    /// Facts of a run of fathom, without knowledge of its process and of disks on sale.
    pub fn new(run: &'a Run) -> Self {
        Self {
            run,
            own_pid: None,
            is_own: is_fathom,
            known_disks: &[],
        }
    }

    /// Whether a task belongs to the load. Kernel threads that carry out I/O for it (`iou-wrk-PID`, `iou-sqp-PID`) do.
    pub(super) fn owns(&self, tid: u32, comm: &Comm) -> bool {
        let is_worker = || self.jobs().iter().any(|job| is_worker_of(&job.name, comm));
        if (self.is_own)(comm) || self.own_pid.is_some_and(|pid| pid == tid) || is_worker() {
            return true;
        }
        let helper = [b"iou-wrk-".as_slice(), b"iou-sqp-"];
        let Some(number) = helper
            .iter()
            .find_map(|prefix| comm.as_bytes().strip_prefix(*prefix))
        else {
            return false;
        };
        let number = std::str::from_utf8(number)
            .ok()
            .and_then(|text| text.parse::<u32>().ok());
        // They carry the number of the thread that they work for, and threads are numbered soon after their process.
        match (number, self.own_pid) {
            (Some(number), Some(pid)) => (pid..pid.saturating_add(4096)).contains(&number),
            _ => false,
        }
    }

    pub(super) fn jobs(&self) -> &'a [Job] {
        &self.run.workload.jobs
    }

    pub(super) fn modelled(&self) -> bool {
        self.run.summary.target.modelled
    }

    /// When the run began, on the clock of the streams.
    pub(super) fn started_ns(&self) -> u64 {
        if self.modelled() {
            0
        } else {
            self.run.started_monotonic_ns.0
        }
    }
}

#[cfg(test)]
mod tests;
