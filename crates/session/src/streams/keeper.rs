//! Keeps the streams of a record: the thread that writes them.
//!
//! Data in: the load's I/Os from the workers' rings, batches of rows from the watcher. Data out: the streams on disk,
//! windows of slow I/Os. What cannot be written is counted as lost, and the run goes on. It must not know where rows come
//! from or what they mean.

use super::batch::{Batch, Dropped};
use super::slow::{SlowFinder, Window};
use crate::tap::IoTap;
use crate::writer::{PATIENCE, Writer};
use fathom_core::clock::Clock;
use fathom_core::record::{
    BlockRequest, CounterRow, CpuShare, IoRecord, KernelSpan, ProcessRow, RowSink as _, SchedSlice,
    StreamKind,
};
use fathom_core::units::{MonoTime, Nanos};
use fathom_engine::recording::{IoRecording, WorkerTask};
use fathom_store::{StreamEnd, StreamRow, StreamWriter};
use fathom_sys::clock::HostClock;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::Duration;

/// How often the workers' rings are emptied: they hold several times as much.
const TICK: Duration = Duration::from_millis(20);
/// How often rows are handed to the kernel: a kill loses at most a second, on a busy machine too. Shorter than the time
/// between two batches of counters, which then never wait for the next.
const FLUSH: Nanos = Nanos::from_millis(400);
const SECOND: Nanos = Nanos::from_secs(1);

/// What a stream is written to. What it cannot take is counted as lost; the first reason stays.
struct Sink<R: StreamRow> {
    writer: StreamWriter<R>,
    error: Option<String>,
}

impl<R: StreamRow> Sink<R> {
    fn rows(&mut self, rows: &[R]) {
        let written = self.writer.rows(rows);
        self.note(written);
    }

    fn flush(&mut self) {
        let flushed = self.writer.flush();
        self.note(flushed);
    }

    fn note<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let Err(error) = result {
            self.error.get_or_insert_with(|| error.to_string());
        }
    }

    fn end(self) -> Ended {
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

/// What is left of several.
type Left = Vec<(StreamKind, Ended)>;

/// The streams that were asked for.
#[derive(Default)]
pub(super) struct Sinks {
    kinds: Vec<StreamKind>,
    io: Option<Sink<IoRecord>>,
    block: Option<Sink<BlockRequest>>,
    counters: Option<Sink<CounterRow>>,
    processes: Option<Sink<ProcessRow>>,
    sched: Option<Sink<SchedSlice>>,
    cpus: Option<Sink<CpuShare>>,
    kernel: Option<Sink<KernelSpan>>,
}

/// Does the same to each sink that there is.
macro_rules! each {
    ($sinks:expr, $do:ident($($with:tt)*)) => {{
        let Sinks { io, block, counters, processes, sched, cpus, kernel, .. } = $sinks;
        $do(StreamKind::Io, io, $($with)*);
        $do(StreamKind::Block, block, $($with)*);
        $do(StreamKind::Counters, counters, $($with)*);
        $do(StreamKind::Processes, processes, $($with)*);
        $do(StreamKind::Sched, sched, $($with)*);
        $do(StreamKind::Cpus, cpus, $($with)*);
        $do(StreamKind::Kernel, kernel, $($with)*);
    }};
}

impl Sinks {
    /// Opens streams of these kinds in `dir`.
    ///
    /// # Errors
    /// One could not be made.
    pub(super) fn open(dir: &Path, kinds: impl IntoIterator<Item = StreamKind>) -> anyhow::Result<Self> {
        fn open<R: StreamRow>(dir: &Path) -> anyhow::Result<Option<Sink<R>>> {
            let writer = StreamWriter::create(dir)?;
            Ok(Some(Sink { writer, error: None }))
        }
        let mut sinks = Self::default();
        for kind in kinds {
            sinks.kinds.push(kind);
            match kind {
                StreamKind::Io => sinks.io = open(dir)?,
                StreamKind::Block => sinks.block = open(dir)?,
                StreamKind::Counters => sinks.counters = open(dir)?,
                StreamKind::Processes => sinks.processes = open(dir)?,
                StreamKind::Sched => sinks.sched = open(dir)?,
                StreamKind::Cpus => sinks.cpus = open(dir)?,
                StreamKind::Kernel => sinks.kernel = open(dir)?,
            }
        }
        Ok(sinks)
    }

    /// Which streams there are.
    pub(super) fn kinds(&self) -> &[StreamKind] {
        &self.kinds
    }

    fn batch(&mut self, batch: &Batch) {
        match batch {
            Batch::Io(rows) => write(&mut self.io, rows),
            Batch::Block(rows) => write(&mut self.block, rows),
            Batch::Counters(rows) => write(&mut self.counters, rows),
            Batch::Processes(rows) => write(&mut self.processes, rows),
            Batch::Sched(rows) => write(&mut self.sched, rows),
            Batch::Cpus(rows) => write(&mut self.cpus, rows),
            Batch::Kernel(rows) => write(&mut self.kernel, rows),
        }
    }

    /// Writes until nothing comes any more.
    pub(super) fn write_all(mut self, batches: impl Iterator<Item = Batch>) -> Left {
        batches.for_each(|batch| self.batch(&batch));
        self.end()
    }

    fn flush(&mut self) {
        fn flush<R: StreamRow>(_: StreamKind, sink: &mut Option<Sink<R>>) {
            sink.iter_mut().for_each(Sink::flush);
        }
        each!(self, flush());
    }

    fn end(self) -> Left {
        fn end<R: StreamRow>(kind: StreamKind, sink: Option<Sink<R>>, left: &mut Left) {
            left.extend(sink.map(|sink| (kind, sink.end())));
        }
        let mut left = Left::new();
        each!(self, end(&mut left));
        left
    }
}

fn write<R: StreamRow>(sink: &mut Option<Sink<R>>, rows: &[R]) {
    if let Some(sink) = sink {
        sink.rows(rows);
    }
}

/// The thread that writes streams.
pub(super) struct Keeper<B> {
    writer: Writer<B, Left>,
    kinds: Vec<StreamKind>,
}

impl<B: Send + 'static> Keeper<B> {
    /// Starts it. So many batches may wait.
    ///
    /// # Errors
    /// There is no thread.
    pub(super) fn begin(
        sinks: Sinks,
        places: usize,
        body: impl FnOnce(Sinks, &Receiver<B>) -> Left + Send + 'static,
    ) -> anyhow::Result<Self> {
        let kinds = sinks.kinds.clone();
        let writer = Writer::begin("fathom-keep", places, move |batches| body(sinks, batches))?;
        Ok(Self { writer, kinds })
    }

    /// Where rows go.
    pub(super) fn batches(&self) -> &SyncSender<B> {
        self.writer.batches()
    }

    /// Waits until all is written, or the disk has not answered for a minute.
    pub(super) fn end(self) -> Left {
        self.writer.end(PATIENCE).unwrap_or_else(|unfinished| {
            let error = unfinished.in_words("the rest of it", PATIENCE);
            let unfinished = |kind| {
                let error = Some(error.clone());
                (kind, Ended { end: None, error })
            };
            self.kinds.into_iter().map(unfinished).collect()
        })
    }
}

