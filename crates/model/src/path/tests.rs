use super::{Path, Unit};
use crate::slices::Limiter;
use crate::spec::{BurstSpec, Limit, PathLimits, SliceSpec};
use crate::testing::{SECOND, SLICES, limits, seed};
use fathom_core::rng::Rng;

const KIB: u64 = 1024;

#[test]
fn what_is_not_known_or_off_holds_nothing() {
    for limit in [Limit::NotKnown, Limit::Off] {
        let mut path = Path::new(
            &PathLimits {
                iops: limit,
                bytes_per_second: limit,
                burst: None,
            },
            SLICES,
        );
        for now in 0..1000 {
            assert_eq!(path.take(now, 1 << 20, 1 << 40), now);
        }
        assert_eq!(path.held_ns(Unit::Iops) + path.held_ns(Unit::Bytes), 0);
    }
}

/// Small I/Os that waited behind a large one do not all come at once: both limits hold at the moment of release.
#[test]
fn neither_limit_is_exceeded_while_the_other_one_holds() {
    let seed = seed();
    for case in 0..100 {
        let mut rng = Rng::stream(seed, case);
        // Enough bytes for several times as many small I/Os as are allowed.
        let (iops, rate) = (100 + rng.below(900), (10 + rng.below(40)) << 20);
        let mut path = Path::new(&limits(iops, rate), SLICES);
        let (mut now, mut releases) = (0, Vec::new());
        for _ in 0..3000 {
            now += rng.below(2 * SECOND / iops);
            let large = rng.below(500) == 0;
            let bytes = if large { 32 << 20 } else { 4 * KIB };
            let units = bytes.div_ceil(256 * KIB);
            let release = path.take(now, units, bytes);
            assert!(release >= now);
            releases.push((release, units, bytes));
        }
        assert!(
            releases.is_sorted_by_key(|(at, ..)| *at),
            "first come, first served"
        );
        for second in 0..releases[2999].0 / SECOND {
            let mut sums = (0, 0);
            for &(at, units, bytes) in &releases {
                if at / SECOND == second {
                    sums = (sums.0 + units, sums.1 + bytes);
                }
            }
            let most = (iops + 127, rate + (32 << 20));
            assert!(
                sums.0 <= most.0 && sums.1 <= most.1,
                "seed {seed}, case {case}: {sums:?} of {most:?} in second {second}"
            );
        }
    }
}

/// The rate of whichever limit binds, exactly, and its name on all of the waiting.
#[test]
fn the_limit_that_binds_is_the_one_that_holds() {
    for (bytes, per_second, unit) in [
        (4 * KIB, 1122.0, Unit::Iops),
        (512 * KIB, 127.5e6 / 524_288.0, Unit::Bytes),
    ] {
        let slices = SliceSpec {
            factor_permille: 1020,
            ..SLICES
        };
        let mut path = Path::new(&limits(1100, 125_000_000), slices);
        let units = bytes.div_ceil(256 * KIB);
        // 32 at a time, each anew once it is let through.
        let mut queue = [0u64; 32];
        let (mut count, mut waited) = (0u64, 0);
        let mut at = 0;
        while queue[at] < 1000 * SECOND {
            let release = path.take(queue[at], units, bytes);
            waited += release - queue[at];
            queue[at] = release;
            count += 1;
            at = (at + 1) % 32;
        }
        let rate = count as f64 / 1000.0;
        assert!(
            (rate / per_second - 1.0).abs() < 0.001,
            "{rate}, not {per_second}"
        );
        assert_eq!(path.held_ns(unit), waited);
        let other = if unit == Unit::Iops {
            Unit::Bytes
        } else {
            Unit::Iops
        };
        assert_eq!(path.held_ns(other), 0);
    }
}

/// One limit after the other, each time: who comes first waits for each, and all are told of the last.
struct OneByOne {
    limits: Vec<(Unit, Limiter, u64)>,
    last_ns: u64,
    binding: usize,
}

impl OneByOne {
    fn take(&mut self, now: u64, units: u64, bytes: u64) -> u64 {
        let cost = |unit: Unit| if unit == Unit::Iops { units } else { bytes };
        let asked = now.max(self.last_ns);
        self.limits[self.binding].2 += asked - now;
        let mut time = asked;
        for (at, (unit, limiter, held)) in self.limits.iter_mut().enumerate() {
            let release = limiter.take(time, cost(*unit));
            if release > time {
                *held += release - time;
                self.binding = at;
                time = release;
            }
        }
        if time > asked {
            for (unit, limiter, _) in &mut self.limits {
                limiter.spend_at(time, cost(*unit));
            }
        }
        self.last_ns = time;
        time
    }
}

