use super::{Path, Unit};
use crate::spec::{Limit, PathLimits, SliceSpec};
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
