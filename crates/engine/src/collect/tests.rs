use super::{JobCollector, summarize};
use crate::interval::{Exchange, Interval, Stamps};
use crate::testing::{ALL_METRICS, Answer, EPOCH, Run, Sim, asynchronous, random_job, seed, worker_plan};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::run::{JobSummary, Latency, SeriesRow};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{Job, Mix};
use std::sync::Arc;

const BLOCK: u64 = 4096;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn collector() -> JobCollector {
    JobCollector::new(3, [true, true, false, false], ALL_METRICS, &[50.0, 99.0])
}

fn mixed(runtime_ms: u64) -> Job {
    let mut job = asynchronous(random_job(Mix::ReadWrite { read_percent: 70 }, BLOCK), 4);
    job.limit.runtime = Some(Nanos(runtime_ms * MS));
    job.limit.time_based = true;
    job
}

fn run(job: &Job, seed: u64) -> Run {
    let mut rng = Rng::new(seed);
    let sim = Sim::new(worker_plan(job, 1 << 30), |request, _| Answer {
        slat: Nanos(rng.below(1000)),
        clat: Nanos(MS + rng.below(9 * MS)),
        outcome: Ok(request.len),
    });
    sim.run()
}

fn sums(rows: &[SeriesRow], op: Op) -> (u64, u64) {
    let counted = rows.iter().filter(|row| row.op == op && !row.ramp);
    counted.fold((0, 0), |(ios, bytes), row| (ios + row.ios, bytes + row.bytes))
}

#[test]
fn totals_are_the_sum_of_the_rows() {
    let mut collector = collector();
    let run = run(&mixed(4_300), seed());
    let rows = run.rows(&mut collector);
    let all = run.sum();
    for op in [Op::Read, Op::Write] {
        let counts = &collector.totals().ops[op.index()];
        assert_eq!(sums(&rows, op), (counts.lat.n(), counts.bytes));
        // Merged bucket by bucket: the same as if all had been counted in one.
        assert_eq!(counts.lat, all.ops[op.index()].lat);
        assert_eq!(counts.slat, all.ops[op.index()].slat);
        assert_eq!(counts.clat, all.ops[op.index()].clat);
    }
    let reads: Vec<&SeriesRow> = rows.iter().filter(|row| row.op == Op::Read).collect();
    let seconds: Vec<u32> = reads.iter().map(|row| row.second).collect();
    assert_eq!(seconds, [0, 1, 2, 3, 4]);
    for row in &reads[..4] {
        assert_eq!(row.duration_ns, SECOND);
        assert_eq!(row.end.since(EPOCH).0, u64::from(row.second + 1) * SECOND);
        assert_eq!(row.job, 3);
    }
    assert!((300 * MS..320 * MS).contains(&reads[4].duration_ns));
    // No row for a direction that the job has not.
    assert!(rows.iter().all(|row| matches!(row.op, Op::Read | Op::Write)));
}

#[test]
fn rows_have_the_percentiles_of_their_second() {
    let mut collector = collector();
    let run = run(&mixed(2_000), seed());
    let rows = run.rows(&mut collector);
    let row = rows
        .iter()
        .find(|row| row.op == Op::Read && row.second == 1)
        .expect("a row");
    let in_second = |completed: u64| (EPOCH.0 + SECOND..EPOCH.0 + 2 * SECOND).contains(&completed);
    let mut latencies: Vec<u64> = (run.seen.iter())
        .filter(|seen| seen.request.op == Op::Read && in_second(seen.completed))
        .map(|seen| seen.completed - seen.created)
        .collect();
    latencies.sort_unstable();
    assert_eq!(row.lat.n, latencies.len() as u64);
    assert_eq!(
        (Some(&row.lat.min), Some(&row.lat.max)),
        (latencies.first(), latencies.last())
    );
    for &(percentile, value) in &row.lat.percentiles {
        let rank = (percentile / 100.0 * latencies.len() as f64 - 1e-9).ceil() as usize;
        let exact = latencies[rank.max(1) - 1] as f64;
        assert!(
            (value as f64 / exact - 1.0).abs() <= 1.0 / 1024.0,
            "p{percentile}: {value}, not {exact}"
        );
    }
}

