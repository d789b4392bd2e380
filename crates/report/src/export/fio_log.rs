//! I/Os as fio's latency logs, for the tools that read those.
//!
//! Data in: I/Os of the load. Data out: what fio writes with `write_lat_log` and `log_offset=1`: a file a worker and kind
//! of latency, a line an I/O: `time_ms, value_ns, direction, blocksize, offset, priority`. Syncs and I/Os that failed
//! have no line, as in fio. Logs of bandwidth and IOPS (`_bw`, `_iops`) are not made: fio derives each of their lines from one
//! I/O, whose size and time are here already. It must not know where the files are.

use fathom_core::backend::Op;
use fathom_core::record::IoRecord;
use fathom_core::run::Latency;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The latencies that fio logs; slat only for asynchronous engines.
const LOGGED: [Latency; 3] = [Latency::Lat, Latency::Clat, Latency::Slat];

/// A job section as the logs want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedJob {
    /// How many workers it has (`numjobs`): fio numbers its files through all sections.
    pub workers: u32,
    /// When it began: the time 0 of its logs.
    pub start_ns: u64,
    /// Whether its engine is asynchronous: only then it has a log of `slat`.
    pub asynchronous: bool,
}

/// Writes the logs of a run. `open` is given the name of each file, `PREFIX_clat.1.log`, when it has its first line.
pub struct FioLogs<F> {
    prefix: String,
    jobs: Vec<LoggedJob>,
    open: F,
    files: BTreeMap<(u32, Latency), Box<dyn Write>>,
}

impl<F: FnMut(&str) -> io::Result<Box<dyn Write>>> FioLogs<F> {
    /// For the sections of a run, in the order of its workload.
    pub fn new(prefix: &str, jobs: Vec<LoggedJob>, open: F) -> Self {
        Self {
            prefix: String::from(prefix),
            jobs,
            open,
            files: BTreeMap::new(),
        }
    }

    /// Writes the lines of I/Os.
    ///
    /// # Errors
    /// A file could not be made or written; or an I/O is of a section that the run has not.
    pub fn rows(&mut self, ios: &[IoRecord]) -> io::Result<()> {
        for io in ios.iter().filter(|io| io.errno == 0) {
            let Some(direction) = Op::DATA.iter().position(|&op| op == io.op) else {
                continue;
            };
            let (job, number) = self.number(io)?;
            let time_ms = io.completed_ns.saturating_sub(job.start_ns) / 1_000_000;
            for latency in LOGGED {
                if latency == Latency::Slat && !job.asynchronous {
                    continue;
                }
                let value = match latency {
                    Latency::Slat => io.submitted_ns.saturating_sub(io.created_ns),
                    Latency::Clat => io.completed_ns.saturating_sub(io.submitted_ns),
                    Latency::Lat | Latency::Response => io.lat_ns(),
                };
                let (length, offset) = (io.len_bytes, io.offset_bytes);
                let file = self.file(number, latency)?;
                writeln!(file, "{time_ms}, {value}, {direction}, {length}, {offset}, 0")?;
            }
        }
        Ok(())
    }

    /// Writes out what the files still hold; their number.
    ///
    /// # Errors
    /// One could not be written.
    pub fn finish(mut self) -> io::Result<usize> {
        for file in self.files.values_mut() {
            file.flush()?;
        }
        Ok(self.files.len())
    }

    /// The section of an I/O, and its worker's number through all sections, from 1.
    fn number(&self, io: &IoRecord) -> io::Result<(LoggedJob, u32)> {
        let job = usize::try_from(io.job).ok().and_then(|job| self.jobs.get(job));
        let job = job
            .copied()
            .filter(|job| io.worker < job.workers)
            .ok_or_else(|| {
                let (job, worker) = (io.job, io.worker);
                let problem =
                    format!("the record has an I/O of worker {worker} of job {job}, the run has none such");
                io::Error::new(io::ErrorKind::InvalidData, problem)
            })?;
        let before: u32 = self.jobs[..io.job as usize].iter().map(|job| job.workers).sum();
        Ok((job, before + io.worker + 1))
    }

    fn file(&mut self, number: u32, latency: Latency) -> io::Result<&mut Box<dyn Write>> {
        match self.files.entry((number, latency)) {
            std::collections::btree_map::Entry::Occupied(file) => Ok(file.into_mut()),
            std::collections::btree_map::Entry::Vacant(place) => {
                let name = format!("{}_{}.{number}.log", self.prefix, latency.name());
                Ok(place.insert((self.open)(&name)?))
            }
        }
    }
}

#[cfg(test)]
mod tests;
