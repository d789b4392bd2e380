use super::{Target, Verdict};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::LatencyTarget;

/// The depth found on a disk whose latency is its depth in milliseconds.
fn found(limit_ms: u64, most: u32, percentile: f64) -> u32 {
    let wanted = LatencyTarget {
        latency: Nanos::from_millis(limit_ms),
        window: Nanos::from_millis(100),
        percentile,
        keeps_running: false,
    };
    let mut target = Target::new(wanted, most);
    let mut free: Vec<u32> = (0..most).collect();
    target.start(MonoTime(0), &mut free);
    let mut now = 0;
    for _ in 0..10_000 {
        now += 1_000_000;
        let lat_ns = u64::from(target.depth()) * 1_000_000;
        if target.completed(MonoTime(now), lat_ns, false) == Verdict::Found {
            return target.depth();
        }
    }
    panic!("no depth was found");
}

#[test]
fn the_deepest_that_keeps_the_latency_is_found() {
    for most in [1, 2, 7, 32, 100] {
        for limit in 1..40 {
            for percentile in [90.0, 100.0] {
                let expected = u32::try_from(limit).expect("small").clamp(1, most);
                assert_eq!(
                    found(limit, most, percentile),
                    expected,
                    "{limit} ms, at most {most}"
                );
            }
        }
    }
}

#[test]
fn no_more_slots_are_free_than_the_depth() {
    let wanted = LatencyTarget {
        latency: Nanos::from_millis(1),
        window: Nanos::from_millis(1),
        percentile: 50.0,
        keeps_running: false,
    };
    let mut target = Target::new(wanted, 8);
    let mut free: Vec<u32> = (0..8).collect();
    target.start(MonoTime(0), &mut free);
    assert_eq!(free.len(), 1);
    free.clear();
    target.completed(MonoTime(2_000_000), 0, false);
    assert_eq!(target.depth(), 2);
    target.release(1, &mut free);
    assert_eq!(free.len(), 1);
    target.give_back(0, 1, &mut free);
    assert_eq!(free.len(), 1, "one is in flight, one free");
}
