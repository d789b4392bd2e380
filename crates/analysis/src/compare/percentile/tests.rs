use super::{Bounds, bounds, bursts, share_beyond};
use crate::compare::chance::Chance;
use fathom_core::histogram::Histogram;
use fathom_core::run::{LatencySummary, SERIES_PERCENTILES};

const SECONDS: u32 = 300;

/// A run of 1,000 IOPS whose level wanders by 10 % and in which, each 10 s about, some 17 I/Os are slow together.
fn run(chance: &mut Chance) -> (Histogram, Vec<LatencySummary>) {
    let mut whole = Histogram::new();
    let levels = chance.remembering(SECONDS as usize, 0.8);
    let seconds = levels.into_iter().map(|level| {
        let mut second = Histogram::new();
        let slow = if chance.unit() < 0.1 {
            chance.exponential() * 17.0
        } else {
            0.0
        };
        for io in 0..1000 {
            let shape = (0.3 * chance.normal()).exp();
            let stall = if f64::from(io) < slow {
                1.0 + 9.0 * chance.exponential()
            } else {
                1.0
            };
            let ns = 1e6 * (0.1 * level).exp() * shape * stall;
            second.record(ns as u64);
            whole.record(ns as u64);
        }
        second.summary(&SERIES_PERCENTILES)
    });
    let seconds = seconds.collect();
    (whole, seconds)
}

fn with_places(seconds: &[LatencySummary]) -> Vec<(u32, &LatencySummary)> {
    (0..).zip(seconds).collect()
}

/// The truth is what 60 runs have together.
#[test]
fn intervals_hold_as_often_as_stated() {
    const RUNS: u32 = 100;
    let seed = 20_261_123;
    let mut chance = Chance::new(seed);
    let mut truth = Histogram::new();
    for _ in 0..60 {
        let (whole, _) = run(&mut chance);
        whole
            .occupied()
            .for_each(|(low, high, count)| truth.record_many(low + (high - low) / 2, count));
    }
    let percentiles = [50.0, 99.0, 99.9];
    let (mut held, mut open) = ([0_u32; 3], [0_u32; 3]);
    for _ in 0..RUNS {
        let (whole, seconds) = run(&mut chance);
        for (index, &percentile) in percentiles.iter().enumerate() {
            let found = bounds(percentile, &whole, &with_places(&seconds)).expect("long");
            let ns = truth.percentile(percentile);
            let below = found.high_ns.is_none_or(|high| ns <= high);
            held[index] += u32::from(found.low_ns <= ns && below);
            open[index] += u32::from(found.high_ns.is_none());
        }
    }
    println!("seed {seed}: of {RUNS} runs, p50, p99, p99.9 hold in {held:?}, open in {open:?}");
    // 94 of 100 are expected; 88 is what chance leaves of it in one of a hundred tests.
    assert!(held.iter().all(|&held| held >= 88), "{held:?}");
    assert!(open[0] == 0 && open[1] <= 20, "{open:?}");
}

#[test]
fn a_share_lies_between_the_percentiles_of_its_second() {
    let latency = LatencySummary {
        n: 1000,
        min: 100,
        mean: 0.0,
        stddev: 0.0,
        max: 100_000,
        percentiles: vec![(50.0, 1_000), (99.0, 10_000)],
    };
    for (value, expected) in [
        (50.0, 1.0),
        (100.0, 0.9995),
        (1_000.0, 0.5),
        // Half of the way to p99 by the logarithm: half of 2.326 deviations.
        (3_162.28, 0.122_38),
        (10_000.0, 0.01),
        (100_000.0, 0.0),
    ] {
        let found = share_beyond(&latency, value);
        assert!(
            (found - expected).abs() < 1e-6,
            "{value}: {found}, not {expected}"
        );
    }
}

#[test]
fn few_bursts_leave_the_upper_end_open() {
    let mut whole = Histogram::new();
    let seconds: Vec<LatencySummary> = (0..60)
        .map(|second| {
            let mut here = Histogram::new();
            for io in 0..1000_u64 {
                let ns = if second % 20 == 7 && io < 200 {
                    90_000_000
                } else {
                    1_000_000 + io
                };
                here.record(ns);
                whole.record(ns);
            }
            here.summary(&SERIES_PERCENTILES)
        })
        .collect();
    let found = bounds(99.0, &whole, &with_places(&seconds)).expect("long");
    assert_eq!(found.high_ns, None, "three bursts only");
    assert!(found.low_ns < 2_000_000);
    assert_eq!(bursts(&[true, true, false, false, false, true, false]), 2);
    let short = with_places(&seconds[..10]);
    assert_eq!(bounds(99.0, &whole, &short), None::<Bounds>);
}
