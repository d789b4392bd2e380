//! Keeps the run directory while the run goes on.
//!
//! Data in: rows and histograms from the run's collector. Data out: a run directory, and what of it is missing. A thread
//! of its own writes, behind a bounded queue: a disk that stalls under the load must not hold up the collection of its
//! own numbers. What does not fit into the queue is dropped and counted; and a run whose record cannot be written to its
//! end still ends and reports.

use crate::event::{Event, Observer};
use crate::writer::{PATIENCE, Unfinished, Writer};
use anyhow::bail;
use fathom_core::run::{HistogramRow, Run, SeriesRow, SeriesSink, Warning};
use fathom_store::{RunWriter, StreamEnd, remove_record};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TrySendError};
use std::time::Duration;

/// Batches that may wait for the disk: each is a second of all jobs, or their histograms.
const QUEUE_BATCHES: usize = 256;
/// What the record is written to: the run directory, but for tests.
pub(crate) trait Sink: Send + 'static {
    /// Takes one entry.
    ///
    /// # Errors
    /// It could not be kept.
    fn take(&mut self, entry: &Entry) -> std::io::Result<()>;
}

/// What is kept while the run goes on.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A second of all jobs.
    Rows(Vec<SeriesRow>),
    /// All histograms so far.
    Histograms(Vec<HistogramRow>),
}

impl Sink for RunWriter {
    fn take(&mut self, entry: &Entry) -> std::io::Result<()> {
        match entry {
            Entry::Rows(rows) => self.rows(rows),
            Entry::Histograms(rows) => self.checkpoint(rows).map_err(std::io::Error::other),
        }
    }
}

/// A run directory that is being written.
pub(crate) struct Recorder<W = RunWriter> {
    dir: PathBuf,
    writer: Writer<Entry, Written<W>>,
    dropped_rows: u64,
}

/// What the writer's thread leaves.
struct Written<W> {
    writer: W,
    error: Option<std::io::Error>,
}

/// A record whose rows are all written, or lost.
pub(crate) struct Closed<W = RunWriter> {
    /// `None` where it is still being written to.
    writer: Option<W>,
    /// The streams beside it, ended.
    pub streams: Vec<StreamEnd>,
    /// What could not be kept.
    pub warnings: Vec<Warning>,
}

/// Removes a record that was only begun. What cannot be removed stays, as the record of a run that was killed.
fn remove(dir: &Path, observer: &mut dyn Observer) {
    if let Err(error) = remove_record(dir) {
        observer.event(Event::RecordStays(&error.to_string()));
    }
}

impl Recorder {
    /// Begins the record in `dir`, with `run` as it stands before the first I/O.
    pub(crate) fn begin(dir: &Path, run: &Run, observer: &mut dyn Observer) -> anyhow::Result<Self> {
        let writer = RunWriter::create(dir, run).inspect_err(|_| remove(dir, observer))?;
        Self::over(dir, writer)
    }

    /// Begins the record in `dir`, and with `streams` what is recorded beside it; where that cannot be, the record is
    /// removed again.
    pub(crate) fn begin_beside<T>(
        dir: &Path,
        run: &Run,
        observer: &mut dyn Observer,
        streams: impl FnOnce(&mut dyn Observer) -> anyhow::Result<T>,
    ) -> anyhow::Result<(Self, T)> {
        let recorder = Self::begin(dir, run, observer)?;
        match streams(observer) {
            Ok(streams) => Ok((recorder, streams)),
            Err(error) => {
                recorder.abandon(observer);
                Err(error)
            }
        }
    }

    /// Removes the record of a run that did not start.
    pub(crate) fn abandon(self, observer: &mut dyn Observer) {
        let dir = self.dir.clone();
        drop(self.close());
        remove(&dir, observer);
    }
}

impl<W: Sink> Recorder<W> {
    fn over(dir: &Path, writer: W) -> anyhow::Result<Self> {
        let body = move |entries: &Receiver<Entry>| write_all(writer, entries);
        Ok(Self {
            dir: dir.to_owned(),
            writer: Writer::begin("record", QUEUE_BATCHES, body)?,
            dropped_rows: 0,
        })
    }

    /// Takes rows; never waits.
    pub(crate) fn rows(&mut self, rows: &[SeriesRow]) {
        let entry = Entry::Rows(rows.to_vec());
        if self.writer.batches().try_send(entry).is_err() {
            self.dropped_rows += rows.len() as u64;
        }
    }

    /// Takes rows; waits where the queue is full.
    pub(crate) fn rows_surely(&mut self, rows: &[SeriesRow]) {
        let entry = Entry::Rows(rows.to_vec());
        if self.writer.batches().send(entry).is_err() {
            self.dropped_rows += rows.len() as u64;
        }
    }

    /// Takes the histograms so far; never waits.
    pub(crate) fn histograms(&self, rows: Vec<HistogramRow>) {
        match self.writer.batches().try_send(Entry::Histograms(rows)) {
            // What does not fit is followed by newer ones.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }

    /// Waits until all rows are written, or the disk has not answered for a minute.
    pub(crate) fn close(self) -> Closed<W> {
        self.close_within(PATIENCE)
    }

    fn close_within(self, patience: Duration) -> Closed<W> {
        let dir = self.dir.display();
        let (writer, failure) = match self.writer.end(patience) {
            Ok(Written { writer, error }) => {
                let failure = error.map(|error| format!("the series ends early: {dir}: {error}"));
                (Some(writer), failure)
            }
            Err(unfinished) => {
                let failure = unfinished.in_words(&format!("the rest of the record in {dir}"), patience);
                let remedy = match unfinished {
                    Unfinished::Stuck => format!(": what it has can be seen with fathom recover {dir}"),
                    Unfinished::Panicked => String::new(),
                };
                (None, Some(failure + &remedy))
            }
        };
        let mut warnings: Vec<Warning> = Vec::new();
        warnings.extend(failure.map(|detail| Warning::RecordIncomplete { detail }));
        if self.dropped_rows > 0 {
            let detail = format!(
                "{} rows of the series were dropped, because {dir} could not be written fast enough",
                self.dropped_rows
            );
            warnings.push(Warning::RecordIncomplete { detail });
        }
        Closed {
            writer,
            streams: Vec::new(),
            warnings,
        }
    }
}

impl Closed {
    /// Ends the record, where it is not being written to any more.
    pub(crate) fn finish(self, run: &Run, histograms: Arc<Vec<HistogramRow>>) -> anyhow::Result<()> {
        let Some(mut writer) = self.writer else {
            return Ok(());
        };
        for stream in self.streams {
            writer.stream_ended(&stream);
        }
        let dir = writer.dir().display().to_string();
        let run = run.clone();
        let finish = move |_: &Receiver<()>| writer.finish(&run, histograms.iter().copied());
        match Writer::begin("record", 1, finish)?.end(PATIENCE) {
            Ok(result) => Ok(result?),
            Err(_) => bail!(
                "the record in {dir} could not be completed within {} s: see what it has with fathom recover {dir}",
                PATIENCE.as_secs()
            ),
        }
    }
}

/// The writer's thread: writes until the sender is gone; after an error it only empties the queue.
fn write_all<W: Sink>(mut writer: W, receiver: &Receiver<Entry>) -> Written<W> {
    let mut error = None;
    for entry in receiver {
        if error.is_none() {
            let taken = writer.take(&entry);
            // A run that ends has no need of its checkpoints; a disk that refuses them refuses rows next.
            error = taken.err().filter(|_| matches!(entry, Entry::Rows(_)));
        }
    }
    Written { writer, error }
}

#[cfg(test)]
mod tests;
