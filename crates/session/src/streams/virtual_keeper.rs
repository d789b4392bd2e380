//! The streams of a run in virtual time.
//!
//! Data in: the load's I/Os, and each virtual second what the modelled machine sent to its disks and counts. Data out: the
//! same streams as of a real run. Nothing is dropped: virtual time waits for the disk. There is no scheduler and there are
//! no processes in the model. It must not know the model.

use super::EndedStreams;
use super::keeper::{Ended, Kept};
use crate::request::Streams;
use fathom_core::record::{BlockRequest, CounterRow, IoRecord, StreamKind};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Trace, VirtualDisk};
use fathom_engine::recording::IoRecording;
use fathom_store::StreamWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Seconds of the machine's rows that may wait to be written.
const LOTS: usize = 64;

/// Streams under way.
pub(crate) struct VirtualStreams {
    recording: Option<Arc<IoRecording>>,
    io: Option<JoinHandle<Ended>>,
    machine: Option<Machine>,
    asked: Streams,
}

/// The way of the machine's rows, and who writes them.
struct Machine {
    lots: SyncSender<Lot>,
    keeper: JoinHandle<Vec<(StreamKind, Ended)>>,
}

/// What the machine did in a second.
struct Lot {
    requests: Vec<BlockRequest>,
    counters: Vec<CounterRow>,
}

impl VirtualStreams {
    /// Opens the streams in `dir`.
    ///
    /// # Errors
    /// They could not be made, or no thread.
    pub(crate) fn begin(dir: &Path, asked: Streams) -> anyhow::Result<Self> {
        let mut streams = Self {
            recording: None,
            io: None,
            machine: None,
            asked,
        };
        if asked.io {
            let writer = Kept::<IoRecord>::new(StreamWriter::create(dir)?);
            let (recording, lots) = IoRecording::lossless();
            streams.recording = Some(Arc::new(recording));
            streams.io = Some(super::thread("fathom-keep", move || keep_ios(writer, &lots))?);
        }
        if asked.block || asked.counters {
            let block = asked.block.then(|| StreamWriter::create(dir)).transpose()?;
            let counters = asked.counters.then(|| StreamWriter::create(dir)).transpose()?;
            let (block, counters) = (block.map(Kept::new), counters.map(Kept::new));
            let (lots, received) = sync_channel(LOTS);
            let keeper = super::thread("fathom-keep", move || keep_machine(block, counters, &received))?;
            streams.machine = Some(Machine { lots, keeper });
        }
        Ok(streams)
    }

    /// Where the load records its I/Os.
    pub(crate) fn recording(&self) -> Option<Arc<IoRecording>> {
        self.recording.clone()
    }

    /// What the machine is to keep.
    pub(crate) fn wanted(&self) -> Trace {
        Trace {
            requests: self.asked.block,
            counters: self.asked.counters,
        }
    }

    /// Takes what the machine did up to `now`.
    pub(crate) fn second(&self, disk: &mut dyn VirtualDisk, now: MonoTime) {
        let Some(machine) = &self.machine else { return };
        let mut lot = Lot {
            requests: Vec::new(),
            counters: Vec::new(),
        };
        if self.asked.block {
            disk.take_requests(now, &mut lot.requests);
        }
        if self.asked.counters {
            disk.counters(now, &mut lot.counters);
        }
        // The receiver ends with the sender only.
        let _unheard = machine.lots.send(lot);
    }

    /// Ends all streams: the run has ended, and nothing records any more.
    pub(crate) fn end(self) -> EndedStreams {
        let mut result = EndedStreams::default();
        // With the last recorder gone, the keeper sees the end of its queue.
        drop(self.recording);
        if let Some(io) = self.io {
            result.add(StreamKind::Io, super::joined(io), 0, Vec::new());
        }
        if let Some(Machine { lots, keeper }) = self.machine {
            drop(lots);
            for (kind, ended) in super::joined(keeper) {
                result.add(kind, ended, 0, Vec::new());
            }
        }
        result
    }
}

fn keep_ios(mut writer: Kept<IoRecord>, lots: &Receiver<Vec<IoRecord>>) -> Ended {
    for lot in lots {
        writer.rows(&lot);
    }
    writer.end()
}

fn keep_machine(
    mut block: Option<Kept<BlockRequest>>,
    mut counters: Option<Kept<CounterRow>>,
    lots: &Receiver<Lot>,
) -> Vec<(StreamKind, Ended)> {
    for lot in lots {
        if let Some(block) = &mut block {
            block.rows(&lot.requests);
        }
        if let Some(counters) = &mut counters {
            counters.rows(&lot.counters);
        }
    }
    let ended = [
        (StreamKind::Block, block.map(Kept::end)),
        (StreamKind::Counters, counters.map(Kept::end)),
    ];
    let there = ended.into_iter().filter_map(|(kind, ended)| Some((kind, ended?)));
    there.collect()
}
