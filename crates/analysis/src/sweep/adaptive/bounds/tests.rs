use super::*;
use crate::sweep::fixture::axes;
use crate::sweep::seen::seen;
use fathom_core::sweep::Outcome;
use fathom_testkit::make::sweep::{figures, nothing_yet, plan};

/// The bounds of `wanted` where these points are known.
fn bounds(known: &[(u32, f64)], wanted: u32) -> (f64, f64) {
    let plan = plan(axes());
    let mut results = nothing_yet(&plan);
    for &(point, iops) in known {
        results.points[point as usize].outcome = Outcome::Measured {
            repeats: vec![figures(plan.points[point as usize], iops)],
        };
    }
    let seen = seen(&results);
    let bounds = Known::new(&plan, &seen).bounds(wanted);
    (bounds.low, bounds.high)
}

fn close(found: (f64, f64), wanted: (f64, f64)) {
    assert!(
        (found.0 - wanted.0).abs() < 1e-6 && (found.1 - wanted.1).abs() < 1e-6,
        "{found:?}"
    );
}

// Points of random reads: 0 to 3 are 4 KiB at depth 1, 4, 16, 64; 4 to 7 are 16 KiB; 20 is 4 KiB, half reads.

#[test]
fn between_two_depths() {
    // No less than the shallower one; no more than it times the depth, nor than the deeper one.
    close(bounds(&[(0, 1000.0), (3, 3000.0)], 1), (1000.0, 3000.0));
    close(
        bounds(&[(0, 1000.0), (3, 30_000.0)], 1),
        (30_000.0 / 16.0, 4000.0),
    );
}

#[test]
fn beyond_what_is_known_there_is_no_end() {
    let (low, high) = bounds(&[(0, 1000.0)], 20);
    assert!(low <= 0.0 && high.is_infinite(), "another mix");
    close(bounds(&[(0, 1000.0)], 3), (1000.0, 64_000.0));
}

#[test]
fn larger_blocks_are_no_faster_and_move_no_less() {
    close(bounds(&[(4, 1000.0)], 0), (1000.0, 4000.0));
    close(bounds(&[(0, 1000.0)], 4), (250.0, 1000.0));
}

#[test]
fn a_limit_closes_from_above() {
    // Three points agree that 1000 IOPS are the limit.
    let known = [(1, 1000.0), (2, 1000.0), (3, 1000.0), (4, 900.0)];
    close(bounds(&known, 5), (900.0, 1000.0));
}

#[test]
fn a_broken_rule_bounds_nothing() {
    // More depth is slower here, so it says nothing of depth 16.
    let (low, _) = bounds(&[(0, 1000.0), (1, 3000.0), (3, 1500.0)], 2);
    assert!(low < 1500.0 / 3.9, "{low}");
}
