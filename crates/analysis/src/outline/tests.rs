use super::{Disturbed, Outline, Pace};
use crate::explain::{KnownDisk, LimitScope};
use crate::fixtures;
use crate::usage::{Aspect, UseVerdict};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{SERIES_PERCENTILES, SeriesRow};
use fathom_core::units::MonoTime;
use fathom_core::workload::Rate;

const SECOND: u64 = 1_000_000_000;

fn row(second: u32, ios: u64, lat_ns: u64, longest_ns: u64) -> SeriesRow {
    let mut lat = Histogram::new();
    for _ in 1..ios {
        lat.record(lat_ns);
    }
    lat.record(longest_ns);
    SeriesRow {
        second,
        end: MonoTime(u64::from(second + 1) * SECOND),
        duration_ns: SECOND,
        job: 0,
        ramp: false,
        op: Op::Read,
        ios,
        bytes: ios * 4096,
        errors: 0,
        lat: lat.summary(&SERIES_PERCENTILES),
        response: Histogram::new().summary(&SERIES_PERCENTILES),
        backlog: 0,
        late_ios: 0,
    }
}

fn known(iops: f64) -> Vec<KnownDisk> {
    vec![KnownDisk {
        name: String::from("P15"),
        scope: LimitScope::Disk,
        iops: Some(iops),
        bytes_per_second: Some(125e6),
        own: true,
    }]
}

fn verdicts(outline: &Outline) -> Vec<(Aspect, UseVerdict)> {
    let rows = outline.usage.rows.iter();
    rows.map(|row| (row.aspect, row.verdict)).collect()
}

#[test]
fn a_run_at_a_known_limit_is_short_of_it() {
    let run = fixtures::quiet();
    // Two milliseconds each: two in flight.
    let series: Vec<SeriesRow> = (0..20)
        .map(|second| row(second, 1000, 2_000_000, 2_000_000))
        .collect();
    let at = Outline::of_run(&run, &series, &known(1000.0)).expect("an outline");
    let short = at.usage.short();
    assert_eq!((short.len(), short[0].what), (1, "I/Os a second"));
    assert!((at.in_flight - 2.0).abs() < 0.01, "{}", at.in_flight);
    assert_eq!((at.usage.readings, at.usage.step_ns), (20, SECOND));
    assert_eq!(at.disturbed, Some(Disturbed::default()));
    // The same rate, steady as it is, is no limit where none is known to be near.
    let below = Outline::of_run(&run, &series, &known(1300.0)).expect("an outline");
    assert!(below.usage.short().is_empty(), "{:?}", verdicts(&below));
    let unknown = Outline::of_run(&run, &series, &[]).expect("an outline");
    assert!(unknown.usage.short().is_empty(), "{:?}", verdicts(&unknown));
    assert!(Outline::of_run(&run, &[], &known(1000.0)).is_none());
}

#[test]
fn slow_seconds_and_failed_ios_are_counted() {
    let run = fixtures::quiet();
    let mut series: Vec<SeriesRow> = (0..20)
        .map(|second| row(second, 2000, 300_000, 300_000))
        .collect();
    series[12] = row(12, 2000, 300_000, 90_000_000);
    series[15] = row(15, 2000, 300_000, 50_000_000);
    series[15].errors = 3;
    let outline = Outline::of_run(&run, &series, &[]).expect("an outline");
    assert_eq!(
        outline.disturbed,
        Some(Disturbed {
            seconds: 2,
            lat_ns_max: 90_000_000
        })
    );
    let errors = outline
        .usage
        .rows
        .iter()
        .find(|row| row.aspect == Aspect::Errors && row.mean.is_some());
    let errors = errors.expect("failed I/Os are counted");
    assert_eq!((errors.peak, errors.verdict), (Some(3.0), UseVerdict::Busy));
}

#[test]
fn a_paced_load_that_keeps_its_pace_asked_for_no_more() {
    let mut run = fixtures::quiet();
    let mut series: Vec<SeriesRow> = (0..10).map(|second| row(second, 100, 300_000, 300_000)).collect();
    let pace = |run: &_, series: &[SeriesRow]| Outline::of_run(run, series, &[]).expect("an outline").pace;
    assert_eq!(pace(&run, &series), Pace::AsAnswered);
    for job in &mut run.workload.jobs {
        job.pace.rate[0] = Some(Rate::Iops(100));
    }
    assert_eq!(pace(&run, &series), Pace::Kept);
    series[9].backlog = 5000;
    assert_eq!(pace(&run, &series), Pace::Behind { ios: 5000 });
}
