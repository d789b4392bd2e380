//! Keeps the run directory while the run goes on.
//!
//! Data in: rows from the run's collector. Data out: a run directory, and what of it is missing. A thread of its own
//! writes, behind a bounded queue: a disk that stalls under the load must not hold up the collection of its own
//! numbers. What does not fit into the queue is dropped and counted.

use crate::args::Output;
use anyhow::Context;
use fathom_core::run::{HistogramRow, Run, SeriesRow, SeriesSink, Warning};
use fathom_store::{RUN_FILE, RunWriter, SERIES_STREAM_FILE, StoreError};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Batches of rows that may wait for the disk: each is a second of all jobs.
const QUEUE_BATCHES: usize = 256;
/// Where runs are kept without `-o`.
const DEFAULT_PARENT: &str = "fathom-runs";

/// A run directory that is being written.
pub(crate) struct Recorder {
    dir: PathBuf,
    sender: SyncSender<Vec<SeriesRow>>,
    thread: JoinHandle<Kept>,
    dropped_rows: u64,
}

/// What the writer's thread leaves.
struct Kept {
    writer: RunWriter,
    error: Option<std::io::Error>,
}

/// A record whose rows are all written, or lost.
pub(crate) struct Closed {
    writer: RunWriter,
    /// What could not be kept.
    pub warnings: Vec<Warning>,
}

/// The directory to use, made and empty; `None` for no record.
pub(crate) fn reserve(output: &Output, first_job: &str) -> anyhow::Result<Option<PathBuf>> {
    let dir = match output {
        Output::None => return Ok(None),
        Output::Directory(dir) => dir.clone(),
        Output::Default => {
            let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
            unused(&Path::new(DEFAULT_PARENT).join(format!("{time}-{}", file_name(first_job))))
        }
    };
    let name = dir.display();
    std::fs::create_dir_all(&dir).with_context(|| {
        format!("cannot make the run directory {name} (choose another one with -o, or -o none for no record)")
    })?;
    if dir.join(RUN_FILE).exists() {
        return Err(StoreError::RunExists { dir }.into());
    }
    let mut entries = std::fs::read_dir(&dir).with_context(|| format!("cannot read {name}"))?;
    if entries.next().is_some() {
        return Err(StoreError::NotEmpty { dir }.into());
    }
    Ok(Some(dir))
}

/// Removes a directory that [`reserve`] made and nothing was put into.
pub(crate) fn release(dir: Option<&Path>) {
    if let Some(dir) = dir {
        // It is empty, or not ours alone any more.
        drop(std::fs::remove_dir(dir));
    }
}

/// Removes a record that was only begun.
fn remove(dir: &Path) {
    for name in [RUN_FILE, SERIES_STREAM_FILE] {
        // What cannot be removed stays, as the record of a run that was killed.
        drop(std::fs::remove_file(dir.join(name)));
    }
    release(Some(dir));
}

/// The path itself, or with a number behind it where it exists.
fn unused(path: &Path) -> PathBuf {
    let numbered = (2..).map(|n| PathBuf::from(format!("{}-{n}", path.display())));
    std::iter::once(path.to_owned())
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| path.to_owned())
}

/// A job's name as part of a file name: letters, digits and a few signs, at most 40 of them.
fn file_name(job: &str) -> String {
    let keep = |letter: char| {
        if letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.') {
            letter
        } else {
            '-'
        }
    };
    job.chars().map(keep).take(40).collect()
}

impl Recorder {
    /// Begins the record in `dir`, with `run` as it stands before the first I/O.
    pub(crate) fn begin(dir: &Path, run: &Run) -> anyhow::Result<Self> {
        let writer = RunWriter::create(dir, run).inspect_err(|_| remove(dir))?;
        let (sender, receiver) = sync_channel(QUEUE_BATCHES);
        let thread = std::thread::Builder::new()
            .name(String::from("record"))
            .spawn(move || write_all(writer, &receiver))
            .context("cannot start the thread that writes the record")?;
        Ok(Self {
            dir: dir.to_owned(),
            sender,
            thread,
            dropped_rows: 0,
        })
    }

    /// Takes rows; never waits.
    pub(crate) fn rows(&mut self, rows: &[SeriesRow]) {
        match self.sender.try_send(rows.to_vec()) {
            Ok(()) => {}
            Err(TrySendError::Full(rows) | TrySendError::Disconnected(rows)) => {
                self.dropped_rows += rows.len() as u64;
            }
        }
    }

    /// Waits until all rows are written.
    pub(crate) fn close(self) -> Closed {
        drop(self.sender);
        let kept = match self.thread.join() {
            Ok(kept) => kept,
            // A bug of ours: it goes on here.
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let mut warnings = Vec::new();
        if let Some(error) = kept.error {
            let detail = format!("the series ends early: {}: {error}", self.dir.display());
            warnings.push(Warning::RecordIncomplete { detail });
        }
        if self.dropped_rows > 0 {
            let detail = format!(
                "{} rows of the series were dropped, because {} could not be written fast enough",
                self.dropped_rows,
                self.dir.display()
            );
            warnings.push(Warning::RecordIncomplete { detail });
        }
        Closed {
            writer: kept.writer,
            warnings,
        }
    }

    /// Removes the record of a run that did not start.
    pub(crate) fn abandon(self) {
        let dir = self.dir.clone();
        drop(self.close());
        remove(&dir);
    }
}

impl Closed {
    /// Ends the record.
    pub(crate) fn finish(self, run: &Run, histograms: Vec<HistogramRow>) -> Result<(), StoreError> {
        self.writer.finish(run, histograms.into_iter())
    }
}

/// The writer's thread: writes until the sender is gone; after an error it only empties the queue.
fn write_all(mut writer: RunWriter, receiver: &Receiver<Vec<SeriesRow>>) -> Kept {
    let mut error = None;
    for rows in receiver {
        if error.is_none() {
            error = writer.rows(&rows).err();
        }
    }
    Kept { writer, error }
}

#[cfg(test)]
mod tests;
