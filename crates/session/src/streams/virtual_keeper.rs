//! The streams of a run in virtual time.
//!
//! Data in: the load's I/Os, and each virtual second what the modelled machine sent to its disks and counts. Data out: the
//! same streams as of a real run. Nothing is dropped: virtual time waits for the disk. There is no scheduler and there are
//! no processes in the model. It must not know the model.

use super::batch::Batch;
use super::ended::EndedStreams;
use super::keeper::{Keeper, Sinks};
use crate::request::Streams;
use crate::tap::IoTap;
use fathom_core::record::{IoRecord, StreamKind};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Trace, VirtualDisk};
use fathom_engine::recording::IoRecording;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// Batches that may wait to be written: of I/Os, and of what the machine did in a second.
const IO_BATCHES: usize = 8;
const MACHINE_BATCHES: usize = 64;

/// Streams under way. The load's I/Os have a thread of their own: to write them takes longest.
pub(crate) struct VirtualStreams {
    recording: Option<Arc<IoRecording>>,
    io: Option<Keeper<Vec<IoRecord>>>,
    machine: Option<Keeper<Batch>>,
    wanted: Trace,
}

impl VirtualStreams {
    /// Opens the streams in `dir`.
    ///
    /// # Errors
    /// They could not be made, or no thread.
    pub(crate) fn begin(dir: &Path, requested: Streams, tap: Option<IoTap>) -> anyhow::Result<Self> {
        let wanted = Trace {
            requests: requested.block,
            counters: requested.counters,
        };
        let io = requested.io.then(|| -> anyhow::Result<_> {
            let sinks = Sinks::open(dir, [StreamKind::Io])?;
            Keeper::begin(
                sinks,
                IO_BATCHES,
                move |sinks, batches: &Receiver<Vec<IoRecord>>| {
                    let tapped = |rows: &Vec<IoRecord>| {
                        if let Some(tap) = &tap {
                            tap.rows(rows);
                        }
                    };
                    sinks.write_all(batches.iter().inspect(tapped).map(Batch::Io))
                },
            )
        });
        let io = io.transpose()?;
        let kinds = [
            (wanted.requests, StreamKind::Block),
            (wanted.counters, StreamKind::Counters),
        ];
        let kinds = kinds
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, kind)| kind);
        let sinks = Sinks::open(dir, kinds)?;
        let machine = (!sinks.kinds().is_empty()).then(|| {
            Keeper::begin(sinks, MACHINE_BATCHES, |sinks, batches: &Receiver<Batch>| {
                sinks.write_all(batches.iter())
            })
        });
        let recording = |io: &Keeper<_>| Arc::new(IoRecording::lossless(io.batches().clone()));
        Ok(Self {
            recording: io.as_ref().map(recording),
            io,
            machine: machine.transpose()?,
            wanted,
        })
    }

    /// Where the load records its I/Os.
    pub(crate) fn recording(&self) -> Option<Arc<IoRecording>> {
        self.recording.clone()
    }

    /// What the machine is to keep.
    pub(crate) fn wanted(&self) -> Trace {
        self.wanted
    }

    /// Takes what the machine did up to `now`.
    pub(crate) fn second(&self, disk: &mut dyn VirtualDisk, now: MonoTime) {
        let Some(machine) = &self.machine else { return };
        // The receiver ends with the sender only.
        let give = |batch| drop(machine.batches().send(batch));
        if self.wanted.requests {
            let mut rows = Vec::new();
            disk.take_requests(now, &mut rows);
            give(Batch::Block(rows));
        }
        if self.wanted.counters {
            let mut rows = Vec::new();
            disk.counters(now, &mut rows);
            give(Batch::Counters(rows));
        }
    }

    /// Ends all streams: the run has ended, and nothing records any more.
    pub(crate) fn end(self) -> EndedStreams {
        let mut result = EndedStreams::default();
        // With the last recorder gone, the keeper sees the end of its queue.
        drop(self.recording);
        let io = self.io.map(Keeper::end).into_iter().flatten();
        let machine = self.machine.map(Keeper::end).into_iter().flatten();
        for (kind, ended) in io.chain(machine) {
            result.add(kind, ended, 0, Vec::new());
        }
        result
    }
}
