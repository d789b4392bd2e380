//! fio's logs of a run (`write_lat_log` and the like): their files, through the door.
//!
//! Data in: the plan. Data out: a sink for the run's I/Os, and at its end the files. An earlier log of the same name is
//! replaced, as a script expects that runs again; anything else of that name is not. It must not know rows.

use super::fio::out;
use crate::allowed::Allowed;
use anyhow::{Context, anyhow};
use fathom_core::run::WorkerAccount;
use fathom_door::output::{Output, OutputError};
use fathom_engine::plan::Plan;
use fathom_report::fio::logs::{LogFile, LogJob, LogKind, LogSet, Opening};
use fathom_session::IoTap;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What a file takes at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// Opens a log by its name.
pub(crate) type Opener<'a> = dyn FnMut(&str, Opening) -> Result<Box<dyn LogFile>, OutputError> + 'a;

/// The logs of a run under way.
pub(crate) struct RunLogs {
    set: Arc<Mutex<Option<Sink>>>,
    tap: IoTap,
}

/// [`LogSet`] until it is finished.
struct Sink(LogSet);

struct Tapped {
    set: Arc<Mutex<Option<Sink>>>,
    /// The CPUs that the thread is to be on, until it is.
    cpus: Vec<usize>,
}

impl fathom_core::record::RowSink<fathom_core::record::IoRecord> for Tapped {
    fn rows(&mut self, rows: &[fathom_core::record::IoRecord]) -> io::Result<()> {
        let cpus = std::mem::take(&mut self.cpus);
        if !cpus.is_empty() {
            fathom_sys::process::set_affinity(&cpus)?;
        }
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.as_mut().map_or(Ok(()), |Sink(set)| set.rows(rows))
    }
}

impl RunLogs {
    /// Begins all logs that `plan` asks for; `None`: none. Nothing was touched where one is refused.
    ///
    /// # Errors
    /// A file of that name may not be replaced, or cannot be made.
    pub(crate) fn begin(plan: &Plan, force: bool, allowed: &Allowed) -> anyhow::Result<Option<Self>> {
        Self::begin_with(plan, &mut |name, opening| {
            open(Path::new(name), opening, force, allowed)
        })
    }

    /// The same in whatever files `open` gives.
    ///
    /// # Errors
    /// One could not be opened.
    pub(crate) fn begin_with(plan: &Plan, open: &mut Opener<'_>) -> anyhow::Result<Option<Self>> {
        let jobs = plan.jobs.iter().map(|job| log_job(job, unix_offset_ns()));
        let set = LogSet::open(jobs.collect(), open).map_err(anyhow::Error::from)?;
        let cpus = plan.jobs.iter().flat_map(|job| &job.job.reporting.logs.cpus);
        let cpus = cpus.map(|&cpu| cpu as usize).collect();
        Ok(set.map(|set| {
            let set = Arc::new(Mutex::new(Some(Sink(set))));
            Self {
                tap: IoTap(Arc::new(Mutex::new(Tapped {
                    set: Arc::clone(&set),
                    cpus,
                }))),
                set,
            }
        }))
    }

    /// Who takes the I/Os.
    pub(crate) fn tap(&self) -> IoTap {
        self.tap.clone()
    }

    /// Has `accounts` tell the samples that logs took I/O by I/O, as fio does.
    pub(crate) fn retell(&self, accounts: &mut [WorkerAccount]) {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let samples = set.as_ref().map(|Sink(set)| set.samples()).unwrap_or_default();
        for taken in samples {
            let of =
                |account: &&mut WorkerAccount| (account.job, account.worker) == (taken.job, taken.worker);
            let Some(account) = accounts.iter_mut().find(of) else {
                continue;
            };
            for (at, op) in account.ops.iter_mut().take(3).enumerate() {
                if let Some(bw) = taken.bw {
                    op.bw = bw[at];
                }
                if let Some(iops) = taken.iops {
                    op.iops = iops[at];
                }
            }
        }
    }

    /// The run has ended: all files get their names.
    ///
    /// # Errors
    /// Rows could not be kept.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner).take();
        match set {
            Some(Sink(set)) => set.finish().context("the logs are not complete"),
            None => Ok(()),
        }
    }
}

fn log_job(plan: &fathom_engine::plan::JobPlan, unix_offset_ns: i128) -> LogJob {
    let job = &plan.job;
    let names = |worker: &fathom_engine::plan::WorkerFiles| {
        let names = worker.files.iter().map(|file| file.path.display().to_string());
        names.collect()
    };
    LogJob {
        name: job.name.clone(),
        logs: job.reporting.logs.clone(),
        workers: plan.workers.len() as u32,
        asynchronous: job.is_asynchronous(),
        priority: job.io_priority,
        rate_windows_ms: [job.reporting.bw_window_ms, job.reporting.iops_window_ms],
        files: plan.workers.iter().map(names).collect(),
        clock_offset_ns: match job.reporting.logs.epoch_clock {
            Some(0) => unix_offset_ns,
            // I/Os have the times of that clock; 0 would mean those since the start.
            Some(_) => 1,
            None => 0,
        },
    }
}

