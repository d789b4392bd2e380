//! What is taken from a run: the vocabulary of the column `measure`.
//!
//! ```text
//! DIRECTION.ios | iops | bytes | bandwidth        of read, write or total
//! DIRECTION.LATENCY.mean | min | max | stdev | pN of lat, clat, slat or response; p99.9
//! DIRECTION.LATENCY.share(A..B)                   share of the I/Os above A and up to B milliseconds; either may be left out
//! DIRECTION.LATENCY.count(A..B)                   their number
//! runtime                                         from the first I/O to the last
//! job.min.X | job.max.X                           the least or the most of DIRECTION.bandwidth or runtime over the jobs
//! disk.ios | iops | bytes | bandwidth | io_size   what the disks counted, all together; disk[0].ios: the first alone
//! disk.ticks | latency | in_queue | util          sum of all I/Os' times; its mean; time × I/Os in flight; share of time busy
//! dirty_peak | host_dirty_peak                    the most that was dirty in the guest's page cache, in the host's cache
//! drain                                           from the end of the last job until nothing was dirty
//! held(LIMIT)                                     share of all time in which I/Os were held that is LIMIT's (disk IOPS)
//! seconds.DIRECTION.iops.STATISTIC                over the whole seconds of the run: mean, min, max, stdev or pN
//! seconds.DIRECTION.lat.STATISTIC                 the same of each second's mean latency
//! phase(N).duration | bandwidth | iops            the N-th time (from 1) of I/O between silences of two seconds and more
//! stall                                           the longest such silence
//! outcomes                                        how many outcomes there are
//! ```
//!
//! Before any of these, for several outcomes: `max`, `min`, `mean`, `median`; `ratio` (of the means of two selections);
//! `linearity` (R² of a straight line through the values over the jobs' depths).
//!
//! Data in: text. Data out: a [`Measure`], and what dimension its values are of. It must not know outcomes.

use super::unit::Dimension;
use fathom_core::run::Latency;
use std::str::FromStr;

/// A measure: a quantity of one outcome, or one over several.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// How several outcomes become one number; `None`: there must be one.
    pub fold: Option<Fold>,
    /// What is taken from each.
    pub quantity: Quantity,
    /// As written.
    pub text: String,
}

/// How several outcomes become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The most.
    Max,
    /// The least.
    Min,
    Mean,
    /// The middle one (of two, the mean of them).
    Median,
    /// The mean of the first selection over that of the second.
    Ratio,
    /// R² of the straight line through the values over the depths.
    Linearity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Read,
    /// Writes.
    Write,
    /// Both.
    Total,
}

/// One number out of many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The least.
    Min,
    /// The most.
    Max,
    /// The standard deviation.
    Stdev,
    /// The value that so many percent do not exceed.
    Percentile(f64),
}

/// What a direction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// I/Os.
    Ios,
    /// I/Os a second.
    Iops,
    Bytes,
    /// Bytes a second.
    Bandwidth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskCount {
    /// I/Os, their rate, bytes, their rate.
    Amount(Amount),
    /// The mean size of an I/O.
    IoSize,
    /// The sum of the times of all I/Os.
    Ticks,
    /// The mean time of an I/O.
    Latency,
    /// Time in flight summed over all I/Os.
    InQueue,
    /// The share of time with anything in flight.
    Util,
}

/// What is taken per job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerJob {
    /// Bytes a second.
    Bandwidth(Direction),
    /// From the first I/O to the last.
    Runtime,
}

/// What is taken per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerSecond {
    /// I/Os a second.
    Iops,
    /// The mean latency.
    Lat,
}

/// What is taken of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseCount {
    /// Its length.
    Duration,
    /// Bytes a second.
    Bandwidth,
    /// I/Os a second.
    Iops,
}

/// A quantity of one outcome.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// What a direction did.
    Amount(Direction, Amount),
    Latency(Direction, Latency, Statistic),
    /// The share of I/Os above the first and up to the second number of nanoseconds.
    Share(Direction, Latency, (u64, u64)),
    /// Their number.
    Within(Direction, Latency, (u64, u64)),
    /// From the first I/O to the last.
    Runtime,
    /// The least (or, with `true`, the most) over the jobs.
    PerJob(bool, PerJob),
    /// What all disks, or one, counted.
    Disk(Option<usize>, DiskCount),
    /// The most that was dirty in the page cache.
    DirtyPeak,
    /// The most that was dirty in the host's cache.
    HostDirtyPeak,
    /// From the end until nothing was dirty.
    Drain,
    /// A limit's share of the time in which I/Os were held.
    Held(String),
    /// A statistic over seconds.
    Seconds(Direction, PerSecond, Statistic),
    /// Of the n-th phase, from 1.
    Phase(usize, PhaseCount),
    /// The longest silence.
    Stall,
    Outcomes,
}

