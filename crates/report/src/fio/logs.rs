//! fio's logs: latencies, bandwidth, IOPS and histograms of each worker, written while it runs.
//!
//! Data in: I/Os as they complete, of all workers. Data out: rows in files that the caller opens. Memory does not grow with
//! the run: a log holds what its window has, not its rows. Columns are those of fio's HOWTO, "Log File Formats":
//! `time_ms, value, [max,] direction, bytes, [offset,] priority[, sent_ns]`. It must not know where files are.

mod hist;
mod iolog;
mod series;

use fathom_core::backend::Op;
use fathom_core::record::{IoRecord, RowSink};
use fathom_core::run::{Latency, Samples};
use fathom_core::workload::{IoPriority, Logs};
use hist::HistLog;
use iolog::IologWriter;
use series::{Measure, Series};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A file that has its name, or its last bytes, only when it is finished.
pub trait LogFile: Write + Send {
    /// Nothing more comes.
    ///
    /// # Errors
    /// It could not be kept.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// How a log is opened: whether behind what it holds, whether its rows are compressed, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    pub append: bool,
    pub compressed: bool,
    pub kind: LogKind,
}

/// What a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// Rows of numbers.
    Samples,
    /// All I/Os, as a load that can be played again.
    Iolog,
}

impl LogKind {
    /// Whether a text begins as such a log does.
    pub fn is_begun_by(self, head: &str) -> bool {
        let first = head.lines().next().unwrap_or_default();
        match self {
            Self::Iolog => ["2", "3"]
                .iter()
                .any(|version| first == format!("fio version {version} iolog")),
            Self::Samples => is_row(first),
        }
    }
}

/// The columns of a row of samples, from fio 2 on; a value's direction comes third, or fourth behind a maximum.
const COLUMNS: std::ops::RangeInclusive<usize> = 4..=8;
/// A histogram has more buckets than that, and its direction second.
const BUCKETS_MIN: usize = 100;

/// Whether a line, which may be cut, is a row of a log of samples.
fn is_row(line: &str) -> bool {
    let columns: Vec<&str> = line.split(", ").collect();
    let is_number = |column: &&str| {
        let digits = column.strip_prefix("0x");
        let all = |text: &str, fits: fn(&u8) -> bool| text.bytes().all(|byte| fits(&byte));
        digits.map_or_else(
            || all(column, u8::is_ascii_digit),
            |digits| all(digits, u8::is_ascii_hexdigit),
        )
    };
    let is_direction = |at: usize| {
        columns
            .get(at)
            .is_some_and(|column| matches!(*column, "0" | "1" | "2"))
    };
    let fits = if COLUMNS.contains(&columns.len()) {
        is_direction(2) || is_direction(3)
    } else {
        columns.len() > BUCKETS_MIN && is_direction(1)
    };
    fits && columns.iter().all(is_number) && !columns[0].is_empty()
}

/// A job section as its logs want it.
#[derive(Debug, Clone)]
pub struct LogJob {
    pub name: String,
    pub logs: Logs,
    pub workers: u32,
    /// Whether submission and completion are apart: only then slat has rows.
    pub asynchronous: bool,
    pub priority: Option<IoPriority>,
    /// The window of bandwidth and of IOPS samples, milliseconds.
    pub rate_windows_ms: [u32; 2],
    /// The names of the files of each worker.
    pub files: Vec<Vec<String>>,
    /// What is added to times that are those of a clock: its time less that of the I/Os, in nanoseconds.
    pub clock_offset_ns: i128,
}

/// Samples of one worker, of reads, writes and trims; `None`: of its windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IoSamples {
    pub job: u32,
    pub worker: u32,
    pub bw: Option<[Samples; 3]>,
    pub iops: Option<[Samples; 3]>,
}

/// The places of files by what they are of: several workers may share one.
type Places = BTreeMap<String, usize>;

/// All logs of a run.
pub struct LogSet {
    jobs: Vec<LogJob>,
    workers: Vec<Vec<Worker>>,
    files: Vec<Box<dyn LogFile>>,
    iologs: Vec<IologWriter>,
    row: Vec<u8>,
    failed: Option<String>,
}

/// What one worker logs.
struct Worker {
    /// When its first I/O was made.
    start_ns: Option<u64>,
    series: Vec<Series>,
    hist: Option<HistLog>,
    /// Which trace it writes to.
    iolog: Option<usize>,
}

/// What is the same in all rows of a worker's logs.
#[derive(Debug, Clone, Copy)]
struct Columns {
    offset: bool,
    issue_time: bool,
    /// As it is written: 0, 1, or a whole priority.
    priority: u32,
    whole_priority: bool,
    /// Between the clock of the rows and that of the I/Os; 0: times are since the start.
    clock_offset_ns: i128,
}

