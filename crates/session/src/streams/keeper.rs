//! Keeps the streams of a record: the one thread that writes them.
//!
//! Data in: the load's I/Os from the workers' rings, lots of rows from the watcher. Data out: the streams on disk,
//! windows of slow I/Os. What cannot be written is counted as lost, and the run goes on. It must not know where rows come
//! from or what they mean.

use super::slow::{SlowFinder, Window};
use super::watcher::{Dropped, Lot};
use fathom_core::clock::Clock;
use fathom_core::record::{BlockRequest, CounterRow, IoRecord, ProcessRow, RowSink, SchedSlice, StreamKind};
use fathom_core::units::{MonoTime, Nanos};
use fathom_engine::recording::{IoRecording, WorkerTask};
use fathom_store::{StreamEnd, StreamRow, StreamWriter};
use fathom_sys::clock::HostClock;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// How often the workers' rings are emptied: they hold several times as much.
const TICK: Duration = Duration::from_millis(20);
/// How often rows are handed to the kernel: a kill loses at most a second, on a busy machine too. Shorter than the time
/// between two lots of counters, which then never wait for the next.
const FLUSH: Nanos = Nanos::from_millis(400);
const SECOND: Nanos = Nanos::from_secs(1);

/// A stream under way. What it cannot write it counts and leaves out; the first reason is kept.
pub(super) struct Kept<R: StreamRow> {
    writer: StreamWriter<R>,
    error: Option<String>,
}

impl<R: StreamRow> Kept<R> {
    pub(super) fn new(writer: StreamWriter<R>) -> Self {
        Self { writer, error: None }
    }

    pub(super) fn rows(&mut self, rows: &[R]) {
        if let Err(error) = self.writer.rows(rows) {
            self.error.get_or_insert_with(|| error.to_string());
        }
    }

    fn flush(&mut self) {
        if let Err(error) = self.writer.flush() {
            self.error.get_or_insert_with(|| error.to_string());
        }
    }

    pub(super) fn end(self) -> Ended {
        match self.writer.finish() {
            Ok(end) => Ended {
                end: Some(end),
                error: self.error,
            },
            Err(error) => Ended {
                end: None,
                error: self.error.or(Some(error.to_string())),
            },
        }
    }
}

/// What is left of a stream.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub end: Option<StreamEnd>,
    pub error: Option<String>,
}

/// The streams that were asked for.
#[derive(Default)]
pub(super) struct Writers {
    pub io: Option<Kept<IoRecord>>,
    pub block: Option<Kept<BlockRequest>>,
    pub counters: Option<Kept<CounterRow>>,
    pub processes: Option<Kept<ProcessRow>>,
    pub sched: Option<Kept<SchedSlice>>,
}

impl Writers {
    fn lot(&mut self, lot: &Lot) {
        match lot {
            Lot::Block(rows) => keep(&mut self.block, rows),
            Lot::Counters(rows) => keep(&mut self.counters, rows),
            Lot::Processes(rows) => keep(&mut self.processes, rows),
            Lot::Sched(rows) => keep(&mut self.sched, rows),
        }
    }

    fn flush(&mut self) {
        flush(&mut self.io);
        flush(&mut self.block);
        flush(&mut self.counters);
        flush(&mut self.processes);
        flush(&mut self.sched);
    }

    pub(super) fn end(self) -> Vec<(StreamKind, Ended)> {
        let all = [
            (StreamKind::Io, self.io.map(Kept::end)),
            (StreamKind::Block, self.block.map(Kept::end)),
            (StreamKind::Counters, self.counters.map(Kept::end)),
            (StreamKind::Processes, self.processes.map(Kept::end)),
            (StreamKind::Sched, self.sched.map(Kept::end)),
        ];
        let there = all.into_iter().filter_map(|(kind, ended)| Some((kind, ended?)));
        there.collect()
    }
}

fn keep<R: StreamRow>(kept: &mut Option<Kept<R>>, rows: &[R]) {
    if let Some(kept) = kept {
        kept.rows(rows);
    }
}

fn flush<R: StreamRow>(kept: &mut Option<Kept<R>>) {
    if let Some(kept) = kept {
        kept.flush();
    }
}

/// Where rows come from, and where windows go.
pub(super) struct Sources {
    pub recording: Option<Arc<IoRecording>>,
    /// Closed when the watcher has ended.
    pub lots: Receiver<Lot>,
    /// `None`: nobody asks which I/Os are slow.
    pub windows: Option<Sender<Window>>,
    pub dropped: Arc<Dropped>,
    pub clock: HostClock,
}

/// The body of the keeping thread: until the watcher is gone, which is after the last I/O.
pub(super) fn keep_all(mut writers: Writers, sources: &Sources) -> Vec<(StreamKind, Ended)> {
    let mut slow = SlowFinder::new();
    let mut told = Told::default();
    let mut next_second = sources.clock.now().after(SECOND);
    let mut next_flush = sources.clock.now().after(FLUSH);
    // Without rings there is nothing to be done but what arrives.
    let pause = match sources.recording {
        Some(_) => TICK,
        None => Duration::from_nanos(SECOND.0),
    };
    loop {
        let received = sources.lots.recv_timeout(pause);
        // After the last lot there is nothing to come from the rings either, but for what is in them now.
        let over = matches!(received, Err(RecvTimeoutError::Disconnected));
        if let Ok(lot) = &received {
            writers.lot(lot);
        }
        if let Some(recording) = &sources.recording {
            let kept = &mut writers.io;
            recording.drain(&mut |rows| {
                if sources.windows.is_some() {
                    for row in rows {
                        slow.take_in(row.created_ns, row.completed_ns);
                    }
                }
                keep(kept, rows);
            });
        }
        if let Some(windows) = &sources.windows {
            for window in slow.windows() {
                // The watcher ends before this thread: it has then looked for the last time.
                let _unheard = windows.send(window);
            }
        }
        let now = sources.clock.now();
        if now >= next_second || over {
            next_second = now.after(SECOND);
            let rows = told.rows(sources, now);
            keep(&mut writers.counters, &rows);
        }
        if now >= next_flush || over {
            next_flush = now.after(FLUSH);
            writers.flush();
        }
        if over {
            return writers.end();
        }
    }
}

/// What the record says of itself, among the counters: so that it is known of a killed run as well.
#[derive(Default)]
struct Told {
    tasks: usize,
}

impl Told {
    fn rows(&mut self, sources: &Sources, now: MonoTime) -> Vec<CounterRow> {
        let mut rows = Vec::new();
        let mut row = |metric: &'static str, labels: String, value: f64| {
            rows.push(CounterRow {
                at_ns: now.0,
                metric: Cow::Borrowed(metric),
                labels: Cow::Owned(labels),
                value,
            });
        };
        if let Some(recording) = &sources.recording {
            let tasks = recording.tasks();
            for WorkerTask { job, worker, tid } in tasks.iter().skip(self.tasks) {
                row(
                    "fathom_worker_thread_id",
                    format!("job=\"{job}\",worker=\"{worker}\""),
                    f64::from(*tid),
                );
            }
            self.tasks = tasks.len();
            row(
                "fathom_record_dropped_rows_total",
                String::from("stream=\"io\""),
                recording.dropped() as f64,
            );
        }
        for kind in StreamKind::ALL {
            let rows = sources.dropped.rows(kind);
            if kind != StreamKind::Io && rows > 0 {
                let labels = format!("stream=\"{}\"", kind.name());
                row("fathom_record_dropped_rows_total", labels, rows as f64);
            }
        }
        rows
    }
}
