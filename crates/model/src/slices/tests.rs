use super::{Limiter, MILLI};
use crate::path::Path;
use crate::spec::{BurstSpec, Limit, PathLimits, SliceSpec};
use crate::testing::{SECOND, SLICES, seed};
use fathom_core::rng::Rng;
use proptest::prelude::*;
use std::collections::VecDeque;

/// The same, slice by slice, with a queue: when each of `asked` (time, cost) is released.
fn reference(limiter: &Limiter, asked: &[(u64, u64)]) -> Vec<u64> {
    let (share, keeps, slice_ns) = (limiter.share, limiter.keeps, limiter.slice_ns);
    let mut tokens = limiter.left;
    let mut queue: VecDeque<(usize, i64)> = VecDeque::new();
    let mut released = vec![0; asked.len()];
    let mut next = 0;
    for slice in 0u64.. {
        let (start, end) = (slice * slice_ns, (slice + 1) * slice_ns);
        if slice > 0 {
            tokens += share;
        }
        if queue.is_empty() {
            tokens = tokens.min(keeps);
        }
        while let Some(&(at, cost)) = queue.front()
            && cost <= tokens
        {
            queue.pop_front();
            tokens -= cost;
            released[at] = start;
        }
        while next < asked.len() && asked[next].0 < end {
            let (time, cost) = (asked[next].0, asked[next].1 as i64 * MILLI);
            if queue.is_empty() && cost <= tokens {
                tokens -= cost;
                released[next] = time;
            } else {
                queue.push_back((next, cost));
            }
            next += 1;
        }
        if next == asked.len() && queue.is_empty() {
            return released;
        }
    }
    released
}

proptest! {
    #[test]
    fn agrees_with_a_queue_slice_by_slice(
        rate in 1u64..20_000,
        slice_ms in 1u64..200,
        permille in 1u64..3000,
        credit in prop::option::of((2u64..10, 1u64..20, 0u8..=100)),
        asks in prop::collection::vec((0u64..300_000_000, 0u32..24, 1u64..4000), 1..200),
    ) {
        let slices = SliceSpec { slice_ns: slice_ms * 1_000_000, factor_permille: permille };
        let mut limiter = match credit {
            None => Limiter::new(rate, slices),
            Some((times, seconds, level)) => Limiter::with_credit(rate, (rate * times - rate) * seconds, level, slices),
        };
        // Costs of up to a few slices; gaps from none at all to several slices.
        let most = (limiter.share / MILLI).max(1) as u64 * 5;
        let mut now = 0;
        let mut asked = Vec::new();
        for (gap, shift, cost) in asks {
            now += gap >> shift;
            asked.push((now, cost % most + 1));
        }
        let expected = reference(&limiter, &asked);
        for (&(time, cost), expected) in asked.iter().zip(expected) {
            prop_assert_eq!(limiter.take(time, cost), expected);
        }
    }
}

/// Whoever asks at random, no whole second (of slices) has more than the cap, no second at all more than one share
/// above it; what is left of large costs counts for the next second.
#[test]
fn no_second_has_more_than_the_cap() {
    let seed = seed();
    for case in 0..200 {
        let mut rng = Rng::stream(seed, case);
        let (rate, largest) = (100 + rng.below(5000), 1 + rng.below(40));
        let slices = SliceSpec {
            factor_permille: 1020,
            ..SLICES
        };
        let mut limiter = Limiter::new(rate, slices);
        let share = limiter.share as u64;
        let (mut now, mut releases) = (0, Vec::new());
        for _ in 0..3000 {
            // Bursts and pauses.
            now += if rng.percent(10) {
                rng.below(SECOND / 2)
            } else {
                rng.below(200_000)
            };
            let cost = 1 + rng.below(largest);
            releases.push((limiter.take(now, cost), cost * MILLI as u64));
        }
        let sum_of = |from: u64| {
            let within = releases
                .iter()
                .filter(|(at, _)| (from..from + SECOND).contains(at));
            within.map(|(_, cost)| cost).sum::<u64>()
        };
        let carried = largest * MILLI as u64 - 1;
        for second in 0..releases[2999].0 / SECOND {
            let sum = sum_of(second * SECOND);
            assert!(
                sum <= share * 20 + carried,
                "seed {seed}, case {case}: {sum} in second {second}"
            );
            let from = second * SECOND + rng.below(SECOND);
            let sum = sum_of(from);
            assert!(
                sum <= share * 21 + carried,
                "seed {seed}, case {case}: {sum} from {from}"
            );
        }
    }
}

