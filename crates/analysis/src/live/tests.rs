use super::{Evidence, LiveCause, Usual};
use fathom_core::backend::Op;
use fathom_core::run::LatencySummary;

const MS: u64 = 1_000_000;

fn lat(p999: u64, max: u64) -> LatencySummary {
    LatencySummary {
        n: 1000,
        min: 1,
        mean: 1.0,
        stddev: 0.0,
        max,
        percentiles: vec![(50.0, 1), (99.9, p999)],
    }
}

#[test]
fn what_is_far_slower_than_before_is_told_once_enough_came_before() {
    let mut usual = Usual::default();
    let nothing = Evidence::default();
    for second in 0..5 {
        // Long ones at the beginning are nothing to go by.
        let max = if second == 1 { 500 * MS } else { 2 * MS };
        assert_eq!(usual.judge(0, Op::Read, &lat(MS, max), &nothing), None);
    }
    let found = usual
        .judge(0, Op::Read, &lat(3 * MS, 40 * MS), &nothing)
        .expect("far slower");
    assert_eq!((found.lat_ns_usual, found.lat_ns_max), (MS, 40 * MS));
    assert_eq!(found.cause, LiveCause::NotSeen);
    assert_eq!(usual.judge(0, Op::Read, &lat(MS, 7 * MS), &nothing), None);
    // Another direction has a usual of its own.
    assert_eq!(usual.judge(0, Op::Write, &lat(3 * MS, 40 * MS), &nothing), None);
    // No I/O is no disturbance.
    assert_eq!(
        usual.judge(0, Op::Read, &LatencySummary::default(), &nothing),
        None
    );
}

#[test]
fn what_is_fast_on_the_whole_is_not_disturbed_by_microseconds() {
    let mut usual = Usual::default();
    for _ in 0..10 {
        usual.judge(0, Op::Read, &lat(20_000, 30_000), &Evidence::default());
    }
    assert_eq!(
        usual.judge(0, Op::Read, &lat(20_000, 900_000), &Evidence::default()),
        None
    );
    assert!(
        usual
            .judge(0, Op::Read, &lat(20_000, 1_100_000), &Evidence::default())
            .is_some()
    );
}

#[test]
fn a_slower_disk_becomes_the_usual() {
    let mut usual = Usual::default();
    for _ in 0..60 {
        usual.judge(0, Op::Read, &lat(MS, 2 * MS), &Evidence::default());
    }
    let told = (0..60).filter(|_| {
        usual
            .judge(0, Op::Read, &lat(20 * MS, 40 * MS), &Evidence::default())
            .is_some()
    });
    assert_eq!(told.count(), 30);
}

#[test]
fn counters_that_speak_clearly_name_the_cause() {
    let none = Evidence::default();
    let cases = [
        (
            Evidence {
                of_limit: 0.98,
                ..none
            },
            LiveCause::AtLimit,
        ),
        (
            Evidence {
                of_limit: 0.9,
                ..none
            },
            LiveCause::NotSeen,
        ),
        (
            Evidence {
                throttled: 0.3,
                steal: 0.2,
                ..none
            },
            LiveCause::Quota,
        ),
        (
            Evidence {
                steal: 0.2,
                cpu_waiting: 0.9,
                ..none
            },
            LiveCause::Steal,
        ),
        (
            Evidence {
                memory_stalled: 0.1,
                of_limit: 1.0,
                ..none
            },
            LiveCause::Memory,
        ),
        (
            Evidence {
                others: 0.5,
                cpu_waiting: 0.5,
                ..none
            },
            LiveCause::OthersIo,
        ),
        (
            Evidence {
                cpu_waiting: 0.5,
                ..none
            },
            LiveCause::Cpu,
        ),
    ];
    for (evidence, cause) in cases {
        assert_eq!(evidence.cause(), cause, "{evidence:?}");
    }
    let mut names: Vec<&str> = LiveCause::ALL.iter().map(|cause| cause.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), LiveCause::ALL.len());
}
