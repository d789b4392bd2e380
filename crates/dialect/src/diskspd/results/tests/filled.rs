//! Results filled from a run, its series and its histograms.

use super::fixtures;
use crate::diskspd::results::{CpuUse, DiskspdResult, SpanResult, System, span_result, text, xml};
use crate::diskspd::{RowSource, TimeSpan};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::run::{
    FileCount, FileInterval, FileSummary, HistogramRow, JobSummary, Latency, LatencySummary, Run, SeriesRow,
};
use fathom_core::workload::{Amount, Distribution, Mix, Zone, ZoneSize};
use fathom_testkit::make;

fn settings() -> TimeSpan {
    TimeSpan {
        warmup_s: 2,
        duration_s: 4,
        measure_latency: true,
        iops_std_dev: true,
        ..TimeSpan::default()
    }
}

fn source(thread: u32, job: u32, file: Option<u32>) -> RowSource {
    RowSource {
        thread,
        job,
        file,
        path: String::from("data.bin"),
        file_size_bytes: None,
    }
}

fn second(second: u32, job: u32, op: Op, ios: u64) -> SeriesRow {
    SeriesRow {
        job,
        ramp: second < 2,
        op,
        ios,
        bytes: ios * 8192,
        lat: LatencySummary {
            n: ios,
            min: 1_000_000,
            mean: 2_000_000.0,
            stddev: 500_000.0,
            max: 3_000_000,
            percentiles: Vec::new(),
        },
        ..make::second(second)
    }
}

/// Two jobs of reads and writes, with histograms as a run directory holds them.
fn two_threads() -> (Run, Vec<SeriesRow>, Vec<HistogramRow>) {
    let mut rng = Rng::new(11);
    let mut jobs = Vec::new();
    let mut results = Vec::new();
    let mut histograms = Vec::new();
    for job in 0..2u32 {
        jobs.push(fixtures::job(
            "thread",
            Mix::ReadWrite { read_percent: 50 },
            true,
            8192,
        ));
        let mut summary = JobSummary {
            runtime_ns: 4_000_000_000 + u64::from(job),
            workers: 1,
            ..JobSummary::default()
        };
        for op in [Op::Read, Op::Write] {
            let ios = 500 + 100 * u64::from(job);
            let histogram = make::histogram((0..ios).map(|_| 100_000 + rng.below(5_000_000)));
            let out = summary.op_mut(op);
            (out.ios, out.bytes) = (ios, ios * 8192);
            out.lat_ns = histogram.summary(&[]);
            histograms.extend(make::buckets(job, op, Latency::Lat, &histogram));
        }
        results.push(summary);
    }
    let mut series = Vec::new();
    for s in 0..8 {
        for job in 0..2 {
            series.push(second(s, job, Op::Read, u64::from(100 + s)));
            series.push(second(s, job, Op::Write, u64::from(50 * (s % 2))));
        }
    }
    (fixtures::run(jobs, results), series, histograms)
}

#[test]
fn rows_are_jobs() {
    let (run, series, histograms) = two_threads();
    let rows = [source(0, 0, None), source(1, 1, None)];
    let cpus = vec![CpuUse::default()];
    let span = span_result(&settings(), &rows, &run, &series, &histograms, cpus.clone());
    assert_eq!((span.test_time_ns, span.thread_count), (4_000_000_001, 2));
    assert_eq!(span.cpus, cpus);
    for (job, row) in run.summary.jobs.iter().zip(&span.rows) {
        assert_eq!((row.read.ios, row.read.bytes), (job.read.ios, job.read.bytes));
        assert_eq!(row.file_size_bytes, Some(1 << 30));
        assert_eq!(row.read.latency.mean_ns.to_bits(), job.read.lat_ns.mean.to_bits());
        assert_eq!(
            row.write.latency.extremes_ns,
            Some((job.write.lat_ns.min, job.write.lat_ns.max))
        );
        // The ramp does not count, nor what comes after the duration.
        let counted = |buckets: &Option<Vec<crate::diskspd::results::Bucket>>| -> Vec<u64> {
            buckets.iter().flatten().map(|bucket| bucket.ios).collect()
        };
        assert_eq!(counted(&row.read.buckets), [102, 103, 104, 105]);
        assert_eq!(counted(&row.write.buckets), [0, 50, 0, 50]);
    }
    let all: u64 = span
        .totals
        .read
        .histogram
        .iter()
        .map(|&(_, _, count)| count)
        .sum();
    assert_eq!((all, span.totals.read.n), (1100, 1100));
    assert_eq!(span.totals.read_buckets[0].ios, 204);
    // Intervals of two seconds hold two rows each.
    let settings = TimeSpan {
        io_bucket_ms: 2000,
        ..settings()
    };
    let span = span_result(&settings, &rows, &run, &series, &histograms, Vec::new());
    let pairs: Vec<u64> = span.rows[0]
        .read
        .buckets
        .iter()
        .flatten()
        .map(|bucket| bucket.ios)
        .collect();
    assert_eq!(pairs, [205, 209]);
    both_formats(span);
}

/// Both writers take it.
fn both_formats(span: SpanResult) {
    let result = DiskspdResult {
        profile_text: String::new(),
        profile_xml: String::new(),
        verbose_stats: true,
        system: System::default(),
        spans: vec![span],
    };
    assert!(text(&result).contains("Total latency distribution:"));
    assert!(
        super::read_xml::document(&xml(&result))
            .root_element()
            .has_children()
    );
}

