//! A sweep as planned and as measured: the same load at every point of a matrix of orders, mixes, sizes and depths.
//!
//! Data in: what a dialect read, what the runs of the points gave. Data out: plain data that the sweep's directory stores as
//! `sweep.json` (the plan) and `results.json` (what came out), and that conclusions and reports are made from. It must not
//! know how points are carried out, stored or printed.

use crate::run::{Build, Environment, LatencySummary, Status, Target};
use crate::units::WallTime;
use serde::{Deserialize, Serialize};

/// The schema of `sweep.json` and `results.json`, raised when a field changes its meaning or goes away.
pub const SCHEMA: &str = "fathom.sweep/1";

/// What is to be measured: the contents of `sweep.json`, written before the first point and never changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// [`SCHEMA`].
    pub schema: String,
    /// The program that planned it.
    pub build: Build,
    /// Its command line, word by word.
    pub command: Vec<String>,
    /// What it is called: the name of its file, or `sweep`.
    pub name: String,
    /// A line or two about it, as written.
    pub about: String,
    /// Civil time when it was begun.
    pub started_unix_ns: WallTime,
    /// What it is aimed at; as it was before the first point.
    pub target: Target,
    /// The machine, before the first point.
    pub environment: Environment,
    /// The values of the matrix.
    pub axes: Axes,
    /// How long each point takes.
    pub timing: Timing,
    /// How often each point is measured; at least 1.
    pub repeats: u32,
    pub order: PointOrder,
    /// Seed of the shuffled order and of each point's own randomness.
    pub seed: u64,
    /// Whether the whole region is written before the first point.
    pub precondition: bool,
    /// When a point may end before its time.
    pub steady: Option<SteadyRule>,
    /// Whether points that follow from those already measured are skipped.
    pub adaptive: bool,
    /// What all points share: options of a job and their values, as typed.
    pub options: Vec<(String, Option<String>)>,
    /// Every point, in the matrix's own order: order of access, mix, size, depth, threads, the last one fastest. A point's
    /// number is its place in here.
    pub points: Vec<Coordinates>,
}

/// The values that each coordinate takes, ascending or as given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Axes {
    /// `true`: random offsets.
    pub random: Vec<bool>,
    /// Share of reads, in percent.
    pub read_percent: Vec<u8>,
    pub block_size_bytes: Vec<u64>,
    /// In flight a thread.
    pub iodepth: Vec<u32>,
    pub threads: Vec<u32>,
}

impl Axes {
    /// Every point of the matrix: access, mix, size, depth, threads, the last one fastest.
    pub fn points(&self) -> Vec<Coordinates> {
        let mut points = Vec::new();
        for &random in &self.random {
            for &read_percent in &self.read_percent {
                for &block_size_bytes in &self.block_size_bytes {
                    for &iodepth in &self.iodepth {
                        points.extend(self.threads.iter().map(|&threads| Coordinates {
                            random,
                            read_percent,
                            block_size_bytes,
                            iodepth,
                            threads,
                        }));
                    }
                }
            }
        }
        points
    }
    /// How many that are, without making them; `usize::MAX` where they are more.
    pub fn count(&self) -> usize {
        [
            self.random.len(),
            self.read_percent.len(),
            self.block_size_bytes.len(),
            self.iodepth.len(),
            self.threads.len(),
        ]
        .into_iter()
        .fold(1, usize::saturating_mul)
    }
}

/// The percentiles of latency that a point keeps, where there are I/Os enough to decide them.
pub const POINT_PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// One point of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Coordinates {
    /// Random offsets, or ascending ones.
    pub random: bool,
    /// Share of reads, in percent; the others are writes.
    pub read_percent: u8,
    pub block_size_bytes: u64,
    /// In flight a thread.
    pub iodepth: u32,
    pub threads: u32,
}

impl Coordinates {
    /// In flight over all threads.
    pub const fn total_depth(&self) -> u64 {
        self.iodepth as u64 * self.threads as u64
    }
    /// A short name, part of a file name: `rand-r080-64k-q16-t2`. Sorts by access, mix; sizes in KiB or bytes.
    pub fn name(&self) -> String {
        let order = if self.random { "rand" } else { "seq" };
        format!(
            "{order}-r{:03}-{}-q{:02}-t{}",
            self.read_percent,
            size_name(self.block_size_bytes),
            self.iodepth,
            self.threads
        )
    }
}

