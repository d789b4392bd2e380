use super::observe_fleets;
use crate::compare::figure::{Quantity, Tail};
use crate::compare::judge::{Settings, Verdict, judge};
use crate::fleet::{Fleet, Limit, Total};
use fathom_core::histogram::Histogram;

/// All members together: so many reads a second of so long each.
fn fleet(iops: f64, ios: u64, lat_ns: u64) -> Fleet {
    let mut histogram = Histogram::new();
    (0..ios).for_each(|_| histogram.record(lat_ns));
    Fleet {
        members: Vec::new(),
        total: vec![Total {
            op: "read",
            ios,
            bytes: ios * 4096,
            iops,
            bytes_per_second: iops * 4096.0,
            lat_ns: histogram.summary(&[50.0, 95.0, 99.0, 99.9]),
        }],
        limit: Limit::Steady,
        stragglers: Vec::new(),
        limited: Vec::new(),
    }
}

#[test]
fn a_moment_is_a_repeat_and_what_all_had_in_it_its_figure() {
    let slow: Vec<Fleet> = (0..5)
        .map(|n| fleet(1_000.0 + f64::from(n), 2_000, 4_000_000))
        .collect();
    let fast: Vec<Fleet> = (0..5)
        .map(|n| fleet(2_000.0 + f64::from(n), 2_000, 2_000_000))
        .collect();
    let side = |fleets: &'static [Fleet], first: u64| -> Vec<super::Repeat<'static>> {
        (0..).map(|n| Some(first + 2 * n)).zip(fleets).collect()
    };
    let (slow, fast): (&'static [Fleet], &'static [Fleet]) = (slow.leak(), fast.leak());
    let (a, b) = (side(slow, 0), side(fast, 1));
    let observed = observe_fleets([&a, &b]);
    let quantities: Vec<Quantity> = observed.iter().map(|one| one.figure.quantity).collect();
    // Of 2,000 I/Os p99.9 is decided by two: it is no figure.
    assert_eq!(
        quantities,
        [
            Quantity::Iops,
            Quantity::BytesPerSecond,
            Quantity::LatencyMean,
            Quantity::Latency(Tail::P50),
            Quantity::Latency(Tail::P99)
        ]
    );
    assert_eq!(observed[0].sides[0].len(), 5);
    let judged = judge(observed, Settings { margin: 0.1 });
    assert_eq!(judged[0].verdict, Verdict::Differs);
    // One moment a side says nothing of the next, however many took part in it.
    let once = judge(observe_fleets([&a[..1], &b[..1]]), Settings { margin: 0.1 });
    assert!(
        matches!(once[0].verdict, Verdict::TooFew { .. }),
        "{:?}",
        once[0].verdict
    );
    assert!(observe_fleets([&a, &[]]).is_empty());
}