#[test]
fn a_silent_second_is_a_row_of_zeros() {
    let mut collector = collector();
    let job = mixed(9_500);
    let sim = Sim::new(worker_plan(&job, 1 << 30), |request, now| {
        let at = now.since(EPOCH).0;
        let stalled = (2_500 * MS..2_600 * MS).contains(&at);
        Answer {
            slat: Nanos(0),
            clat: Nanos(if stalled { 5 * SECOND } else { 10 * MS }),
            outcome: Ok(request.len),
        }
    });
    let rows = sim.run().rows(&mut collector);
    let reads: Vec<&SeriesRow> = rows.iter().filter(|row| row.op == Op::Read).collect();
    let seconds: Vec<u32> = reads.iter().map(|row| row.second).collect();
    assert_eq!(seconds, (0..10).collect::<Vec<_>>());
    for row in reads {
        let silent = (3..7).contains(&row.second);
        assert_eq!(row.ios == 0, silent, "second {}", row.second);
        if silent {
            assert_eq!(
                (row.duration_ns, row.bytes, row.lat.n, row.lat.max),
                (SECOND, 0, 0, 0)
            );
            assert_eq!(row.end.since(EPOCH).0, u64::from(row.second + 1) * SECOND);
        }
    }
}

#[test]
fn the_ramp_has_rows_but_counts_in_no_total() {
    let mut job = mixed(2_000);
    job.limit.ramp_time = Nanos(1_500 * MS);
    let mut collector = collector();
    let run = run(&job, seed());
    let rows = run.rows(&mut collector);
    let reads: Vec<(u32, bool)> = (rows.iter())
        .filter(|row| row.op == Op::Read)
        .map(|row| (row.second, row.ramp))
        .collect();
    // The second in which the ramp ends has a row of each kind.
    assert_eq!(reads, [(0, true), (1, true), (1, false), (2, false), (3, false)]);
    let after = run
        .seen
        .iter()
        .filter(|seen| seen.request.op == Op::Read && seen.completed >= EPOCH.0 + 1_500 * MS);
    assert_eq!(collector.totals().ops[0].lat.n(), after.count() as u64);
    assert_eq!(sums(&rows, Op::Read).0, collector.totals().ops[0].lat.n());
}

/// One interval with some reads of 1 ms.
fn interval(from_ms: u64, to_ms: u64, reads: u32) -> Interval {
    let mut interval = Interval::new();
    interval.start = EPOCH.after(Nanos(from_ms * MS));
    interval.end = EPOCH.after(Nanos(to_ms * MS));
    let stamps = Stamps {
        intended: 0,
        created: MS,
        submitted: MS,
        completed: 2 * MS,
    };
    for _ in 0..reads {
        interval.record(Op::Read, BLOCK as u32, &stamps, ALL_METRICS);
    }
    interval.backlog = u64::from(reads);
    interval.backlog_max = u64::from(reads);
    interval
}

fn hand_over(exchange: &Exchange, interval: Interval) {
    assert!(exchange.swap(&mut Box::new(interval)));
}

/// A second is reported when every worker is past it, and then with what all of them did.
#[test]
fn workers_are_added_up_second_by_second() {
    let mut collector = collector();
    let exchanges = [Arc::new(Exchange::new()), Arc::new(Exchange::new())];
    collector.start(EPOCH, EPOCH, exchanges.to_vec());
    let mut rows = Vec::new();
    hand_over(&exchanges[0], interval(0, 1000, 10));
    collector.poll(&mut rows);
    assert!(rows.is_empty(), "the other worker may still add to it");
    hand_over(&exchanges[0], interval(1000, 2000, 20));
    hand_over(&exchanges[1], interval(0, 1000, 5));
    collector.poll(&mut rows);
    let reads = |rows: &[SeriesRow]| -> Vec<(u32, u64, u64)> {
        let reads = rows.iter().filter(|row| row.op == Op::Read);
        reads.map(|row| (row.second, row.ios, row.backlog)).collect()
    };
    assert_eq!(reads(&rows), [(0, 15, 15)]);
    assert_eq!(collector.live().ios, [15, 0, 0]);
    // The second worker ends in its second second; the first goes on alone.
    collector.ended(1, &interval(1000, 1400, 3), &mut rows);
    assert_eq!(reads(&rows), [(0, 15, 15), (1, 23, 23)]);
    hand_over(&exchanges[0], interval(2000, 3000, 7));
    collector.ended(0, &interval(3000, 3500, 1), &mut rows);
    assert_eq!(reads(&rows)[2..], [(2, 7, 7), (3, 1, 1)]);
    let totals = collector.totals();
    assert_eq!(totals.ops[0].lat.n(), 46);
    assert_eq!(totals.ops[0].bytes, 46 * BLOCK);
    // The most that waited at one time, over all workers together.
    assert_eq!(totals.backlog_max, 23);
}

