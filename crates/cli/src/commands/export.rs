//! `fathom export`: what was recorded, in a form that other tools read.
//!
//! Data in: a run directory. Data out: text or Parquet, on stdout or in files. It streams:
//! memory does not grow with the record.

mod iolog;

use crate::args::evidence::ExportArgs;
use crate::commands::report::not_of_the_record;
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, bail};
use fathom_core::record::{
    BlockRequest, CounterRow, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice, StreamKind,
};
use fathom_core::run::Run;
use fathom_door::{Output, output};
use fathom_report::export::blkparse::Blkparse;
use fathom_report::export::csv::{self, CsvRow};
use fathom_report::export::fio_log::{FioLogs, LoggedJob};
use fathom_session::behind;
use fathom_store::{RecordReader, StreamRow, export_parquet, stored_streams};
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

/// What fio's logs are named after: as `write_lat_log=fathom` names them.
const LOG_PREFIX: &str = "fathom";
/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;
const CANNOT_WRITE: &str = "cannot write";

/// Carries `fathom export` out.
pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<Exit> {
    let output = output_of(args);
    let before = output.is_some_and(Path::exists);
    let result = exported(args);
    // What is there now and was not is what this export made, as far as it came.
    let made = output.into_iter().filter(|path| !before && path.exists());
    let made: Vec<String> = made.map(|path| path.display().to_string()).collect();
    behind(&made, result)
}

/// Where it goes; `None`: to stdout.
fn output_of(args: &ExportArgs) -> Option<&Path> {
    let given = args.form.iolog.as_deref().or(args.output.as_deref());
    given.filter(|path| path.as_os_str() != "-" || args.form.iolog.is_none())
}

fn exported(args: &ExportArgs) -> anyhow::Result<Exit> {
    let run = fathom_store::read_run(&args.dir)?;
    if let Some(path) = output_of(args) {
        not_of_the_record(&args.dir, path)?;
    }
    if args.form.blkparse {
        check(args, StreamKind::Block)?;
        blkparse(args, &run)?;
    } else if args.form.fio_log {
        check(args, StreamKind::Io)?;
        fio_logs(args, &run)?;
    } else if args.form.iolog.is_some() {
        iolog::write(args, &run)?;
    } else {
        let stream = args.stream.unwrap_or(StreamKind::Io);
        check(args, stream)?;
        match stream {
            StreamKind::Io => table::<IoRecord>(args)?,
            StreamKind::Block => table::<BlockRequest>(args)?,
            StreamKind::Counters => table::<CounterRow>(args)?,
            StreamKind::Processes => table::<ProcessRow>(args)?,
            StreamKind::Sched => table::<SchedSlice>(args)?,
            StreamKind::Cpus => table::<CpuShare>(args)?,
            StreamKind::Kernel => table::<KernelSpan>(args)?,
        }
    }
    Ok(Exit::Done)
}

/// Whether there is such a stream; what there is and how to get it, where there is none.
fn check(args: &ExportArgs, kind: StreamKind) -> anyhow::Result<()> {
    let there = stored_streams(&args.dir);
    let name = kind.name();
    if there.contains(&kind) {
        return Ok(());
    }
    let dir = args.dir.display();
    if there.is_empty() {
        bail!("{dir} has no recorded streams: run with --record to keep them");
    }
    let names: Vec<&str> = there.iter().map(|kind| kind.name()).collect();
    bail!(
        "{dir} has no stream {name}, only {}: choose one with --stream, or record it with --record={name}",
        names.join(", ")
    )
}

