//! A run as the results of a time span.
//!
//! Data in: which job fills which row, the run, its series, its histograms. Data out: a [`SpanResult`]. It must not know
//! layouts. Every number comes from the run directory, but those of the processors.

use super::cpu::CpuUse;
use super::input::{Bucket, Direction, Row, SpanResult, Totals};
use super::latency::{Latency, merged};
use super::ranges::{EffectiveRange, effective};
use fathom_core::backend::Op;
use fathom_core::run::{
    FileCount, FileInterval, HistogramRow, Latency as Kind, LatencySummary, OpSummary, Run, SeriesRow,
};
use fathom_core::workload::{Amount, Job};

/// The longest interval that a run keeps as one; longer ones are put together from seconds.
const INTERVAL_MS_MAX: u32 = 60_000;

/// What the profile says of a time span, as far as its results depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpanSettings {
    /// Seconds before the measurement.
    pub warmup_s: u32,
    /// Seconds of the measurement.
    pub duration_s: u32,
    /// `-F`; 0: each target has its own threads.
    pub thread_count: u32,
    /// `-O`, with `-F`; 0: each target has its own depth.
    pub request_count: u32,
    /// `-L`.
    pub measure_latency: bool,
    /// `-D`: the interval, milliseconds; a multiple of the series' own.
    pub io_bucket_ms: Option<u32>,
}

/// Where a row comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSource {
    /// The thread, from 0.
    pub thread: u32,
    /// Which job of the workload.
    pub job: u32,
    /// Which of its files; `None`: its only one.
    pub file: Option<u32>,
    /// The target, as named.
    pub path: String,
    /// The size that was asked for (`-c`): what is told, however long the file is already.
    pub file_size_bytes: Option<u64>,
}

/// What all rows are taken from.
struct Source<'a> {
    settings: &'a SpanSettings,
    run: &'a Run,
    series: &'a [SeriesRow],
    histograms: &'a [HistogramRow],
}

/// Fills the results of one time span. `cpus`: what the processors did meanwhile; empty: not known.
pub fn span_result(
    settings: &SpanSettings,
    rows: &[RowSource],
    run: &Run,
    series: &[SeriesRow],
    histograms: &[HistogramRow],
    cpus: Vec<CpuUse>,
) -> SpanResult {
    let source = Source {
        settings,
        run,
        series,
        histograms,
    };
    let jobs = &run.summary.jobs;
    let threads: u32 = match settings.thread_count {
        0 => rows.len() as u32,
        count => count,
    };
    SpanResult {
        test_time_ns: jobs.iter().map(|job| job.runtime_ns).max().unwrap_or(0),
        thread_count: threads,
        request_count: if settings.thread_count > 0 {
            settings.request_count
        } else {
            0
        },
        measure_latency: settings.measure_latency,
        io_bucket_ms: settings.io_bucket_ms,
        cpus,
        rows: rows.iter().map(|row| source.row(row)).collect(),
        totals: source.totals(),
    }
}