/// No such measure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is none of the vocabulary: `{part}` is not understood")]
pub struct MeasureError {
    /// As written.
    pub text: String,
    /// The part that is not understood.
    pub part: String,
}

impl Measure {
    /// What its values are of.
    pub fn dimension(&self) -> Dimension {
        match self.fold {
            Some(Fold::Ratio | Fold::Linearity) => Dimension::Number,
            _ => self.quantity.dimension(),
        }
    }
}

impl Amount {
    fn dimension(self) -> Dimension {
        match self {
            Self::Ios => Dimension::Count,
            Self::Iops => Dimension::IoRate,
            Self::Bytes => Dimension::Size,
            Self::Bandwidth => Dimension::Bandwidth,
        }
    }
}

impl Quantity {
    /// What its values are of.
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Amount(_, amount) | Self::Disk(_, DiskCount::Amount(amount)) => amount.dimension(),
            Self::Share(..) | Self::Held(_) | Self::Disk(_, DiskCount::Util) => Dimension::Share,
            Self::Within(..) | Self::Outcomes => Dimension::Count,
            Self::PerJob(_, PerJob::Bandwidth(_)) | Self::Phase(_, PhaseCount::Bandwidth) => {
                Dimension::Bandwidth
            }
            Self::DirtyPeak | Self::HostDirtyPeak | Self::Disk(_, DiskCount::IoSize) => Dimension::Size,
            Self::Seconds(_, PerSecond::Iops, _) | Self::Phase(_, PhaseCount::Iops) => Dimension::IoRate,
            Self::Latency(..)
            | Self::Runtime
            | Self::PerJob(_, PerJob::Runtime)
            | Self::Disk(_, DiskCount::Ticks | DiskCount::Latency | DiskCount::InQueue)
            | Self::Drain
            | Self::Seconds(_, PerSecond::Lat, _)
            | Self::Phase(_, PhaseCount::Duration)
            | Self::Stall => Dimension::Time,
        }
    }
}

impl FromStr for Measure {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        // A blank within brackets (`held(disk IOPS)`) belongs to a name.
        let (fold, rest) = match text.split_once(' ').filter(|(word, _)| !word.contains('(')) {
            None => (None, text),
            Some((word, rest)) => (Some(fold(word).ok_or_else(|| error(text, word))?), rest),
        };
        let (head, tail) = rest.split_once('.').unwrap_or((rest, ""));
        // A dot within brackets (`share(1.5..3)`) divides nothing: those heads are directions, which have none.
        let quantity = quantity(head, tail).ok_or_else(|| error(text, rest))?;
        Ok(Self {
            fold,
            quantity,
            text: text.to_owned(),
        })
    }
}

fn error(text: &str, part: &str) -> MeasureError {
    MeasureError {
        text: text.to_owned(),
        part: part.to_owned(),
    }
}

fn fold(word: &str) -> Option<Fold> {
    Some(match word {
        "max" => Fold::Max,
        "min" => Fold::Min,
        "mean" => Fold::Mean,
        "median" => Fold::Median,
        "ratio" => Fold::Ratio,
        "linearity" => Fold::Linearity,
        _ => return None,
    })
}

