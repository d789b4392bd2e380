//! What happens on the way of a measurement, for those who show or follow it.

use crate::sweep::progress::{self, Step};
use fathom_core::record::CounterRow;
use fathom_core::run::{DiskSummary, IntervalLatency, SeriesRow, WorkerAccount};
use fathom_core::virtual_disk::CreditLeft;
use fathom_engine::plan::FileAction;
use fathom_engine::run::Progress;
use std::fmt;
use std::path::{Path, PathBuf};

/// Something that happened, or how far something is.
#[derive(Debug)]
pub enum Event<'a> {
    /// Another fathom measures a file that is only read: neither has the disk alone.
    Shared {
        /// The file.
        path: &'a Path,
        /// The other process.
        pid: u32,
    },
    /// A file that was to be removed after the run was there before it, and stays.
    Stays {
        /// The file.
        path: &'a Path,
    },
    /// How far the layout of a file is.
    LayingOut {
        /// Which.
        file: &'a FileAction,
        /// Written so far.
        done_bytes: u64,
        /// To be written.
        total_bytes: u64,
    },
    /// A file is laid out.
    LaidOut,
    /// Files that could not be marked as made by fathom.
    Unmarked(&'a [PathBuf]),
    /// A part of the record that the system does not allow, with the way to get it.
    NotRecorded(&'a str),
    /// How far the load is; ten times a second of real time.
    Progress(&'a Progress),
    /// The rows of one or more intervals that have ended.
    Rows(&'a [SeriesRow]),
    /// What each worker has done so far can be had; ten times a second, where jobs have their workers counted.
    Standing(Standing<'a>),
    /// All latencies of the rows that come next, where somebody asked for them ([`How::watched`](crate::How::watched)).
    Latencies(&'a [IntervalLatency]),
    /// What a modelled machine has counted and which credit it has left, a second of virtual time after the last time; where
    /// somebody asked for it.
    Machine {
        /// As the node exporter names them.
        counters: &'a [CounterRow],
        credit: &'a [CreditLeft],
    },
    /// The load has ended.
    LoadEnded,
    /// The record of a run that was only begun could not be removed.
    RecordStays(&'a str),
    /// The record could not be completed; the report must still come.
    RecordFailed(&'a str),
    /// How far a sweep is.
    Sweep(SweepEvent<'a>),
}

/// What each worker has done so far, put together when it is asked for.
#[derive(Clone, Copy)]
pub struct Standing<'a> {
    accounts: &'a dyn Fn() -> Vec<WorkerAccount>,
    disks: &'a dyn Fn() -> Vec<DiskSummary>,
}

impl<'a> Standing<'a> {
    pub(crate) fn new(
        accounts: &'a dyn Fn() -> Vec<WorkerAccount>,
        disks: &'a dyn Fn() -> Vec<DiskSummary>,
    ) -> Self {
        Self { accounts, disks }
    }

    /// The accounts, in the order of jobs and workers.
    pub fn accounts(&self) -> Vec<WorkerAccount> {
        (self.accounts)()
    }

    /// What the disks counted so far; of a modelled machine, which counts at the end, nothing.
    pub fn disks(&self) -> Vec<DiskSummary> {
        (self.disks)()
    }
}

impl fmt::Debug for Standing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Standing(…)")
    }
}

/// What happens on the way of a sweep.
#[derive(Debug)]
pub enum SweepEvent<'a> {
    /// A measurement of a point begins.
    StepBegins {
        /// Which.
        step: Step,
    },
    /// How far it is; ten times a second of real time.
    Progress {
        /// Which.
        step: Step,
        /// Of its load.
        progress: &'a Progress,
    },
    /// It has ended, or could not be carried out.
    StepEnded {
        /// Which.
        step: Step,
        /// What is known of all points.
        progress: &'a progress::Progress<'a>,
        /// Whether it was measured now, not read.
        anew: bool,
    },
    /// A load beside the matrix begins, which tells what its points did not.
    ProbeBegins,
    /// It could not be measured.
    ProbeFailed {
        /// Of the load.
        name: &'a str,
        /// In words.
        why: &'a str,
    },
    /// Nothing more is measured.
    Ended,
}

/// Somebody who wants to know.
pub trait Observer {
    /// Takes an event.
    fn event(&mut self, event: Event<'_>);
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: Event<'_>) {}
}