/// A size as part of a name: `64k`, `1m`, `512b`.
fn size_name(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{}m", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{}k", bytes >> 10),
        bytes => format!("{bytes}b"),
    }
}

/// How long each point takes, in the order in which the parts come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Timing {
    /// Nothing is done: what the disk saved up or owed by the last point is settled.
    pub idle_ns: u64,
    /// The load is on and not counted.
    pub warmup_ns: u64,
    /// The load is on and counted.
    pub duration_ns: u64,
    /// The load stays on and is not counted any more.
    pub cooldown_ns: u64,
}

impl Timing {
    /// All of it, in nanoseconds.
    pub const fn total_ns(&self) -> u64 {
        self.idle_ns + self.warmup_ns + self.duration_ns + self.cooldown_ns
    }
}

/// In which order points are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointOrder {
    /// As the matrix has them; repeats of a point follow each other only after a whole pass.
    #[default]
    AsGiven,
    /// By chance, each pass anew: a drift of the disk does not pass for an effect of a coordinate.
    Shuffled,
}

/// When a point may end before its time: the mean of IOPS over the seconds measured is known well enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// Half the width of the 95 % confidence interval of the mean IOPS, as a share of that mean.
    pub half_width: f64,
    /// Not before so many counted seconds.
    pub least_seconds: u32,
}

/// What came out: the contents of `results.json`. Nothing in it depends on the time of day or on the place of the
/// directory: on a modelled disk, equal plans give equal files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepResults {
    /// [`SCHEMA`].
    pub schema: String,
    /// How it ended, or that it is still under way.
    pub status: Status,
    /// Each point, under its number.
    pub points: Vec<PointResult>,
    /// A load beside the matrix, where one was needed and measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeResult>,
}

/// A load beside the matrix: two block sizes mixed. Where IOPS are what limits it, it tells as how many I/Os a large one counts,
/// which points of one size cannot tell where bytes hold all large ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// A point of the matrix, whose order, mix, depth and threads it has; its block size is the smaller one.
    pub at: Coordinates,
    /// The larger size.
    pub large_bytes: u64,
    /// The share of I/Os that have it, in percent; 1 to 99.
    pub large_percent: u8,
}

impl Probe {
    /// A short name, part of a file name: `probe-rand-r100-4k-q32-t2-1m08`.
    pub fn name(&self) -> String {
        format!(
            "probe-{}-{}{:02}",
            self.at.name(),
            size_name(self.large_bytes),
            self.large_percent
        )
    }
}

/// A probe and what came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// The load.
    pub probe: Probe,
    /// Its measurement.
    pub figures: PointFigures,
}

/// One point and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    pub coordinates: Coordinates,
    /// What came out.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What is known of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Nothing yet.
    Pending,
    /// Measured, once or more.
    Measured { repeats: Vec<PointFigures> },
    /// Not measured: it follows from others.
    Inferred(Inferred),
    /// It could not be measured.
    Failed {
        /// Why.
        message: String,
    },
}

/// What follows for a point that was not measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inferred {
    /// I/Os a second.
    pub iops: f64,
    pub bytes_per_second: f64,
    /// Mean latency, in nanoseconds (Little's law: total depth over IOPS).
    pub lat_ns_mean: f64,
    /// Why, in words.
    pub because: String,
    /// The numbers of the points that it follows from.
    pub from: Vec<u32>,
}

/// One measurement of a point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PointFigures {
    /// The run's directory, below the sweep's.
    pub run: String,
    /// Counted time.
    pub runtime_ns: u64,
    pub read: DirectionFigures,
    /// Writes.
    pub write: DirectionFigures,
    /// Both.
    pub total: DirectionFigures,
    /// Where the latencies of both lie: buckets that hold any, ascending, [`LATENCY_BUCKETS_AN_OCTAVE`] of equal width an
    /// octave. Fine enough to tell modes apart, small enough for a few hundred points.
    #[serde(default)]
    pub lat_buckets: Vec<LatencyBucket>,
    /// Half the width of the 95 % confidence interval of the mean IOPS, as a share of the mean; `None`: too few seconds to
    /// say.
    pub iops_half_width: Option<f64>,
    /// Whether it ended because that interval was narrow enough.
    pub ended_steady: bool,
    /// I/Os that failed.
    pub errors: u64,
    /// What its run warned of, in words.
    pub warnings: Vec<String>,
}