impl Columns {
    /// A priority as it is written.
    fn of_priority(&self, priority: IoPriority) -> u32 {
        if self.whole_priority {
            priority.number().into()
        } else {
            // Only real time is high.
            u32::from(priority.class == 1)
        }
    }
}

impl LogSet {
    /// Opens the logs of all jobs; `None`: there are none.
    ///
    /// # Errors
    /// One could not be opened: what `open` says.
    pub fn open<E>(
        jobs: Vec<LogJob>,
        mut open: impl FnMut(&str, Opening) -> Result<Box<dyn LogFile>, E>,
    ) -> Result<Option<Self>, E> {
        if !jobs.iter().any(|job| job.logs.any()) {
            return Ok(None);
        }
        let mut set = Self {
            jobs: Vec::new(),
            workers: Vec::new(),
            files: Vec::new(),
            iologs: Vec::new(),
            row: Vec::new(),
            failed: None,
        };
        let mut places = Places::new();
        let mut number = 0;
        for job in &jobs {
            let mut workers = Vec::new();
            for at in 0..job.workers {
                number += 1;
                workers.push(set.worker(job, (at, number), &mut places, &mut open)?);
            }
            set.workers.push(workers);
        }
        set.jobs = jobs;
        Ok(Some(set))
    }

    fn worker<E>(
        &mut self,
        job: &LogJob,
        (at, number): (u32, u32),
        places: &mut Places,
        open: &mut impl FnMut(&str, Opening) -> Result<Box<dyn LogFile>, E>,
    ) -> Result<Worker, E> {
        let logs = &job.logs;
        let mut place = |set: &mut Self, prefix: &str, kind: &str| -> Result<usize, E> {
            let prefix = if prefix.is_empty() { &job.name } else { prefix };
            let number = if logs.per_job {
                format!(".{number}")
            } else {
                String::new()
            };
            let end = if logs.compressed { ".fz" } else { "" };
            let opening = Opening {
                append: !logs.per_job,
                compressed: logs.compressed,
                kind: LogKind::Samples,
            };
            set.place(
                &format!("{prefix}_{kind}{number}.log{end}"),
                opening,
                places,
                open,
            )
        };
        let columns = columns(job);
        let mut series = Vec::new();
        let window = |least_ms: Option<u32>| {
            let own = u64::from(logs.window_ms) * 1_000_000;
            // Where samples have a window of their own, a log of them has no longer one.
            least_ms.map_or(own, |least| own.min(u64::from(least) * 1_000_000))
        };
        if let Some(prefix) = &logs.lat {
            for latency in [Latency::Slat, Latency::Clat, Latency::Lat] {
                let file = place(self, prefix, latency.name())?;
                if latency != Latency::Slat || job.asynchronous {
                    let measure = Measure::Latency(latency);
                    series.push(Series::new(file, measure, window(None), logs.value, columns));
                }
            }
        }
        // 500 is the default, which asks for nothing.
        let asked = job.rate_windows_ms.map(|ms| Some(ms).filter(|&ms| ms != 500));
        for (prefix, measure, kind, least) in [
            (&logs.bw, Measure::Bandwidth, "bw", asked[0]),
            (&logs.iops, Measure::Iops, "iops", asked[1]),
        ] {
            if let Some(prefix) = prefix {
                let file = place(self, prefix, kind)?;
                series.push(Series::new(file, measure, window(least), logs.value, columns));
            }
        }
        let hist = match &logs.hist {
            Some(prefix) => {
                let file = place(self, prefix, "clat_hist")?;
                (logs.hist_window_ms > 0).then(|| {
                    HistLog::new(
                        file,
                        logs.hist_window_ms,
                        logs.hist_coarseness,
                        columns.clock_offset_ns,
                    )
                })
            }
            None => None,
        };
        let iolog = match &logs.iolog {
            Some(name) => {
                let opening = Opening {
                    append: false,
                    compressed: false,
                    kind: LogKind::Iolog,
                };
                let before = self.files.len();
                let file = self.place(name, opening, places, open)?;
                if file == before {
                    self.iologs.push(IologWriter::new(file));
                }
                let known = self.iologs.iter().position(|log| log.file() == file);
                if let Some(known) = known {
                    self.iologs[known].add(&job.files[at as usize]);
                }
                known
            }
            None => None,
        };
        Ok(Worker {
            start_ns: None,
            series,
            hist,
            iolog,
        })
    }

