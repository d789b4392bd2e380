//! Every I/O of a load, for somebody outside of its record: logs in the formats of others.
//!
//! Data in: the rings of the workers, or in virtual time their batches. Data out: the same rows, from a thread of its own. Where
//! I/Os are recorded as well, the keeper of the record hands them on. It must not know what is made of them.

use anyhow::Context;
use fathom_core::record::{IoRecord, RowSink};
use fathom_engine::recording::IoRecording;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often rings are emptied: they hold several times as much. With more than this share of them full, at once again.
const TICK: Duration = Duration::from_millis(10);
const AT_ONCE_ROWS: u64 = 4096;
/// Batches of virtual time that may wait.
const BATCHES: usize = 8;

/// Who takes every I/O.
#[derive(Clone)]
pub struct IoTap(pub Arc<Mutex<dyn RowSink<IoRecord>>>);

impl fmt::Debug for IoTap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IoTap(…)")
    }
}

impl IoTap {
    pub(crate) fn rows(&self, rows: &[IoRecord]) {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever made the sink asks it at the end what it could not keep.
        let _told_at_the_end = sink.rows(rows);
    }
}

/// Rings that are emptied into a tap.
pub(crate) struct Tapping {
    recording: Arc<IoRecording>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Tapping {
    /// # Errors
    /// There is no thread.
    pub(crate) fn begin(tap: &IoTap, workers: usize) -> anyhow::Result<Self> {
        let recording = Arc::new(IoRecording::rings(workers).waiting());
        let stop = Arc::new(AtomicBool::new(false));
        let (tap, rings, over) = (tap.clone(), Arc::clone(&recording), Arc::clone(&stop));
        let body = move || {
            loop {
                // Asked before what is there: nothing comes after it.
                let last = over.load(Ordering::Acquire);
                let drained = rings.drain(&mut |rows| tap.rows(rows));
                if last {
                    return;
                }
                if drained < AT_ONCE_ROWS {
                    std::thread::sleep(TICK);
                }
            }
        };
        Ok(Self {
            recording,
            stop,
            thread: spawn(body)?,
        })
    }

    /// Where the load records its I/Os.
    pub(crate) fn recording(&self) -> Arc<IoRecording> {
        Arc::clone(&self.recording)
    }

    /// The load has ended: the rest is handed over.
    pub(crate) fn end(self) {
        self.stop.store(true, Ordering::Release);
        join(self.thread);
    }
}

/// The same in virtual time, which waits.
pub(crate) struct VirtualTapping {
    recording: Arc<IoRecording>,
    thread: JoinHandle<()>,
}

impl VirtualTapping {
    /// # Errors
    /// There is no thread.
    pub(crate) fn begin(tap: &IoTap) -> anyhow::Result<Self> {
        let (batches, received): (SyncSender<Vec<IoRecord>>, Receiver<_>) = sync_channel(BATCHES);
        let tap = tap.clone();
        let thread = spawn(move || received.iter().for_each(|rows| tap.rows(&rows)))?;
        Ok(Self {
            recording: Arc::new(IoRecording::lossless(batches)),
            thread,
        })
    }

    /// Where the load records its I/Os.
    pub(crate) fn recording(&self) -> Arc<IoRecording> {
        Arc::clone(&self.recording)
    }

    /// Nothing records any more: the rest is handed over.
    pub(crate) fn end(self) {
        // With the last recorder gone, the thread sees the end of its queue.
        drop(self.recording);
        join(self.thread);
    }
}

fn spawn(body: impl FnOnce() + Send + 'static) -> anyhow::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(String::from("fathom-tap"))
        .spawn(body)
        .context("cannot start the thread fathom-tap")
}

/// A panic of it goes on here.
fn join(thread: JoinHandle<()>) {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}
