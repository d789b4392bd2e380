use super::{Limit, Part, Recorded, Reduction, Shown};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, JobSummary, Latency, LatencySummary, SeriesRow, Summary};
use fathom_core::units::MonoTime;
use fathom_testkit::make;
use proptest::prelude::any;
use proptest::{prop_assert_eq, proptest};

/// A run that did so many reads in each second.
fn run(each_second: &[u64]) -> (Summary, Vec<SeriesRow>) {
    let mut job = JobSummary::default();
    job.read.ios = each_second.iter().sum();
    job.read.bytes = job.read.ios * 4096;
    job.read.iops = job.read.ios as f64 / each_second.len() as f64;
    job.read.bytes_per_second = job.read.iops * 4096.0;
    let summary = make::run(Vec::new(), vec![job]).summary;
    let row = |(second, &ios): (usize, &u64)| SeriesRow {
        second: second as u32,
        end: MonoTime((second as u64 + 1) * 1_000_000_000),
        duration_ns: 1_000_000_000,
        job: 0,
        ramp: false,
        op: Op::Read,
        ios,
        bytes: ios * 4096,
        errors: 0,
        lat: LatencySummary::default(),
        response: LatencySummary::default(),
        backlog: 0,
        late_ios: 0,
    };
    (summary, each_second.iter().enumerate().map(row).collect())
}

fn limit(alone: Option<u64>, members: &[Vec<u64>]) -> Limit {
    let mut reduction = Reduction::default();
    if let Some(alone) = alone {
        let (summary, series) = run(&[alone; 3]);
        reduction.alone(Part::of(&recorded(&summary, &series, &[])).member.iops);
    }
    for member in members {
        let (summary, series) = run(member);
        reduction.add(&recorded(&summary, &series, &[]));
    }
    reduction.finish().limit
}

fn recorded<'a>(
    summary: &'a Summary,
    series: &'a [SeriesRow],
    histograms: &'a [HistogramRow],
) -> Recorded<'a> {
    Recorded {
        name: "1",
        node: None,
        summary,
        series,
        histograms,
    }
}

/// Numbers that move by up to a tenth, always the same ones.
fn moving(seed: u64, base: u64) -> Vec<u64> {
    let mut state = seed;
    let step = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        base * 9 / 10 + (state >> 33) % (base / 5)
    };
    (0..60).map(step).collect()
}

#[test]
fn a_limit_that_all_share_is_told_by_what_one_has_alone() {
    let members = vec![vec![1_000; 5]; 4];
    assert_eq!(
        limit(Some(3_000), &members),
        Limit::Shared {
            iops: 4_000.0,
            shown_by: Shown::Alone { iops_alone: 3_000.0 }
        }
    );
    assert_eq!(limit(Some(1_050), &members), Limit::Own { iops_alone: 1_050.0 });
}

#[test]
fn a_limit_that_all_share_keeps_the_sum_still_while_they_move() {
    let first = moving(7, 1_000);
    let second: Vec<u64> = first.iter().map(|ios| 2_000 - ios).collect();
    let Limit::Shared { iops, shown_by } = limit(None, &[first.clone(), second]) else {
        panic!("not told");
    };
    assert!((iops - 2_000.0).abs() < 1.0, "{iops}");
    assert_eq!(shown_by, Shown::Movement { ratio: 0.0 });
    assert_eq!(limit(None, &[first, moving(99, 1_000)]), Limit::Independent);
    assert_eq!(limit(None, &[vec![500; 60], vec![500; 60]]), Limit::Steady);
    assert_eq!(
        limit(None, &[vec![500; 3], vec![500; 9]]),
        Limit::TooShort { seconds: 3 }
    );
}

#[test]
fn who_falls_behind_is_named() {
    let mut reduction = Reduction::default();
    for ios in [1_000, 990, 700, 1_010] {
        let (summary, series) = run(&[ios; 3]);
        reduction.add(&recorded(&summary, &series, &[]));
    }
    assert_eq!(reduction.finish().stragglers, [2]);
}

#[test]
fn what_ran_at_different_moments_is_summed_and_not_judged_as_one() {
    let mut first = Reduction::default();
    let mut second = Reduction::default();
    let add = |reduction: &mut Reduction, by: &str| {
        let (summary, series) = run(&[100; 20]);
        reduction.take(Part {
            limited: vec![by.to_owned()],
            ..Part::of(&recorded(&summary, &series, &[]))
        });
    };
    add(&mut first, "CPU");
    add(&mut second, "an IOPS limit");
    add(&mut second, "CPU");
    first.merge(second);
    let fleet = first.finish();
    assert_eq!(fleet.limit, Limit::Apart);
    assert_eq!((fleet.total[0].ios, fleet.members.len()), (6_000, 3));
    let limited: Vec<(&str, &[usize])> = fleet
        .limited
        .iter()
        .map(|one| (one.by.as_str(), one.members.as_slice()))
        .collect();
    assert_eq!(
        limited,
        [("CPU", [0, 2].as_slice()), ("an IOPS limit", [1].as_slice())]
    );
}

proptest! {
    /// Against one histogram of all values.
    #[test]
    fn merged_latencies_are_those_of_all_ios(
        parts in proptest::collection::vec(proptest::collection::vec(any::<u32>(), 1..50), 1..8),
    ) {
        let mut all = Histogram::new();
        let mut reduction = Reduction::default();
        for values in &parts {
            let mut own = Histogram::new();
            for value in values {
                own.record(u64::from(*value));
                all.record(u64::from(*value));
            }
            let row = |(low_ns, high_ns, count)| HistogramRow {
                job: 0,
                op: Op::Read,
                metric: Latency::Lat,
                low_ns,
                high_ns,
                count,
            };
            let rows: Vec<HistogramRow> = own.occupied().map(row).collect();
            let (summary, series) = run(&[values.len() as u64]);
            let part = Part::of(&recorded(&summary, &series, &rows));
            // Kept as text by the one who made it, and read by the one who puts all together.
            let text = serde_json::to_string(&part).expect("it becomes text");
            let read: Part = serde_json::from_str(&text).expect("text becomes it");
            prop_assert_eq!(&read, &part);
            reduction.take(read);
        }
        let fleet = reduction.finish();
        prop_assert_eq!(fleet.total[0].ios, parts.iter().map(Vec::len).sum::<usize>() as u64);
        let merged = &fleet.total[0].lat_ns;
        prop_assert_eq!(merged.n, all.n());
        // Buckets add up; within one of them only its bounds are known.
        let bucket = |value: u64| all.occupied().position(|(low, high, _)| (low..=high).contains(&value));
        for percentile in [50.0, 99.0] {
            prop_assert_eq!(
                bucket(merged.percentile(percentile).expect("told")),
                bucket(all.percentile(percentile))
            );
        }
    }
}
