use super::{Measured, observe};
use crate::compare::figure::{Quantity, Tail};
use crate::compare::order::Order;
use crate::fixtures;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, Latency, Run, SERIES_PERCENTILES, SeriesRow};
use fathom_core::units::MonoTime;

/// 40 seconds of 1,000 reads of 1 ms each.
fn record() -> (Run, Vec<SeriesRow>, Vec<HistogramRow>) {
    let mut run = fixtures::quiet();
    run.workload.jobs.truncate(1);
    run.workload.jobs[0].group_reporting = false;
    run.summary.jobs.truncate(1);
    let mut second = Histogram::new();
    (0..1000_u64).for_each(|io| second.record(1_000_000 + io));
    let latency = second.summary(&SERIES_PERCENTILES);
    let read = &mut run.summary.jobs[0].read;
    read.ios = 40_000;
    read.iops = 1000.0;
    read.bytes_per_second = 4_096_000.0;
    read.lat_ns.clone_from(&latency);
    read.lat_ns.n = 40_000;
    read.response_ns.n = 0;
    run.summary.jobs[0].write.ios = 0;
    let row = |at: u32| SeriesRow {
        second: at,
        end: MonoTime(u64::from(at + 1) * 1_000_000_000),
        duration_ns: 1_000_000_000,
        job: 0,
        ramp: at == 0,
        op: Op::Read,
        ios: 1000,
        bytes: 4_096_000,
        errors: 0,
        lat: latency.clone(),
        response: fathom_core::run::LatencySummary::default(),
        backlog: 0,
        late_ios: 0,
    };
    let buckets = second.occupied().map(|(low_ns, high_ns, count)| HistogramRow {
        job: 0,
        op: Op::Read,
        metric: Latency::Lat,
        low_ns,
        high_ns,
        count: 40 * count,
    });
    (run, (0..41).map(row).collect(), buckets.collect())
}

#[test]
fn a_run_has_its_figures_and_what_its_seconds_say_of_them() {
    let (run, series, histograms) = record();
    let found = Measured::of_run(String::from("a"), &run, &series, &histograms);
    assert_eq!(found.loads.len(), 1);
    let direction = &found.loads[0].directions[0];
    assert_eq!(direction.seconds.len(), 40, "without the ramp");
    assert_eq!(direction.histogram.n(), 40_000);
    let figure = |quantity: Quantity| {
        let mut figures = direction.figures.iter();
        figures.find(|(other, _)| *other == quantity).expect("there").1
    };
    assert!((figure(Quantity::Iops).value - 1000.0).abs() < 1e-9);
    let within = figure(Quantity::LatencyMean).within.expect("long");
    assert!(within.low <= 1_000_500.0 && within.high.is_some_and(|high| high >= 1_000_499.0));
    let tail = figure(Quantity::Latency(Tail::P99)).within.expect("long");
    assert!(tail.low <= figure(Quantity::Latency(Tail::P99)).value);
}

#[test]
fn what_one_repeat_lacks_is_not_compared() {
    let (run, series, histograms) = record();
    let one = Measured::of_run(String::from("a"), &run, &series, &histograms);
    let mut few = run.clone();
    few.summary.jobs[0].read.lat_ns.n = 500;
    let other = Measured::of_run(String::from("b"), &few, &series, &histograms);
    let all = observe([std::slice::from_ref(&one), std::slice::from_ref(&one)]);
    assert_eq!(all.len(), 6);
    let less = observe([&[one.clone(), one.clone()], &[one, other]]);
    assert_eq!(less.len(), 4, "500 I/Os decide neither p99 nor p99.9");
    assert!(matches!(all[0].order, Order::OneAfterOther | Order::InTurns(_)));
}