#[test]
fn rows_of_a_pool_are_files() {
    let (mut run, series, histograms) = two_threads();
    let interval = |ios| FileInterval {
        ios,
        lat_ns_min: 1_000_000,
        lat_ns_max: 3_000_000,
        lat_ns_mean: 2e6,
        lat_ns_stddev: 1e5,
    };
    let count = |ios| FileCount {
        ios,
        bytes: ios * 8192,
        clat_ns_mean: 2e6,
        clat_ns_stddev: 1e5,
        lat_ns: LatencySummary {
            n: ios,
            min: 1_000_000,
            mean: 2e6,
            stddev: 1e5,
            max: 3_000_000,
            percentiles: Vec::new(),
        },
        lat_buckets: vec![
            (1_000_000, 1_000_000, ios / 2),
            (3_000_000, 3_000_000, ios - ios / 2),
        ],
        intervals: [ios / 4, 3 * ios / 4].map(interval).into(),
    };
    let file = |path: &str, ios| FileSummary {
        path: path.to_owned(),
        read: count(ios),
        write: count(2 * ios),
    };
    for job in &mut run.summary.jobs {
        job.files = vec![file("data.bin", 100), file("other.bin", 400)];
    }
    let rows: Vec<RowSource> = (0..2)
        .flat_map(|job| [source(job, job, Some(0)), source(job, job, Some(1))])
        .collect();
    let settings = TimeSpan {
        thread_count: 2,
        request_count: 8,
        ..settings()
    };
    let span = span_result(&settings, &rows, &run, &series, &histograms, Vec::new());
    assert_eq!((span.thread_count, span.request_count), (2, 8));
    let ios: Vec<u64> = span.rows.iter().map(|row| row.read.ios).collect();
    assert_eq!(ios, [100, 400, 100, 400]);
    // Each has its percentiles and its intervals.
    for (row, ios) in span.rows.iter().zip(ios) {
        assert_eq!(row.read.latency.at(0.25), Some(1e6));
        let buckets = row.read.buckets.as_ref().expect("intervals");
        let each: Vec<u64> = buckets.iter().map(|bucket| bucket.ios).collect();
        assert_eq!(each, [ios / 4, 3 * ios / 4]);
    }
    assert_eq!(span.totals.write.n, 1100);
    both_formats(span);
}

#[test]
fn a_run_without_results_was_interrupted() {
    let span = span_result(
        &settings(),
        &[source(0, 0, None)],
        &fixtures::killed(),
        &[],
        &[],
        Vec::new(),
    );
    assert_eq!(span.test_time_ns, 0);
    assert_eq!(span.rows[0].read.ios, 0);
}

#[test]
fn ranges_lie_on_the_region() {
    let (mut run, series, histograms) = two_threads();
    let job = &mut run.workload.jobs[0];
    let zones = vec![
        Zone {
            io_percent: 90.0,
            size: ZoneSize::Percent(50.0),
        },
        Zone {
            io_percent: 10.0,
            size: ZoneSize::Percent(50.0),
        },
    ];
    job.pattern.distribution = [(); 3].map(|()| Distribution::Zones(zones.clone()));
    job.region.size = Some(Amount::Bytes(1 << 20));
    let span = span_result(
        &settings(),
        &[source(0, 0, None)],
        &run,
        &series,
        &histograms,
        Vec::new(),
    );
    let ends: Vec<u64> = span.rows[0].ranges.iter().map(|range| range.end).collect();
    assert_eq!(ends, [1 << 19, 1 << 20]);
    run.workload.jobs[0].region.size = None;
    let span = span_result(
        &settings(),
        &[source(0, 0, None)],
        &run,
        &series,
        &histograms,
        Vec::new(),
    );
    assert_eq!(span.rows[0].ranges[1].end, 1 << 30);
}

#[test]
fn a_trimmed_distribution_is_printed_as_it_was_given() {
    let (mut run, series, histograms) = two_threads();
    let zone = |io_percent, bytes| Zone {
        io_percent,
        size: ZoneSize::Bytes(bytes),
    };
    let shown = |run: &Run| {
        let span = span_result(
            &settings(),
            &[source(0, 0, None)],
            run,
            &series,
            &histograms,
            Vec::new(),
        );
        let result = DiskspdResult {
            profile_text: String::new(),
            profile_xml: String::new(),
            verbose_stats: false,
            system: System::default(),
            spans: vec![span],
        };
        (text(&result), xml(&result))
    };
    let job = &mut run.workload.jobs[0];
    job.region.size = Some(Amount::Bytes(1 << 20));
    // The second half of the I/O would go beyond the end.
    let zones = vec![zone(50.0, 1 << 20), zone(50.0, 1 << 30)];
    job.pattern.distribution = [(); 3].map(|()| Distribution::Zones(zones.clone()));
    let (text, xml) = shown(&run);
    assert!(text.contains("    100.0% of IO => [     0    - "), "{text}");
    assert!(xml.contains("<Range IO=\"50\">1048576</Range>"), "{xml}");
    // What fits is whole numbers.
    let zones = vec![zone(50.0, 1 << 19), zone(50.0, 1 << 19)];
    run.workload.jobs[0].pattern.distribution = [(); 3].map(|()| Distribution::Zones(zones.clone()));
    let (text, xml) = shown(&run);
    assert_eq!(text.matches("    50% of IO => [").count(), 2, "{text}");
    assert_eq!(xml.matches("<Range IO=\"50\">524288</Range>").count(), 2, "{xml}");
}

#[test]
fn a_file_has_the_size_that_was_asked_for() {
    let (run, series, histograms) = two_threads();
    let row = RowSource {
        file_size_bytes: Some(7 << 20),
        ..source(0, 0, None)
    };
    let span = span_result(&settings(), &[row], &run, &series, &histograms, Vec::new());
    assert_eq!(span.rows[0].file_size_bytes, Some(7 << 20));
}