/// Civil time less that of the clock which I/Os are stamped by, now.
fn unix_offset_ns() -> i128 {
    i128::from(crate::request::unix_ns()) - i128::from(fathom_sys::clock::monotonic_ns())
}

/// A log that is being written.
struct Log {
    /// `None` only while it is dropped.
    out: Way,
}

enum Way {
    Plain(BufWriter<Output>),
    Compressed(ZlibEncoder<BufWriter<Output>>),
}

/// Opens a log of this machine's.
///
/// # Errors
/// Something of that name may not be replaced, or the file cannot be made.
pub(crate) fn open(
    path: &Path,
    opening: Opening,
    force: bool,
    allowed: &Allowed,
) -> Result<Box<dyn LogFile>, OutputError> {
    let before = opening.append.then(|| earlier(path)).flatten();
    let file = out::create(path, force, allowed, &|head| is_log(opening, head))?;
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, file);
    if let Some(mut before) = before {
        io::copy(&mut before, &mut file).map_err(|source| OutputError::Io {
            path: path.to_path_buf(),
            source,
        })?;
    }
    Ok(Box::new(Log {
        out: if opening.compressed {
            Way::Compressed(ZlibEncoder::new(file, Compression::default()))
        } else {
            Way::Plain(file)
        },
    }))
}

/// What a log has that is to be written on: opened before another takes its name.
fn earlier(path: &Path) -> Option<File> {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| File::open(path).ok()).flatten()
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Way::Plain(out) => out.write(bytes),
            Way::Compressed(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Way::Plain(out) => out.flush(),
            Way::Compressed(out) => out.flush(),
        }
    }
}

impl LogFile for Log {
    fn finish(self: Box<Self>) -> io::Result<()> {
        let file = match self.out {
            Way::Plain(out) => out,
            Way::Compressed(out) => out.finish()?,
        };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.publish().map_err(io::Error::other)
    }
}

/// Whether what a file begins with is how such a log begins.
fn is_log(opening: Opening, head: &[u8]) -> bool {
    let mut rows = [0; 1 << 10];
    let head = if opening.compressed {
        match ZlibDecoder::new(head).read(&mut rows) {
            // A log that nothing came to.
            Ok(0) => return true,
            Ok(read) => &rows[..read],
            Err(_) => return false,
        }
    } else {
        head
    };
    std::str::from_utf8(head).is_ok_and(|head| opening.kind.is_begun_by(head))
}

/// The rows of a compressed log, to `take` as they come.
///
/// # Errors
/// It cannot be read, or is none of fathom's.
pub(crate) fn inflate(path: &Path, mut take: impl FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut rows = ZlibDecoder::new(file);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut first = true;
    loop {
        let read = rows
            .read(&mut buffer)
            .with_context(|| format!("{name} is no compressed log"))?;
        if read == 0 {
            return Ok(());
        }
        let text = std::str::from_utf8(&buffer[..read])
            .ok()
            .filter(|text| !first || text.starts_with(|letter: char| letter.is_ascii_digit()))
            .ok_or_else(|| {
                anyhow!(
                    "{name} is a compressed log, but not one of fathom's: fio's hold its own memory; use fio"
                )
            })?;
        first = false;
        take(text)?;
    }
}

/// Leaves a whole log of samples.
///
/// # Errors
/// Something of that name may not be replaced, or the file cannot be made.
pub(crate) fn leave(path: &Path, rows: &[u8], force: bool, allowed: &Allowed) -> Result<(), OutputError> {
    let opening = Opening {
        append: false,
        compressed: false,
        kind: LogKind::Samples,
    };
    out::leave(path, rows, force, allowed, &|head| is_log(opening, head))
}

/// The names of all logs of a plan.
pub(crate) fn names(plan: &Plan) -> Vec<PathBuf> {
    let jobs = plan.jobs.iter().map(|job| log_job(job, 0)).collect();
    let mut names = Vec::new();
    let note = |name: &str, _: Opening| -> Result<Box<dyn LogFile>, OutputError> {
        names.push(PathBuf::from(name));
        Ok(Box::new(Nothing))
    };
    match LogSet::open(jobs, note) {
        Ok(_) | Err(_) => names,
    }
}

/// A file that is only asked for.
struct Nothing;

impl Write for Nothing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile for Nothing {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
