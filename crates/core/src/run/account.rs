//! What one worker did, with whole distributions: what reports in the formats of others are made from, and what several
//! machines' results are merged of.

use super::{CpuUsage, RunError};
use crate::backend::Op;
use crate::histogram::Histogram;
use crate::units::MonoTime;
use crate::workload::{IoPriority, WrittenSoFar};
use serde::{Deserialize, Serialize};

/// One worker's account of its counted time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkerAccount {
    /// Its job section, in the order of the workload.
    pub job: u32,
    /// Its number within the section.
    pub worker: u32,
    /// The system's number of its thread; 0 in virtual time.
    pub tid: u32,
    /// When counting began: its first I/O, or the end of its ramp; [`MonoTime::NEVER`] where it never began.
    pub start: MonoTime,
    /// When counting ended; of a worker that goes on: now.
    pub end: MonoTime,
    /// When it went from writing to reading back.
    pub read_back_start: Option<MonoTime>,
    /// Read, write, trim, sync.
    pub ops: [OpAccount; 4],
    /// CPU time and what interrupted it.
    pub cpu: CpuUsage,
    pub depths: Depths,
    /// Whether several I/Os could be in flight: only then slat and clat are kept apart.
    pub asynchronous: bool,
    /// Errors, by kind; the first of each with its place.
    pub errors: Vec<RunError>,
    /// Whether it ended because of one.
    pub failed: bool,
    /// The depth that keeps the latency that its job asks for, where one was looked for.
    pub depth_found: Option<u32>,
    /// Zones that it emptied, where its job goes by zones.
    pub zone_resets: u64,
    /// How steady its job's results are, where it ends once they are.
    pub steady: Option<SteadyAccount>,
    /// I/Os by the priorities that they had, where some have their own; else empty.
    pub priorities: Vec<PriorityAccount>,
    /// How far its writes came, where its job verifies them and keeps that.
    pub written: Option<WrittenSoFar>,
}

/// The I/Os of one direction and one priority.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorityAccount {
    pub op: Op,
    /// Class 0: that of a thread without one.
    pub priority: IoPriority,
    /// Submitted to completed.
    pub clat: Histogram,
    /// Created to completed.
    pub lat: Histogram,
}

/// How steady the results of a job are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SteadyAccount {
    /// Whether they became so.
    pub attained: bool,
    /// The slope of a straight line through the samples, in their unit a second; or their largest distance from the mean.
    pub criterion: f64,
    /// The same in percent of the mean.
    pub criterion_percent: f64,
    /// I/Os in each of the last seconds, oldest first.
    pub ios: Vec<u64>,
    /// Bytes in each.
    pub bytes: Vec<u64>,
}

impl WorkerAccount {
    /// Whether it began.
    pub fn began(&self) -> bool {
        self.start != MonoTime::NEVER
    }

    /// Reads, writes and trims.
    pub fn total_ios(&self) -> u64 {
        Op::DATA.iter().map(|op| self.ops[op.index()].ios()).sum()
    }
}

/// One direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpAccount {
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that moved fewer bytes than asked.
    pub short_ios: u64,
    /// Blocks that were sent to it and have not come.
    pub lost_ios: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// Those of the pattern that were not sent, since its job only checks; in none of the other counts.
    pub left_out: LeftOut,
    /// Created to submitted; empty where the engine is synchronous.
    pub slat: Histogram,
    /// Submitted to completed; empty where that is `lat`.
    pub clat: Histogram,
    /// Created to completed.
    pub lat: Histogram,
    /// Bandwidth, KiB a second.
    pub bw: Samples,
    /// I/Os a second.
    pub iops: Samples,
}

impl OpAccount {
    /// I/Os completed without error.
    pub fn ios(&self) -> u64 {
        self.lat.n()
    }
}

/// I/Os of a pattern that were not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LeftOut {
    pub ios: u64,
    pub bytes: u64,
}

/// Samples of a rate: extremes, mean and spread, in memory that does not grow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Samples {
    pub n: u64,
    /// Smallest; 0 where there are none.
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    /// Sum of the squares of the distances from the mean.
    pub squares: f64,
}

impl Samples {
    /// Takes one (Welford's recurrence).
    pub fn record(&mut self, value: u64) {
        self.min = if self.n == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.n += 1;
        let distance = value as f64 - self.mean;
        self.mean += distance / self.n as f64;
        self.squares += distance * (value as f64 - self.mean);
    }

    /// The standard deviation of the sample (n - 1); 0 of fewer than two.
    pub fn deviation(&self) -> f64 {
        if self.n < 2 {
            return 0.0;
        }
        (self.squares / (self.n - 1) as f64).sqrt()
    }

    /// Adds what ran beside it, as fio does for a group: minima, maxima and means are summed, which is no statistic of the
    /// group's own rate.
    pub fn add_parallel(&mut self, other: &Self) {
        self.n += other.n;
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.squares += other.squares;
    }
}

/// How many I/Os were in flight, and how many were sent and taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Depths {
    /// I/Os (syncs among them) by how many were in flight when each was sent: 1, 2 to 3, 4 to 7, … 32 to 63, 64 and more.
    pub level: [u64; 7],
    /// Submissions by how many I/Os each had: 0, 1 to 4, 5 to 8, 9 to 16, 17 to 32, 33 to 64, more.
    pub submit: [u64; 7],
    /// The same of completions that were taken together.
    pub complete: [u64; 7],
}

impl Depths {
    /// Counts an I/O that was sent as the `depth`-th in flight.
    #[inline]
    pub fn sent(&mut self, depth: u32) {
        self.level[(depth.max(1).ilog2() as usize).min(6)] += 1;
    }

    /// The place of a batch of so many.
    #[inline]
    pub fn batch(count: u32) -> usize {
        match count {
            0 => 0,
            1..=4 => 1,
            5..=8 => 2,
            9..=16 => 3,
            17..=32 => 4,
            33..=64 => 5,
            _ => 6,
        }
    }

    /// Of an engine that completes each I/O before it takes the next: so many I/Os.
    pub fn one_by_one(ios: u64) -> Self {
        let mut depths = Self::default();
        depths.level[0] = ios;
        depths.submit[1] = ios;
        depths.complete[1] = ios;
        depths
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.level, &other.level),
            (&mut self.submit, &other.submit),
            (&mut self.complete, &other.complete),
        ] {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += theirs;
            }
        }
    }
}

#[cfg(test)]
mod tests;
