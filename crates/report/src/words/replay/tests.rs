use super::{kept, replay};
use fathom_core::run::{LatencySummary, ReplaySummary};
use fathom_core::units::Nanos;
use fathom_core::workload::{Fold, FoldKind, LeftOut, RecordFormat, Replay, ReplayOrder};

fn one() -> Replay {
    Replay {
        record: String::from("day.csv"),
        format: RecordFormat::Alibaba,
        order: ReplayOrder::Timed,
        speed_permille: 1_000,
        ios: [10, 0, 0, 0],
        bytes: [40_960, 0, 0],
        length: Nanos::from_secs(10),
        extent_bytes: 1 << 30,
        fold: None,
        left_out: Vec::new(),
        layout: fathom_core::workload::ReplayLayout::default(),
    }
}

#[test]
fn a_replay_is_one_line() {
    assert_eq!(
        replay(&one()),
        "replay of day.csv (Alibaba's CSV), at its recorded times"
    );
    let other = Replay {
        order: ReplayOrder::Dependent,
        speed_permille: 2_500,
        fold: Some(Fold {
            to_bytes: 1 << 20,
            how: FoldKind::Wrap,
        }),
        ..one()
    };
    assert_eq!(
        replay(&other),
        "replay of day.csv (Alibaba's CSV), each when what it waited for is done, 2.50 times as fast, wrapped at 1 MiB"
    );
}

#[test]
fn what_was_late_says_why() {
    let errors = LatencySummary {
        n: 1_000,
        max: 5_000_000,
        percentiles: vec![(50.0, 2_000), (99.0, 90_000)],
        ..LatencySummary::default()
    };
    let replay = ReplaySummary {
        start_error_ns: errors,
        late_from_ns: 1_000_000,
        late_ios: 7,
        late_no_room_ios: 4,
        late_reading_ios: 1,
        unsent_ios: 3,
        left_out: vec![LeftOut {
            what: String::from("writes, by --readonly"),
            ios: 12,
        }],
    };
    assert_eq!(
        kept(&replay),
        [
            "timing error (start less intended start): p50 2.00 µs, p99 90.0 µs, at most 5.00 ms",
            "7 I/Os (0.70 %) started 1.00 ms or more late: 4 since as many as may be were in flight, 1 since the record \
             was not read in time, 2 since the timer or the processor was late",
            "3 I/Os of the record not sent: the run ended before",
            "left out: 12 writes, by --readonly",
        ]
    );
}