fn quantity(head: &str, tail: &str) -> Option<Quantity> {
    if let Some(direction) = direction(head) {
        return of_direction(direction, tail);
    }
    if let Some(limit) = argument(head, "held").filter(|_| tail.is_empty()) {
        return Some(Quantity::Held(limit.to_owned()));
    }
    if let Some(number) = argument(head, "phase") {
        let number = number.parse().ok().filter(|&number| number > 0)?;
        return Some(Quantity::Phase(number, phase_count(tail)?));
    }
    if let Some(number) = head.strip_prefix("disk[").and_then(|rest| rest.strip_suffix(']')) {
        return Some(Quantity::Disk(Some(number.parse().ok()?), disk_count(tail)?));
    }
    Some(match (head, tail) {
        ("disk", count) => Quantity::Disk(None, disk_count(count)?),
        ("runtime", "") => Quantity::Runtime,
        ("dirty_peak", "") => Quantity::DirtyPeak,
        ("host_dirty_peak", "") => Quantity::HostDirtyPeak,
        ("drain", "") => Quantity::Drain,
        ("stall", "") => Quantity::Stall,
        ("outcomes", "") => Quantity::Outcomes,
        ("job", rest) => per_job(rest)?,
        ("seconds", rest) => per_second(rest)?,
        _ => return None,
    })
}

/// What is in the brackets of `name(…)`.
fn argument<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

fn direction(word: &str) -> Option<Direction> {
    Some(match word {
        "read" => Direction::Read,
        "write" => Direction::Write,
        "total" => Direction::Total,
        _ => return None,
    })
}

fn amount(word: &str) -> Option<Amount> {
    Some(match word {
        "ios" => Amount::Ios,
        "iops" => Amount::Iops,
        "bytes" => Amount::Bytes,
        "bandwidth" => Amount::Bandwidth,
        _ => return None,
    })
}

fn statistic(word: &str) -> Option<Statistic> {
    Some(match word {
        "mean" => Statistic::Mean,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        "stdev" => Statistic::Stdev,
        _ => {
            let percentile: f64 = word.strip_prefix('p')?.parse().ok()?;
            let possible = percentile > 0.0 && percentile <= 100.0;
            Statistic::Percentile(Some(percentile).filter(|_| possible)?)
        }
    })
}

fn of_direction(direction: Direction, rest: &str) -> Option<Quantity> {
    if let Some(amount) = amount(rest) {
        return Some(Quantity::Amount(direction, amount));
    }
    let (latency, rest) = rest.split_once('.')?;
    let latency = Latency::from_name(latency)?;
    if let Some(range) = argument(rest, "share") {
        return Some(Quantity::Share(direction, latency, milliseconds(range)?));
    }
    if let Some(range) = argument(rest, "count") {
        return Some(Quantity::Within(direction, latency, milliseconds(range)?));
    }
    Some(Quantity::Latency(direction, latency, statistic(rest)?))
}

/// `4..10`, `..8` or `25..` in nanoseconds.
fn milliseconds(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once("..")?;
    let number = |text: &str, open: u64| {
        if text.is_empty() {
            return Some(open);
        }
        let number: f64 = text.parse().ok()?;
        (number >= 0.0 && number.is_finite()).then_some((number * 1e6).round() as u64)
    };
    let (from, to) = (number(from, 0)?, number(to, u64::MAX)?);
    (from < to).then_some((from, to))
}

fn disk_count(word: &str) -> Option<DiskCount> {
    if let Some(amount) = amount(word) {
        return Some(DiskCount::Amount(amount));
    }
    Some(match word {
        "io_size" => DiskCount::IoSize,
        "ticks" => DiskCount::Ticks,
        "latency" => DiskCount::Latency,
        "in_queue" => DiskCount::InQueue,
        "util" => DiskCount::Util,
        _ => return None,
    })
}

fn per_job(rest: &str) -> Option<Quantity> {
    let (which, rest) = rest.split_once('.')?;
    let most = match which {
        "min" => false,
        "max" => true,
        _ => return None,
    };
    let what = match rest.split_once('.') {
        None if rest == "runtime" => PerJob::Runtime,
        Some((word, "bandwidth")) => PerJob::Bandwidth(direction(word)?),
        _ => return None,
    };
    Some(Quantity::PerJob(most, what))
}

fn per_second(rest: &str) -> Option<Quantity> {
    let (word, rest) = rest.split_once('.')?;
    let (what, rest) = rest.split_once('.')?;
    let what = match what {
        "iops" => PerSecond::Iops,
        "lat" => PerSecond::Lat,
        _ => return None,
    };
    Some(Quantity::Seconds(direction(word)?, what, statistic(rest)?))
}

fn phase_count(word: &str) -> Option<PhaseCount> {
    Some(match word {
        "duration" => PhaseCount::Duration,
        "bandwidth" => PhaseCount::Bandwidth,
        "iops" => PhaseCount::Iops,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