impl Source<'_> {
    fn row(&self, row: &RowSource) -> Row {
        let summary = self.run.summary.jobs.get(row.job as usize);
        let file = row.file.and_then(|file| summary?.files.get(file as usize));
        let direction = |op: Op| match (row.file, summary) {
            (Some(_), _) => {
                file.map(|file| self.of_file(if op == Op::Read { &file.read } else { &file.write }))
            }
            (None, Some(summary)) => Some(self.direction(row.job, op, summary.op(op))),
            (None, None) => None,
        };
        let sizes = &self.run.summary.target.files;
        let size = sizes
            .iter()
            .find(|file| file.path == row.path)
            .map(|file| file.size_bytes);
        Row {
            thread: row.thread,
            path: row.path.clone(),
            file_size_bytes: row.file_size_bytes.or(size),
            read: direction(Op::Read).unwrap_or_default(),
            write: direction(Op::Write).unwrap_or_default(),
            ranges: self.ranges(row.job, size),
        }
    }

    fn direction(&self, job: u32, op: Op, summary: &OpSummary) -> Direction {
        Direction {
            ios: summary.ios,
            bytes: summary.bytes,
            latency: self.latency(job, op, summary),
            buckets: Some(self.buckets(job, op)),
        }
    }

    /// From making an I/O to its completion.
    fn latency(&self, job: u32, op: Op, summary: &OpSummary) -> Latency {
        let lat: &LatencySummary = &summary.lat_ns;
        let mut histogram: Vec<(u64, u64, u64)> = self
            .histograms
            .iter()
            .filter(|row| row.job == job && row.op == op && row.metric == Kind::Lat && row.count > 0)
            .map(|row| (row.low_ns, row.high_ns, row.count))
            .collect();
        histogram.sort_unstable();
        Latency {
            n: lat.n,
            mean_ns: lat.mean,
            stddev_ns: lat.stddev,
            extremes_ns: (lat.n > 0).then_some((lat.min, lat.max)),
            histogram,
        }
    }

    /// The counted rows of the series, several to an interval where it is longer. As in diskspd, intervals end with the last
    /// one that has an I/O, and those beyond the duration do not count.
    fn buckets(&self, job: u32, op: Op) -> Vec<Bucket> {
        let Some(ms) = self.settings.io_bucket_ms else {
            return Vec::new();
        };
        let interval_ns = u64::from(ms.max(1)) * 1_000_000;
        let valid = (u64::from(self.settings.duration_s) * 1_000_000_000 / interval_ns) as usize;
        let counted_from =
            self.run.started_monotonic_ns.0 + u64::from(self.settings.warmup_s) * 1_000_000_000;
        let mut buckets: Vec<Bucket> = Vec::new();
        let own = |row: &&SeriesRow| row.job == job && row.op == op && !row.ramp && row.ios > 0;
        for row in self.series.iter().filter(own) {
            // By its middle: its ends are a little off where a thread began a little late.
            let middle = row.end.0.saturating_sub(row.duration_ns / 2);
            let index = (middle.saturating_sub(counted_from) / interval_ns) as usize;
            if index >= valid {
                continue;
            }
            if buckets.len() <= index {
                buckets.resize(index + 1, Bucket::default());
            }
            buckets[index] = buckets[index].and(Bucket {
                ios: row.ios,
                min_ns: row.lat.min as f64,
                max_ns: row.lat.max as f64,
                mean_ns: row.lat.mean,
                stddev_ns: row.lat.stddev,
            });
        }
        buckets
    }

    /// A file of a pool's thread.
    fn of_file(&self, count: &FileCount) -> Direction {
        Direction {
            ios: count.ios,
            bytes: count.bytes,
            latency: Latency {
                n: count.lat_ns.n,
                mean_ns: count.lat_ns.mean,
                stddev_ns: count.lat_ns.stddev,
                extremes_ns: (count.lat_ns.n > 0).then_some((count.lat_ns.min, count.lat_ns.max)),
                histogram: count.lat_buckets.clone(),
            },
            buckets: Some(self.file_buckets(count)),
        }
    }

    /// The intervals of a file, several to one where those of the run are shorter.
    fn file_buckets(&self, count: &FileCount) -> Vec<Bucket> {
        let Some(ms) = self.settings.io_bucket_ms else {
            return Vec::new();
        };
        let valid = u64::from(self.settings.duration_s) * 1000 / u64::from(ms.max(1));
        let each = match ms {
            ms if ms > INTERVAL_MS_MAX => ms / 1000,
            _ => 1,
        };
        let buckets = count.intervals.chunks(each as usize).take(valid as usize);
        let bucket = |interval: &FileInterval| Bucket {
            ios: interval.ios,
            min_ns: interval.lat_ns_min as f64,
            max_ns: interval.lat_ns_max as f64,
            mean_ns: interval.lat_ns_mean,
            stddev_ns: interval.lat_ns_stddev,
        };
        buckets
            .map(|intervals| intervals.iter().map(bucket).fold(Bucket::default(), Bucket::and))
            .collect()
    }

    /// Each job once.
    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for (job, summary) in (0..).zip(&self.run.summary.jobs) {
            totals.read = totals.read.and(&self.latency(job, Op::Read, &summary.read));
            totals.write = totals.write.and(&self.latency(job, Op::Write, &summary.write));
            totals.read_buckets = merged(&totals.read_buckets, &self.buckets(job, Op::Read));
            totals.write_buckets = merged(&totals.write_buckets, &self.buckets(job, Op::Write));
        }
        totals
    }

    fn ranges(&self, job: u32, file_size: Option<u64>) -> Vec<EffectiveRange> {
        let Some(job) = self.run.workload.jobs.get(job as usize) else {
            return Vec::new();
        };
        let begin = bytes(job.region.offset).unwrap_or(0);
        let files = job.files.names.len().max(1) as u64;
        let region = match bytes(job.region.size) {
            Some(size) => size / files,
            None => file_size.unwrap_or(0).saturating_sub(begin),
        };
        let op = job.used_ops().next().unwrap_or(0);
        let align = Job::block_align_bytes(job, op);
        effective(
            &job.pattern.distribution[op],
            region,
            job.min_block_bytes(),
            align,
        )
    }
}

fn bytes(amount: Option<Amount>) -> Option<u64> {
    match amount {
        Some(Amount::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}
