use super::Schedule;
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::workload::{Arrival, Rate};
use fathom_testkit::seed;
use proptest::prelude::*;

const START: MonoTime = MonoTime(77_000_000_123);
const SECOND: u128 = 1_000_000_000;

fn constant(rate: Rate) -> Schedule {
    let mut schedule = Schedule::new(rate, Arrival::Constant, 4096, 1);
    schedule.start(START);
    schedule
}

/// When arrival `k` of a constant rate is due, after the start.
fn due_ns(k: u64, rate: u64) -> u64 {
    (u128::from(k) * SECOND / u128::from(rate)) as u64
}

#[test]
fn constant_arrivals_are_exact() {
    for rate in [1, 3, 7, 1000, 1_000_003, 999_999_999, 3_000_000_000] {
        let mut schedule = constant(Rate::Iops(rate));
        for k in 0..20_000 {
            assert_eq!(
                schedule.due().0 - START.0,
                due_ns(k, rate),
                "arrival {k} at {rate}"
            );
            schedule.advance(4096);
        }
    }
}

/// Sizes of all kinds: the next I/O is due when the rate has moved all bytes before it.
#[test]
fn byte_rates_are_exact() {
    let mut rng = Rng::new(seed());
    for rate in [1, 1000, 100 << 20, 12_345_678_901] {
        let mut schedule = constant(Rate::BytesPerSecond(rate));
        let mut bytes = 0u128;
        for _ in 0..5000 {
            let due = u128::from(schedule.due().0 - START.0);
            assert_eq!(due, bytes * SECOND / u128::from(rate), "rate {rate}");
            let len = rng.below(if rate < 10_000 { 5000 } else { u64::from(u32::MAX) }) as u32;
            schedule.advance(len);
            bytes += u128::from(len);
        }
    }
}

/// A rate of nothing is a rate of one, and one beyond any clock is at once; neither stops the program.
#[test]
fn absurd_rates_are_borne() {
    let mut schedule = constant(Rate::Iops(0));
    schedule.advance(4096);
    assert_eq!(schedule.due().0 - START.0, SECOND as u64);
    let mut schedule = constant(Rate::Iops(u64::MAX));
    for _ in 0..1000 {
        schedule.advance(4096);
    }
    assert!(schedule.due().0 - START.0 <= 1000);
    assert!(schedule.backlog(MonoTime(START.0 + 1)) > 1);
}

proptest! {
    #[test]
    fn backlog_counts_what_is_due(
        rate in prop_oneof![1u64..100, 1u64..3_000_000, 1u64..u64::from(u32::MAX)],
        taken in 0u64..50,
        later_ns in 0u64..3_000_000_000,
    ) {
        let mut schedule = constant(Rate::Iops(rate));
        for _ in 0..taken {
            schedule.advance(512);
        }
        let now = due_ns(taken, rate).saturating_sub(5) + later_ns;
        // How many k have due(k) <= now: the largest k + 1, found by the rate and checked at its edges.
        let mut arrived = (u128::from(now) * u128::from(rate) / SECOND) as u64;
        while due_ns(arrived, rate) <= now {
            arrived += 1;
        }
        while arrived > 0 && due_ns(arrived - 1, rate) > now {
            arrived -= 1;
        }
        prop_assert_eq!(schedule.backlog(MonoTime(START.0 + now)), arrived.saturating_sub(taken));
    }
}

#[test]
fn a_backlog_of_bytes_is_the_mean() {
    // 4 KiB at 4 MiB/s: 1024 a second.
    let schedule = constant(Rate::BytesPerSecond(4 << 20));
    let backlog = schedule.backlog(MonoTime(START.0 + 2_000_000_000));
    assert!(backlog.abs_diff(2048) <= 1, "{backlog}");
}

/// Gaps in nanoseconds; each is a floor of a sum, so that it is right to one.
fn poisson_gaps(rate: u64, count: usize) -> Vec<f64> {
    let mut schedule = Schedule::new(Rate::Iops(rate), Arrival::Poisson, 4096, seed());
    schedule.start(START);
    let mut last = START.0;
    (0..count)
        .map(|_| {
            // The first arrival is one gap after the start, too.
            let gap = schedule.due().0 - last;
            last = schedule.due().0;
            schedule.advance(4096);
            gap as f64
        })
        .collect()
}

#[test]
fn poisson_gaps_have_the_mean_and_variance_of_exponentials() {
    const COUNT: usize = 200_000;
    let gaps = poisson_gaps(1000, COUNT);
    let root = (COUNT as f64).sqrt();
    let mean = gaps.iter().sum::<f64>() / COUNT as f64;
    // The mean of an exponential distribution is its deviation; the variance of its variance is 8 mean^4.
    assert!((mean - 1e6).abs() < 5.0 * 1e6 / root, "mean {mean}");
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / COUNT as f64;
    assert!(
        (variance / 1e12 - 1.0).abs() < 5.0 * 8f64.sqrt() / root,
        "variance {variance}"
    );
    let lag: f64 = gaps
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    let correlation = lag / variance / COUNT as f64;
    assert!(correlation.abs() < 5.0 / root, "correlation {correlation}");
}

/// Kolmogorov and Smirnov: the largest distance between the gaps and the exponential distribution.
#[test]
fn poisson_gaps_are_exponential() {
    const COUNT: usize = 50_000;
    let mut gaps = poisson_gaps(500, COUNT);
    gaps.sort_unstable_by(f64::total_cmp);
    let n = COUNT as f64;
    let distance = (gaps.iter().enumerate())
        .map(|(index, gap)| {
            let expected = 1.0 - (-gap / 2e6).exp();
            let below = (expected - index as f64 / n).abs();
            below.max((expected - (index + 1) as f64 / n).abs())
        })
        .fold(0.0, f64::max);
    // P(D > d) is about 2 exp(-2 n d^2): 3 in 10 million.
    let limit = (f64::ln(2.0 / 3e-7) / (2.0 * n)).sqrt();
    assert!(distance < limit, "{distance} is over {limit}");
}

/// Gaps below a nanosecond add up, none is lost.
#[test]
fn fast_poisson_arrivals_keep_their_rate() {
    const COUNT: usize = 1_000_000;
    let total: f64 = poisson_gaps(3_000_000_000, COUNT).iter().sum();
    let expected = COUNT as f64 / 3.0;
    assert!(
        (total - expected).abs() < 5.0 * expected / (COUNT as f64).sqrt() + 1.0,
        "{total}"
    );
}
