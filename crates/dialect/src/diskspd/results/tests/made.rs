//! Made-up results: every figure drawn from a seed.

use crate::diskspd::results::{
    Bucket, CpuPlace, CpuUse, Direction, DiskspdResult, EffectiveRange, Latency, Row, SpanResult, System,
    Totals,
};
use fathom_core::rng::Rng;
use fathom_core::units::WallTime;
use fathom_testkit::make;

/// Latencies of `n` I/Os, with the histogram that a run directory would hold.
pub(super) fn latency(rng: &mut Rng, n: u64) -> Latency {
    let histogram = make::histogram((0..n).map(|_| 50_000 + rng.below(9_000_000)));
    let summary = histogram.summary(&[]);
    Latency {
        n,
        mean_ns: summary.mean,
        stddev_ns: summary.stddev,
        extremes_ns: histogram.min().zip(histogram.max()),
        histogram: histogram.occupied().collect(),
    }
}

fn direction(rng: &mut Rng, seconds: u64) -> Direction {
    // Some directions are idle: their cells say N/A.
    let ios = if rng.below(4) == 0 { 0 } else { 1 + rng.below(900) };
    let bucket = |rng: &mut Rng| Bucket {
        ios: rng.below(900),
        min_ns: 1e3 * rng.below(50) as f64,
        max_ns: 1e6 + 1e3 * rng.below(50_000) as f64,
        mean_ns: 1e5 + rng.below(900_000) as f64,
        stddev_ns: rng.below(500_000) as f64,
    };
    let buckets = if ios == 0 {
        Vec::new()
    } else {
        (0..seconds).map(|_| bucket(rng)).collect()
    };
    Direction {
        ios,
        bytes: ios * 8192,
        latency: latency(rng, ios),
        buckets: Some(buckets),
    }
}

fn merged(lists: &[&Option<Vec<Bucket>>]) -> Vec<Bucket> {
    let mut all: Vec<Bucket> = Vec::new();
    for list in lists.iter().filter_map(|list| list.as_ref()) {
        all.resize(all.len().max(list.len()), Bucket::default());
        for (into, bucket) in all.iter_mut().zip(list) {
            *into = into.and(*bucket);
        }
    }
    all
}

/// A time span of two threads on each of `targets`.
pub(super) fn span(rng: &mut Rng, targets: u32, latency: bool, deviation: bool) -> SpanResult {
    let seconds = 3 + rng.below(4);
    let rows: Vec<Row> = (0..targets * 2)
        .map(|thread| Row {
            thread,
            path: format!("/mnt/data {}.bin", thread / 2),
            file_size_bytes: Some(1 << (20 + thread % 12)),
            read: direction(rng, seconds),
            write: direction(rng, seconds),
            ranges: Vec::new(),
        })
        .collect();
    let fold = |of: fn(&Row) -> &Latency| rows.iter().fold(Latency::default(), |all, row| all.and(of(row)));
    let lists = |of: fn(&Row) -> &Option<Vec<Bucket>>| merged(&rows.iter().map(of).collect::<Vec<_>>());
    let totals = Totals {
        read: fold(|row| &row.read.latency),
        write: fold(|row| &row.write.latency),
        read_buckets: lists(|row| &row.read.buckets),
        write_buckets: lists(|row| &row.write.buckets),
    };
    let cpu = |cpu: u32, rng: &mut Rng| {
        let (user, kernel) = (rng.unit() * 40.0, rng.unit() * 40.0);
        CpuUse {
            cpu,
            user_percent: user,
            kernel_percent: kernel,
            idle_percent: 100.0 - user - kernel,
        }
    };
    SpanResult {
        test_time_ns: seconds * 1_000_000_000 + rng.below(1_000_000_000),
        thread_count: targets * 2,
        request_count: 0,
        measure_latency: latency,
        io_bucket_ms: deviation.then_some(1000),
        cpus: (0..4).map(|number| cpu(number, rng)).collect(),
        rows,
        totals,
    }
}

/// Results of `spans` time spans.
pub(super) fn result(seed: u64, spans: u32) -> DiskspdResult {
    let mut rng = Rng::new(seed);
    let place = |cpu| CpuPlace {
        cpu,
        socket: 0,
        node: 0,
        core: cpu / 2,
    };
    DiskspdResult {
        profile_text: String::from("\nCommand Line: diskspd data\n\nInput parameters:\n\n"),
        profile_xml: String::from("<Profile>\n  <Progress>0</Progress>\n</Profile>\n"),
        verbose_stats: rng.below(2) == 0,
        system: System {
            computer_name: String::from("vm<1>"),
            started: WallTime(1_790_000_000_123_456_789),
            made_by: String::from("made by fathom -- 0.1.0"),
            tool_version: String::from("2.2.0"),
            tool_date: String::from("2024/06/03"),
            processors: 4,
            places: (0..4).map(place).collect(),
            power_scheme: Some(String::from("performance")),
        },
        spans: (0..spans)
            .map(|_| {
                let (targets, latency, deviation) =
                    (1 + rng.below(2) as u32, rng.below(4) > 0, rng.below(4) > 0);
                span(&mut rng, targets, latency, deviation)
            })
            .collect(),
    }
}

/// One range after the other.
pub(super) fn ranges(list: &[(f64, u64, u64)]) -> Vec<EffectiveRange> {
    let range = |&(io_percent, begin, end)| EffectiveRange {
        io_percent,
        stated_percent: io_percent,
        begin,
        end,
    };
    list.iter().map(range).collect()
}