/// Lets `write` fill the file that is asked for, or stdout. `false`: the reader of a pipe has gone, which is its right.
fn fill(args: &ExportArgs, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<bool> {
    let filled = match output_of(args) {
        None => {
            let mut out = BufWriter::with_capacity(BUFFER, io::stdout());
            write(&mut out).and_then(|()| out.flush().context(CANNOT_WRITE))
        }
        Some(path) => {
            let mut out = created(path, args)?;
            write(&mut out).and_then(|()| publish(out))
        }
    };
    let gone = |error: &anyhow::Error| {
        let error = error.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    match filled {
        Err(error) if gone(&error) => Ok(false),
        filled => filled.map(|()| true),
    }
}

fn created(path: &Path, args: &ExportArgs) -> anyhow::Result<BufWriter<Output>> {
    let output = Output::create(path, args.force)?;
    Ok(BufWriter::with_capacity(BUFFER, output))
}

/// All is written: a file gets its name.
fn publish(out: BufWriter<Output>) -> anyhow::Result<()> {
    let output = out.into_inner().map_err(io::IntoInnerError::into_error);
    Ok(output.context(CANNOT_WRITE)?.publish()?)
}

fn table<R: StreamRow + CsvRow>(args: &ExportArgs) -> anyhow::Result<()> {
    let mut reader = RecordReader::<R>::open(&args.dir)?;
    let whole = if args.form.parquet {
        let path = args.output.as_deref();
        let path = path.context("--parquet: give the file with -o")?;
        let mut out = created(path, args)?;
        export_parquet(&mut reader, path, &mut out)?;
        publish(out)?;
        true
    } else {
        fill(args, |out| {
            csv::header::<R>(out).context(CANNOT_WRITE)?;
            while let Some(rows) = reader.next_batch()? {
                csv::rows(rows, out).context(CANNOT_WRITE)?;
            }
            Ok(())
        })?
    };
    if whole {
        incomplete(&reader);
    }
    Ok(())
}

/// Says of a stream whose writer was killed that its end is missing.
fn incomplete<R: StreamRow>(reader: &RecordReader<R>) {
    if !reader.complete() {
        terminal::note("the run is under way or was killed: up to the last second is missing");
    }
}

fn blkparse(args: &ExportArgs, run: &Run) -> anyhow::Result<()> {
    let mut reader = RecordReader::<BlockRequest>::open(&args.dir)?;
    let mut lines = Blkparse::new(run.started_monotonic_ns.0);
    let whole = fill(args, |out| {
        while let Some(rows) = reader.next_batch()? {
            lines.rows(rows, out).context(CANNOT_WRITE)?;
        }
        let written = lines.finish(out).context(CANNOT_WRITE)?;
        if written.out_of_order > 0 {
            terminal::note(&format!(
                "{} of {} lines are not in the order of time: those of requests that took longest",
                written.out_of_order, written.lines
            ));
        }
        Ok(())
    })?;
    if whole {
        incomplete(&reader);
    }
    Ok(())
}

fn fio_logs(args: &ExportArgs, run: &Run) -> anyhow::Result<()> {
    let Some(dir) = &args.output else {
        bail!("--fio-log: give a directory for the logs with -o");
    };
    output::directory(dir)?;
    let mut starts = vec![u64::MAX; run.workload.jobs.len()];
    let mut reader = RecordReader::<IoRecord>::open(&args.dir)?;
    reader.for_each_batch(|rows| {
        for row in rows {
            if let Some(start) = starts.get_mut(row.job as usize) {
                *start = row.created_ns.min(*start);
            }
        }
    })?;
    let jobs = run.workload.jobs.iter().zip(starts);
    let jobs = jobs.map(|(job, start_ns)| LoggedJob {
        workers: job.numjobs,
        start_ns,
        asynchronous: job.is_asynchronous(),
    });
    let begun: RefCell<Vec<Log>> = RefCell::default();
    let open = |name: &str| -> io::Result<Box<dyn Write>> {
        let output = Output::create(&dir.join(name), args.force).map_err(io::Error::other)?;
        let log = Log(Rc::new(RefCell::new(BufWriter::new(output))));
        begun.borrow_mut().push(log.clone());
        Ok(Box::new(log))
    };
    let mut logs = FioLogs::new(LOG_PREFIX, jobs.collect(), open);
    let mut reader = RecordReader::<IoRecord>::open(&args.dir)?;
    let cannot = || format!("cannot write logs to {}", dir.display());
    while let Some(rows) = reader.next_batch()? {
        logs.rows(rows).with_context(cannot)?;
    }
    let files = logs.finish().with_context(cannot)?;
    for log in begun.take() {
        if let Some(out) = Rc::into_inner(log.0) {
            publish(out.into_inner())?;
        }
    }
    terminal::say(&format!("{files} logs in {}", dir.display()));
    incomplete(&reader);
    Ok(())
}

/// One of several logs that are written side by side.
#[derive(Clone)]
struct Log(Rc<RefCell<BufWriter<Output>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}
