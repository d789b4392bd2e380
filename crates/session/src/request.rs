//! What is asked for: a workload as resolved, and how it is to be carried out.

use crate::machine::Machine;
use fathom_core::run::{Environment, Warning};
use fathom_core::workload::{Workload, Written};
use std::path::PathBuf;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Request {
    /// As resolved.
    pub workload: Workload,
    /// As typed.
    pub written: Written,
    /// What the dialect warned of.
    pub warnings: Vec<Warning>,
    /// This machine, looked at once: that takes a millisecond or more, and the first I/O should come soon.
    pub environment: Environment,
    /// Where it runs.
    pub machine: Machine,
}

impl Request {
    /// What its record is named after: its first job.
    pub fn name(&self) -> &str {
        let first = self.workload.jobs.first();
        first.map_or("run", |job| job.name.as_str())
    }
}

/// How a measurement is carried out.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// What to keep beside the statistics.
    pub streams: Streams,
    /// Targets that may be overwritten although fathom did not make them.
    pub allow_overwrite: Vec<PathBuf>,
    /// Of those, the ones on which a file system or a partition table may be.
    pub allow_signature: Vec<PathBuf>,
    /// Jobs may run the commands that they name (`exec_prerun`, `exec_postrun`).
    pub allow_exec: bool,
    /// The command line, word by word, for the record.
    pub command: Vec<String>,
    /// What is recorded, by the name that its owners have for it; before what the system says of it.
    pub called: Option<String>,
    /// Whether the observer is given all latencies of each interval and what a modelled machine counts
    /// ([`Event::Latencies`](crate::Event::Latencies), [`Event::Machine`](crate::Event::Machine)).
    pub watched: bool,
}

/// Where a run is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Output {
    /// A directory of its own in `fathom-runs`.
    #[default]
    Default,
    /// This directory.
    Directory(PathBuf),
    /// Nowhere.
    None,
}

/// The streams of a record that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// Every I/O of the load.
    pub io: bool,
    /// Every request of the devices, and who ran.
    pub block: bool,
    /// Counters and processes.
    pub counters: bool,
}

impl Streams {
    /// Whether nothing is asked for.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}
