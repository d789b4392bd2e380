//! What is recorded while a run goes on: a row a second a job and direction, and the histograms at its end.

use super::LatencySummary;
use crate::backend::Op;
use crate::histogram::Histogram;
use crate::units::MonoTime;

/// The percentiles that each row of the series keeps, of `lat` and `response`: few, so that a day of rows stays
/// small; the histograms at the end have them all.
pub const SERIES_PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// One direction of one job section in one interval: a second, unless the run was asked for others.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesRow {
    /// Seconds from the start of the run to that of the interval, whole ones (0: the first second): intervals of less than
    /// a second share theirs, and `end` tells them apart. An interval without I/O has a row of zeros.
    pub second: u32,
    /// The end of the interval on the monotonic clock.
    pub end: MonoTime,
    /// How long the interval was, in nanoseconds: all alike but for those at the ends of what counts, and a job's last one.
    pub duration_ns: u64,
    /// Which job section.
    pub job: u32,
    /// Whether this was outside of the counted time, before the end of the ramp or in the cooldown, and so counts in no
    /// summary.
    pub ramp: bool,
    /// Read, write, trim or sync.
    pub op: Op,
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// Total latency (created to completed), in nanoseconds.
    pub lat: LatencySummary,
    /// Response time from the intended start, in nanoseconds; `n` is 0 in a closed loop.
    pub response: LatencySummary,
    /// I/Os due and not yet sent, at the end of the interval (open loop).
    pub backlog: u64,
    /// Of `ios`, those of earlier seconds, whose rows were written without a worker that had been silent for too
    /// long: `ios - late_ios` are this second's own.
    pub late_ios: u64,
}

/// Which part of the way of an I/O a latency is, as fio defines them; and the whole of it from when it was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Latency {
    /// From its creation to its submission.
    Slat,
    /// From its submission to its completion.
    Clat,
    /// From its creation to its completion.
    Lat,
    /// From when its schedule wanted it to its completion.
    Response,
}

impl Latency {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Slat, Self::Clat, Self::Lat, Self::Response];

    /// As it is called in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slat => "slat",
            Self::Clat => "clat",
            Self::Lat => "lat",
            Self::Response => "response",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|latency| latency.name() == name)
    }
}

/// One bucket of a run's histograms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramRow {
    /// Which job section.
    pub job: u32,
    /// Read, write, trim or sync.
    pub op: Op,
    pub metric: Latency,
    /// Lowest latency that it counts, in nanoseconds.
    pub low_ns: u64,
    /// Highest latency that it counts, in nanoseconds.
    pub high_ns: u64,
    pub count: u64,
}

/// The latencies of one direction of one job section in one interval, all buckets of them: what [`SeriesRow`] has in a few
/// percentiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntervalLatency {
    /// As of the row: whole seconds from the start of the run to that of the interval.
    pub second: u32,
    /// Which job section.
    pub job: u32,
    /// Read, write, trim or sync.
    pub op: Op,
    /// Created to completed, in nanoseconds.
    pub lat: Histogram,
    /// Intended to completed, in nanoseconds; empty in a closed loop.
    pub response: Histogram,
}

/// Takes the rows as they are made. Called from outside the measured threads.
pub trait SeriesSink {
    /// Takes the rows of one second, of all jobs that ran in it.
    ///
    /// # Errors
    /// They could not be kept; the run goes on and the error is reported at its end.
    fn rows(&mut self, rows: &[SeriesRow]) -> std::io::Result<()>;
}

impl SeriesSink for Vec<SeriesRow> {
    fn rows(&mut self, rows: &[SeriesRow]) -> std::io::Result<()> {
        self.extend_from_slice(rows);
        Ok(())
    }
}