/// A limit that somebody always waits for releases its rate, whatever the sizes: remainders are carried.
#[test]
fn work_is_conserved_whatever_the_costs() {
    let seed = seed();
    for (rate, largest) in [
        (1100u64, 1u64),
        (1100, 7),
        (1100, 500),
        (125_000_000, 1 << 20),
        (7, 3),
    ] {
        let mut rng = Rng::new(seed);
        let slices = SliceSpec {
            factor_permille: 1020,
            ..SLICES
        };
        let mut limiter = Limiter::new(rate, slices);
        let (mut released, mut now) = (0, 0);
        while now < 1000 * SECOND {
            let cost = largest / 2 + 1 + rng.below(largest.div_ceil(2));
            now = limiter.take(now, cost);
            released += cost;
        }
        // The share of the slice at 0 comes on top; the last one was released just after the end.
        let expected = rate * 1020 + rate * 51 / 1000;
        let slack = largest + rate * 51 / 1000 + 2;
        assert!(
            released.abs_diff(expected) <= slack,
            "seed {seed}: {released} of {expected} at {rate}"
        );
    }
}

#[test]
fn an_idle_limit_keeps_one_share() {
    let mut limiter = Limiter::new(1000, SLICES);
    let at = 3600 * SECOND + 1;
    let releases: Vec<u64> = (0..120).map(|_| limiter.take(at, 1)).collect();
    assert_eq!(releases[49], at);
    assert_eq!(releases[50], 3600 * SECOND + SLICES.slice_ns);
    assert_eq!(releases[100], 3600 * SECOND + 2 * SLICES.slice_ns);
}

/// A P2: 120 IOPS, 3500 for half an hour, and 2 % more of each.
fn p2(level_percent: u8) -> Path {
    let limits = PathLimits {
        iops: Limit::At(120),
        bytes_per_second: Limit::Off,
        burst: Some(BurstSpec {
            iops: Limit::At(3500),
            bytes_per_second: Limit::NotKnown,
            full_seconds: 1800,
            level_percent,
            iops_credit: None,
            bytes_credit: None,
        }),
    };
    let slices = SliceSpec {
        factor_permille: 1020,
        ..SLICES
    };
    Path::new(&limits, slices)
}

/// How many are let through from `start` to `end` when there is always one more waiting.
fn greedy(path: &mut Path, start: u64, end: u64) -> u64 {
    let (mut now, mut count) = (start, 0);
    loop {
        now = path.take(now, 1, 4096);
        if now >= end {
            return count;
        }
        count += 1;
    }
}

fn near(found: u64, expected: f64, slack: f64) {
    assert!(
        (found as f64 - expected).abs() <= slack,
        "{found}, not {expected}"
    );
}

#[test]
fn a_full_bucket_lasts_half_an_hour() {
    let mut full = p2(100);
    near(greedy(&mut full, 0, 1800 * SECOND), 1800.0 * 3570.0, 200.0);
    near(
        greedy(&mut full, 1801 * SECOND, 2801 * SECOND),
        122.4 * 1000.0,
        200.0,
    );
    let mut half = p2(50);
    near(greedy(&mut half, 0, 900 * SECOND), 900.0 * 3570.0, 200.0);
    near(
        greedy(&mut half, 901 * SECOND, 1001 * SECOND),
        122.4 * 100.0,
        200.0,
    );
}

#[test]
fn an_empty_bucket_gives_the_base_rate_and_fills_at_it() {
    let mut empty = p2(0);
    near(greedy(&mut empty, 0, 100 * SECOND), 12_240.0, 10.0);
    // 1000 s of rest earn 122 400 I/Os: enough for 122400 / (3570 - 122.4) = 35.5 s at 3570 a second.
    let start = 1100 * SECOND;
    near(
        greedy(&mut empty, start, start + 35 * SECOND),
        35.0 * 3570.0,
        200.0,
    );
    let mut earned = p2(0);
    near(
        greedy(&mut earned, 1000 * SECOND, 1100 * SECOND),
        122_400.0 + 12_240.0,
        200.0,
    );
    // However long the rest, no more than full.
    let mut rested = p2(0);
    let start = 400 * 24 * 3600 * SECOND;
    near(
        greedy(&mut rested, start, start + 2000 * SECOND),
        1800.0 * 3570.0 + 200.0 * 122.4,
        400.0,
    );
}