#[test]
fn agrees_with_asking_each_limit_each_time() {
    let seed = seed();
    for case in 0..200 {
        let mut rng = Rng::stream(seed, case);
        let (iops, rate) = (100 + rng.below(3000), (1 + rng.below(60)) << 20);
        let (more, faster) = (iops * (1 + rng.below(4)), rate * (1 + rng.below(4)));
        let (seconds, level) = (rng.below(5), rng.below(101) as u8);
        let spec = PathLimits {
            burst: Some(BurstSpec {
                iops: Limit::At(more),
                bytes_per_second: Limit::At(faster),
                full_seconds: seconds,
                level_percent: level,
                iops_credit: None,
                bytes_credit: None,
            }),
            ..limits(iops, rate)
        };
        let mut path = Path::new(&spec, SLICES);
        let mut naive = OneByOne {
            limits: Vec::new(),
            last_ns: 0,
            binding: 0,
        };
        for (unit, base, burst) in [(Unit::Iops, iops, more), (Unit::Bytes, rate, faster)] {
            if burst == base {
                naive.limits.push((unit, Limiter::new(base, SLICES), 0));
                continue;
            }
            let credit = Limiter::with_credit(base, (burst - base) * seconds, level, SLICES);
            naive.limits.push((unit, Limiter::new(burst, SLICES), 0));
            naive.limits.push((unit, credit, 0));
        }
        let mut now = 0;
        for io in 0..4000 {
            now += match rng.below(1000) {
                0 => rng.below(3 * SECOND),
                1..400 => 0,
                _ => rng.below(3 * SECOND / iops),
            };
            let bytes = [512, 4 * KIB, 64 * KIB, 1024 * KIB][rng.below(4) as usize];
            let units = bytes.div_ceil(256 * KIB);
            let release = path.take(now, units, bytes);
            assert_eq!(
                release,
                naive.take(now, units, bytes),
                "seed {seed}, case {case}, I/O {io}"
            );
            for unit in [Unit::Iops, Unit::Bytes] {
                let held = naive.limits.iter().filter(|limit| limit.0 == unit);
                let held: u64 = held.map(|limit| limit.2).sum();
                assert_eq!(path.held_ns(unit), held, "seed {seed}, case {case}, I/O {io}");
            }
        }
    }
}

/// A full credit of 30 minutes at three times the rate: asked for more than that without a pause, it lasts so long.
#[test]
fn a_credit_that_runs_out_says_when_and_both_rates() {
    let spec = |level_percent| PathLimits {
        burst: Some(BurstSpec {
            iops: Limit::At(300),
            bytes_per_second: Limit::Off,
            full_seconds: 60,
            level_percent,
            iops_credit: None,
            bytes_credit: None,
        }),
        ..limits(100, 1 << 40)
    };
    let mut path = Path::new(&spec(100), SLICES);
    assert_eq!(path.spent(Unit::Iops), None);
    let mut now = 7 * SECOND;
    let begin = now;
    while now < begin + 50 * SECOND {
        now = path.take(now, 1, 4 * KIB);
    }
    assert_eq!(path.spent(Unit::Iops), None, "not yet");
    while now < begin + 120 * SECOND {
        now = path.take(now, 1, 4 * KIB);
    }
    let spent = path.spent(Unit::Iops).expect("run out");
    let seconds = spent.lasted_ns as f64 / 1e9;
    assert!((59.0..62.0).contains(&seconds), "{spent:?}");
    let factor = SLICES.factor_permille as f64 / 1000.0;
    assert!(
        (spent.rate_before / (300.0 * factor) - 1.0).abs() < 0.01,
        "{spent:?}"
    );
    assert!(
        (spent.rate_after / (100.0 * factor) - 1.0).abs() < 0.01,
        "{spent:?}"
    );
    assert_eq!(path.spent(Unit::Bytes), None);
    // What was empty from the start has not run out.
    let mut path = Path::new(&spec(0), SLICES);
    let mut now = 0;
    while now < 20 * SECOND {
        now = path.take(now, 1, 4 * KIB);
    }
    assert_eq!(path.spent(Unit::Iops), None);
}

/// What is left of a credit is what was given, less what was used, and what came back in a pause: however it is released.
#[test]
fn what_is_left_of_a_credit_is_told() {
    let evenly = SliceSpec {
        slice_ns: 0,
        factor_permille: 1000,
    };
    let slices = SliceSpec {
        slice_ns: SECOND / 10,
        factor_permille: 1000,
    };
    for release in [evenly, slices] {
        let spec = PathLimits {
            iops: Limit::At(100),
            bytes_per_second: Limit::At(1 << 30),
            burst: Some(BurstSpec {
                iops: Limit::At(1000),
                bytes_per_second: Limit::NotKnown,
                full_seconds: 10,
                level_percent: 100,
                iops_credit: Some(9000),
                bytes_credit: None,
            }),
        };
        let mut path = Path::new(&spec, release);
        assert_eq!(path.credit(Unit::Bytes, 0), None);
        let (left, full) = path.credit(Unit::Iops, 0).expect("credit");
        assert!(
            (full - 9000.0).abs() < 1.0 && (left - full).abs() < 1.0,
            "{left} of {full}"
        );
        // Ten seconds at 400 I/Os a second: 300 of them are not earned.
        for io in 0..4000 {
            path.take(io * SECOND / 400, 1, 4 * KIB);
        }
        let (left, _) = path.credit(Unit::Iops, 10 * SECOND).expect("credit");
        assert!((left - 6000.0).abs() < 120.0, "{left} after ten seconds");
        // Twenty seconds of rest bring back 2000, a long one all.
        let (left, _) = path.credit(Unit::Iops, 30 * SECOND).expect("credit");
        assert!((left - 8000.0).abs() < 120.0, "{left} after a rest");
        let (left, full) = path.credit(Unit::Iops, 100 * SECOND).expect("credit");
        assert!((left - full).abs() < 1e-6);
    }
}