/// Where rows come from, and where windows go.
pub(super) struct Sources {
    pub recording: Option<Arc<IoRecording>>,
    /// `None`: nobody asks which I/Os are slow.
    pub windows: Option<Sender<Window>>,
    pub dropped: Arc<Dropped>,
    pub clock: HostClock,
    /// Who else takes each I/O.
    pub tap: Option<IoTap>,
}

/// The body of the keeping thread: until the watcher is gone, which is after the last I/O.
pub(super) fn keep_all(mut sinks: Sinks, sources: &Sources, batches: &Receiver<Batch>) -> Left {
    let mut slow = SlowFinder::new();
    let mut report = SelfReport::default();
    let mut next_second = sources.clock.now().after(SECOND);
    let mut next_flush = sources.clock.now().after(FLUSH);
    // Without rings there is nothing to be done but what arrives.
    let pause = match sources.recording {
        Some(_) => TICK,
        None => Duration::from_nanos(SECOND.0),
    };
    loop {
        let received = batches.recv_timeout(pause);
        // After the last batch there is nothing to come from the rings either, but for what is in them now.
        let over = matches!(received, Err(RecvTimeoutError::Disconnected));
        if let Ok(batch) = &received {
            sinks.batch(batch);
        }
        if let Some(recording) = &sources.recording {
            let sink = &mut sinks.io;
            recording.drain(&mut |rows| {
                if sources.windows.is_some() {
                    for row in rows {
                        slow.take_in(row.intended_ns, row.completed_ns);
                    }
                }
                write(sink, rows);
                if let Some(tap) = &sources.tap {
                    tap.rows(rows);
                }
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
            let rows = report.rows(sources, sinks.kinds(), now);
            write(&mut sinks.counters, &rows);
        }
        if now >= next_flush || over {
            next_flush = now.after(FLUSH);
            sinks.flush();
        }
        if over {
            return sinks.end();
        }
    }
}

/// What the record says of itself, among the counters: so that it is known of a killed run as well.
#[derive(Default)]
struct SelfReport {
    tasks: usize,
}

impl SelfReport {
    fn rows(&mut self, sources: &Sources, kinds: &[StreamKind], now: MonoTime) -> Vec<CounterRow> {
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
        for &kind in kinds.iter().filter(|&&kind| kind != StreamKind::Io) {
            let labels = format!("stream=\"{}\"", kind.name());
            let lost = sources.dropped.total(kind) as f64;
            row("fathom_record_dropped_rows_total", labels, lost);
        }
        rows
    }
}
