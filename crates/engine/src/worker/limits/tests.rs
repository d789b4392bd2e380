use super::Limits;
use fathom_core::backend::{Op, Request};
use fathom_core::units::Nanos;
use fathom_core::workload::{Rate, Stops};

const MS: u64 = 1_000_000;

fn request(op: Op) -> Request {
    Request {
        slot: 0,
        op,
        file: 0,
        offset: 0,
        len: 4096,
    }
}

#[test]
fn an_io_that_takes_too_long_is_told() {
    let stops = Stops {
        max_latency: [None, Some(Nanos::from_millis(5)), None],
        ..Stops::default()
    };
    let mut limits = Limits::new(&stops).expect("limits");
    limits.start(0);
    assert_eq!(limits.completed(&request(Op::Write), 5 * MS, 9 * MS), None);
    assert_eq!(limits.completed(&request(Op::Read), 50 * MS, 60 * MS), None);
    assert!(
        limits
            .completed(&request(Op::Write), 5 * MS + 1, 70 * MS)
            .is_some()
    );
    assert!(Limits::new(&Stops::default()).is_none());
}

/// 100 I/Os a second are asked for.
#[test]
fn a_rate_is_judged_after_two_seconds_and_then_each_cycle() {
    let stops = Stops {
        rate_min: [Some(Rate::Iops(100)), None, None],
        rate_cycle: Nanos::from_millis(500),
        ..Stops::default()
    };
    // An I/O every 10 ms keeps it, one every 11 ms does not.
    for (gap_ms, broken_at_ms) in [(10, None), (11, Some(2002))] {
        let mut limits = Limits::new(&stops).expect("limits");
        limits.start(0);
        let broken = (1..1000)
            .map(|k| k * gap_ms)
            .find(|ms| limits.completed(&request(Op::Read), MS, ms * MS).is_some());
        assert_eq!(broken, broken_at_ms, "every {gap_ms} ms");
    }
}