/// The last completion may fall on a whole second, and with it the end: it is a second of its own, not lost.
#[test]
fn an_interval_without_length_counts() {
    let mut collector = collector();
    let exchange = Arc::new(Exchange::new());
    collector.start(EPOCH, EPOCH, vec![Arc::clone(&exchange)]);
    let mut rows = Vec::new();
    hand_over(&exchange, interval(0, 1000, 10));
    collector.ended(0, &interval(1000, 1000, 1), &mut rows);
    let reads: Vec<_> = rows.iter().filter(|row| row.op == Op::Read).collect();
    let found: Vec<(u32, u64)> = reads.iter().map(|row| (row.second, row.ios)).collect();
    assert_eq!(found, [(0, 10), (1, 1)]);
    assert_eq!(collector.totals().ops[0].lat.n(), 11);
}

/// The collector was late: the worker went on in the same interval, which is then longer; nothing is lost.
#[test]
fn a_long_interval_belongs_to_its_last_second() {
    let mut collector = collector();
    let exchange = Arc::new(Exchange::new());
    collector.start(EPOCH, EPOCH, vec![Arc::clone(&exchange)]);
    let mut rows = Vec::new();
    hand_over(&exchange, interval(0, 3000, 10));
    collector.ended(0, &interval(3000, 3100, 1), &mut rows);
    let found: Vec<(u32, u64, u64)> = (rows.iter())
        .filter(|row| row.op == Op::Read)
        .map(|row| (row.second, row.ios, row.duration_ns / MS))
        .collect();
    // The seconds that it covers had I/O: no rows of zeros for them.
    assert_eq!(found, [(2, 10, 3000), (3, 1, 100)]);
}

/// A job of a later phase: seconds are those of the run.
#[test]
fn a_later_job_counts_the_seconds_of_the_run() {
    let mut collector = collector();
    let exchange = Arc::new(Exchange::new());
    collector.start(EPOCH, EPOCH.after(Nanos(7_200 * MS)), vec![Arc::clone(&exchange)]);
    let mut rows = Vec::new();
    hand_over(&exchange, interval(7_200, 8_000, 4));
    collector.ended(0, &interval(8_000, 8_100, 1), &mut rows);
    let found: Vec<(u32, u64)> = (rows.iter())
        .filter(|row| row.op == Op::Read)
        .map(|row| (row.second, row.duration_ns / MS))
        .collect();
    assert_eq!(found, [(7, 800), (8, 100)]);
}

#[test]
fn summaries_have_rates_and_latencies() {
    let mut totals = interval(0, 1000, 100);
    totals.verified = 7;
    totals.ops[0].errors = 2;
    totals.ops[0].short = 1;
    let mut summary = JobSummary::default();
    summarize(&totals, ALL_METRICS, &[50.0], 2 * SECOND, &mut summary);
    let read = &summary.read;
    assert_eq!(
        (read.ios, read.bytes, read.errors, read.short_ios),
        (100, 100 * BLOCK, 2, 1)
    );
    assert!((read.iops - 50.0).abs() < 1e-9 && (read.bytes_per_second - 50.0 * BLOCK as f64).abs() < 1e-6);
    assert_eq!(read.lat_ns.percentile(50.0), Some(MS));
    assert_eq!(
        (read.slat_ns.n, read.clat_ns.n, read.response_ns.n),
        (100, 100, 100)
    );
    assert_eq!((summary.verified_ios, summary.runtime_ns), (7, 2 * SECOND));
    assert_eq!(summary.write.ios, 0);
    assert!(summary.write.iops.abs() < f64::EPSILON);
    // A synchronous engine's latency is all completion; nothing over no time is no rate.
    let sync = crate::interval::Metrics {
        split: false,
        response: false,
    };
    summarize(&totals, sync, &[50.0], 0, &mut summary);
    assert_eq!((summary.read.slat_ns.n, summary.read.clat_ns.n), (0, 100));
    assert!(summary.read.iops.abs() < f64::EPSILON);
}