    /// The place of the file of this name, which is opened if it is not yet.
    fn place<E>(
        &mut self,
        name: &str,
        opening: Opening,
        places: &mut Places,
        open: &mut impl FnMut(&str, Opening) -> Result<Box<dyn LogFile>, E>,
    ) -> Result<usize, E> {
        if let Some(&place) = places.get(name) {
            return Ok(place);
        }
        self.files.push(open(name, opening)?);
        places.insert(name.to_owned(), self.files.len() - 1);
        Ok(self.files.len() - 1)
    }

    fn take(&mut self, io: &IoRecord) -> io::Result<()> {
        let (section, number) = (io.job as usize, io.worker as usize);
        let Some(worker) = self
            .workers
            .get_mut(section)
            .and_then(|workers| workers.get_mut(number))
        else {
            let (job, worker) = (io.job, io.worker);
            let problem = format!("an I/O of worker {worker} of job {job}, which the run has not");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        };
        let start_ns = *worker.start_ns.get_or_insert(io.created_ns);
        if let Some(log) = worker.iolog {
            self.iologs[log].take(io, &self.jobs[section].files[number]);
        }
        // Syncs and what failed have no row, as in fio.
        let Some(direction) = Op::DATA.iter().position(|&op| op == io.op) else {
            return Ok(());
        };
        if io.errno != 0 {
            return Ok(());
        }
        for series in &mut worker.series {
            series.take(io, direction, start_ns, &mut self.row);
            if !self.row.is_empty() {
                self.files[series.file()].write_all(&self.row)?;
                self.row.clear();
            }
        }
        if let Some(hist) = &mut worker.hist {
            hist.take(io, direction, start_ns, &mut self.row);
            if !self.row.is_empty() {
                self.files[hist.file()].write_all(&self.row)?;
                self.row.clear();
            }
        }
        Ok(())
    }

    /// The samples of rates that were taken I/O by I/O: fio tells these in place of those of its windows where a log of
    /// bandwidth or IOPS has a row for each I/O.
    pub fn samples(&self) -> Vec<IoSamples> {
        let mut all = Vec::new();
        for (job, workers) in self.workers.iter().enumerate() {
            for (number, worker) in workers.iter().enumerate() {
                let of = |measure| worker.series.iter().find_map(|series| series.samples_of(measure));
                all.push(IoSamples {
                    job: job as u32,
                    worker: number as u32,
                    bw: of(Measure::Bandwidth),
                    iops: of(Measure::Iops),
                });
            }
        }
        all
    }

    /// Writes what windows still hold, and ends all files.
    ///
    /// # Errors
    /// One could not be kept; or an earlier row could not.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(failed) = self.failed {
            return Err(io::Error::other(failed));
        }
        for worker in self.workers.iter_mut().flatten() {
            for series in &mut worker.series {
                series.rest(&mut self.row);
                self.files[series.file()].write_all(&self.row)?;
                self.row.clear();
            }
        }
        for log in &mut self.iologs {
            let file = log.file();
            log.finish(&mut self.files[file])?;
        }
        self.files.into_iter().try_for_each(LogFile::finish)
    }
}

fn columns(job: &LogJob) -> Columns {
    let logs = &job.logs;
    let usual = job.priority.unwrap_or(IoPriority { class: 0, level: 0 });
    let mut columns = Columns {
        offset: logs.offset,
        issue_time: logs.issue_time && logs.offset,
        whole_priority: logs.priority,
        priority: 0,
        clock_offset_ns: if logs.epoch_clock.is_some() {
            job.clock_offset_ns
        } else {
            0
        },
    };
    columns.priority = columns.of_priority(usual);
    columns
}

impl RowSink<IoRecord> for LogSet {
    fn rows(&mut self, ios: &[IoRecord]) -> io::Result<()> {
        if self.failed.is_some() {
            return Ok(());
        }
        let mut taken = ios.iter().try_for_each(|io| self.take(io));
        for log in &mut self.iologs {
            let file = log.file();
            taken = taken.and_then(|()| log.write_settled(&mut self.files[file]));
        }
        taken.inspect_err(|error| self.failed = Some(error.to_string()))
    }
}

/// Appends a number; formatting through `fmt` would take most of the time that a row takes.
fn push_number(row: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    row.extend_from_slice(&digits[at..]);
}

/// The time of a row: milliseconds since the worker's start, or of the clock that was asked for.
fn time_ms(at_ns: u64, start_ns: u64, clock_offset_ns: i128) -> u64 {
    if clock_offset_ns == 0 {
        return at_ns.saturating_sub(start_ns) / 1_000_000;
    }
    ((i128::from(at_ns) + clock_offset_ns) / 1_000_000).max(0) as u64
}

#[cfg(test)]
mod tests;
