//! A run as the results of a time span.
//!
//! Data in: which job fills which row, the run, its series, its histograms. Data out: a [`SpanResult`]. It must not know
//! layouts. Every number comes from the run directory, but those of the processors.

use super::cpu::CpuUse;
use super::input::{Bucket, Direction, Row, SpanResult, Totals};
use super::latency::{Latency, merged};
use super::ranges::{EffectiveRange, effective};
use crate::diskspd::command_line::INTERVAL_MS_MAX;
use crate::diskspd::lower::RowSource;
use crate::diskspd::profile::TimeSpan;
use fathom_core::backend::Op;
use fathom_core::run::{
    FileCount, FileInterval, HistogramRow, Latency as Kind, LatencySummary, OpSummary, Run, SeriesRow,
};
use fathom_core::workload::{Amount, Job};

/// What all rows are taken from.
struct Source<'a> {
    span: &'a TimeSpan,
    run: &'a Run,
    series: &'a [SeriesRow],
    histograms: &'a [HistogramRow],
}

/// Fills the results of one time span. `cpus`: what the processors did meanwhile; empty: not known.
pub fn span_result(
    span: &TimeSpan,
    rows: &[RowSource],
    run: &Run,
    series: &[SeriesRow],
    histograms: &[HistogramRow],
    cpus: Vec<CpuUse>,
) -> SpanResult {
    let source = Source {
        span,
        run,
        series,
        histograms,
    };
    let jobs = &run.summary.jobs;
    let threads: u32 = match span.thread_count {
        0 => rows.len() as u32,
        count => count,
    };
    SpanResult {
        test_time_ns: jobs.iter().map(|job| job.runtime_ns).max().unwrap_or(0),
        thread_count: threads,
        request_count: if span.is_pool() { span.request_count } else { 0 },
        measure_latency: span.measure_latency,
        io_bucket_ms: span.interval_ms(),
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
        let mut histogram: Vec<(u64, u64, u64)> = self
            .histograms
            .iter()
            .filter(|row| row.job == job && row.op == op && row.metric == Kind::Lat && row.count > 0)
            .map(|row| (row.low_ns, row.high_ns, row.count))
            .collect();
        histogram.sort_unstable();
        latency(&summary.lat_ns, histogram)
    }

    /// The counted rows of the series, several to an interval where it is longer. As in diskspd, intervals end with the last
    /// one that has an I/O, and those beyond the duration do not count.
    fn buckets(&self, job: u32, op: Op) -> Vec<Bucket> {
        let Some(ms) = self.span.interval_ms() else {
            return Vec::new();
        };
        let interval_ns = u64::from(ms.max(1)) * 1_000_000;
        let valid = (u64::from(self.span.duration_s) * 1_000_000_000 / interval_ns) as usize;
        let counted_from = self.run.started_monotonic_ns.0 + u64::from(self.span.warmup_s) * 1_000_000_000;
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
            latency: latency(&count.lat_ns, count.lat_buckets.clone()),
            buckets: Some(self.file_buckets(count)),
        }
    }

    /// The intervals of a file, several to one where those of the run are shorter.
    fn file_buckets(&self, count: &FileCount) -> Vec<Bucket> {
        let Some(ms) = self.span.interval_ms() else {
            return Vec::new();
        };
        let valid = u64::from(self.span.duration_s) * 1000 / u64::from(ms.max(1));
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

fn latency(summary: &LatencySummary, histogram: Vec<(u64, u64, u64)>) -> Latency {
    Latency {
        n: summary.n,
        mean_ns: summary.mean,
        stddev_ns: summary.stddev,
        extremes_ns: (summary.n > 0).then_some((summary.min, summary.max)),
        histogram,
    }
}

fn bytes(amount: Option<Amount>) -> Option<u64> {
    match amount {
        Some(Amount::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}