#[test]
fn histogram_rows_hold_every_io() {
    let mut collector = collector();
    let run = run(&mixed(1_500), seed());
    run.rows(&mut collector);
    let mut rows = Vec::new();
    collector.histograms(&mut rows);
    for op in [Op::Read, Op::Write] {
        for metric in [Latency::Slat, Latency::Clat, Latency::Lat] {
            let own = rows.iter().filter(|row| row.op == op && row.metric == metric);
            let count: u64 = own.clone().map(|row| row.count).sum();
            assert_eq!(count, collector.totals().ops[op.index()].lat.n());
            assert!(own.clone().all(|row| row.low_ns <= row.high_ns && row.job == 3));
            let lows: Vec<u64> = own.map(|row| row.low_ns).collect();
            assert!(lows.is_sorted_by(|a, b| a < b));
        }
    }
    assert!(rows.iter().all(|row| row.metric != Latency::Response));
    assert_eq!(run.now, MonoTime(run.end.end.0));
}

/// A disk that hangs for a minute under one of two workers: the rows of the other wait 10 s, then go on without it,
/// in bounded memory; what the first had counted comes with the row after its return, and is marked.
#[test]
fn a_worker_that_hangs_holds_nothing_up_for_long() {
    let hang = 60 * SECOND;
    let job = mixed(100_000);
    let slow = |hangs: bool| {
        let sim = Sim::new(worker_plan(&job, 1 << 30), move |request, now| {
            let at = now.since(EPOCH).0;
            let stalled = hangs && (20_500 * MS..21_000 * MS).contains(&at);
            Answer {
                slat: Nanos(0),
                clat: Nanos(if stalled { hang } else { 250 * MS }),
                outcome: Ok(request.len),
            }
        });
        sim.run()
    };
    let runs = [slow(true), slow(false)];
    // An interval changes hands when the worker next looks at the clock: at its own end, or after the hang, when
    // the next one begins.
    let mut handed: Vec<(u64, usize, &Interval)> = Vec::new();
    for (worker, run) in runs.iter().enumerate() {
        for pair in run.intervals.windows(2) {
            handed.push((pair[0].end.0.max(pair[1].start.0), worker, &pair[0]));
        }
    }
    handed.sort_by_key(|&(at, worker, _)| (at, worker));
    let mut collector = collector();
    let exchanges = [Arc::new(Exchange::new()), Arc::new(Exchange::new())];
    collector.start(EPOCH, EPOCH, exchanges.to_vec());
    let mut rows = Vec::new();
    for (at, worker, interval) in handed {
        let mut full = Box::new(interval.clone());
        assert!(exchanges[worker].swap(&mut full));
        collector.poll(&mut rows);
        assert!(
            collector.pending.len() <= 12,
            "{} seconds wait",
            collector.pending.len()
        );
        let newest = rows.last().map_or(0, |row| u64::from(row.second));
        assert!(at - EPOCH.0 <= (newest + 13) * SECOND, "the rows are far behind");
    }
    for (worker, run) in runs.iter().enumerate() {
        collector.ended(worker, run.intervals.last().expect("a last one"), &mut rows);
    }
    // Each second once, in order, and nothing lost.
    let reads: Vec<&SeriesRow> = rows.iter().filter(|row| row.op == Op::Read).collect();
    assert!(reads.windows(2).all(|pair| pair[1].second == pair[0].second + 1));
    for op in [Op::Read, Op::Write] {
        let all: u64 = runs.iter().map(|run| run.sum().ops[op.index()].lat.n()).sum();
        assert_eq!(sums(&rows, op).0, all);
        assert_eq!(collector.totals().ops[op.index()].lat.n(), all);
    }
    let late: Vec<u32> = reads
        .iter()
        .filter(|row| row.late_ios > 0)
        .map(|row| row.second)
        .collect();
    let [second] = late.as_slice() else {
        panic!("one row is marked, not those of {late:?}");
    };
    assert!((69..=70).contains(second), "{second}");
    let row = reads[*second as usize];
    assert!(row.late_ios < row.ios);
    assert_eq!(row.duration_ns, SECOND, "the row stays that of its second");
}