/// Buckets an octave of [`PointFigures::lat_buckets`]: each is at most 1/16 of its values wide.
pub const LATENCY_BUCKETS_AN_OCTAVE: u32 = 16;

/// Latencies of about the same length. Stored as `[low_ns, high_ns, count]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct LatencyBucket {
    /// The shortest that it may count, in nanoseconds.
    pub low_ns: u64,
    /// The longest that it may count, in nanoseconds.
    pub high_ns: u64,
    pub count: u64,
}

impl From<(u64, u64, u64)> for LatencyBucket {
    fn from((low_ns, high_ns, count): (u64, u64, u64)) -> Self {
        Self {
            low_ns,
            high_ns,
            count,
        }
    }
}

impl From<LatencyBucket> for (u64, u64, u64) {
    fn from(bucket: LatencyBucket) -> Self {
        (bucket.low_ns, bucket.high_ns, bucket.count)
    }
}

/// One direction of a point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DirectionFigures {
    /// I/Os.
    pub ios: u64,
    pub bytes: u64,
    /// I/Os a second.
    pub iops: f64,
    pub bytes_per_second: f64,
    /// Total latency, in nanoseconds; percentiles 50, 90, 95, 99, 99.9, 99.99 where there are that many I/Os.
    pub lat_ns: LatencySummary,
}

/// The mean of a figure over the repeats that have it.
pub fn mean_of(repeats: &[PointFigures], of: impl Fn(&PointFigures) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = repeats.iter().filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

impl DirectionFigures {
    /// A percentile of the latency, in nanoseconds; `None` where there was no I/O, or it is not kept.
    pub fn lat_ns_percentile(&self, percentile: f64) -> Option<f64> {
        let kept = self.lat_ns.percentile(percentile);
        kept.filter(|_| self.lat_ns.n > 0).map(|ns| ns as f64)
    }
}

impl PointResult {
    /// Total IOPS: the mean over the repeats, or as inferred; `None` where nothing is known.
    pub fn iops(&self) -> Option<f64> {
        self.mean(|figures| figures.total.iops, |inferred| inferred.iops)
    }
    /// Total bytes a second, likewise.
    pub fn bytes_per_second(&self) -> Option<f64> {
        self.mean(
            |figures| figures.total.bytes_per_second,
            |inferred| inferred.bytes_per_second,
        )
    }
    /// Mean latency of all I/Os, in nanoseconds, likewise.
    pub fn lat_ns_mean(&self) -> Option<f64> {
        self.mean(
            |figures| figures.total.lat_ns.mean,
            |inferred| inferred.lat_ns_mean,
        )
    }
    /// A percentile of the latency of all I/Os, in nanoseconds: the mean over the repeats that did any. Nothing is inferred of
    /// it; `None` too for one that is not kept.
    pub fn lat_ns_percentile(&self, percentile: f64) -> Option<f64> {
        mean_of(self.repeats(), |figures| {
            figures.total.lat_ns_percentile(percentile)
        })
    }
    /// Its measurements; empty where there are none.
    pub fn repeats(&self) -> &[PointFigures] {
        match &self.outcome {
            Outcome::Measured { repeats } => repeats,
            _ => &[],
        }
    }
    /// The mean over the repeats of a figure, or what was inferred for it.
    fn mean(
        &self,
        measured: impl Fn(&PointFigures) -> f64,
        inferred: impl Fn(&Inferred) -> f64,
    ) -> Option<f64> {
        match &self.outcome {
            Outcome::Measured { repeats } if !repeats.is_empty() => {
                Some(repeats.iter().map(measured).sum::<f64>() / repeats.len() as f64)
            }
            Outcome::Inferred(found) => Some(inferred(found)),
            _ => None,
        }
    }
}
