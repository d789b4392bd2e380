use super::{ClockOffset, Release, skew};
use proptest::{prop_assert, proptest};

#[test]
fn a_clock_is_as_far_ahead_as_the_answers_way_leaves_open() {
    // It was asked at 1,000 and answered at 1,400; the other clock is 5,000 ahead and was read at 1,100.
    let clock = ClockOffset::of(1_000, 6_100, 1_400);
    assert_eq!(clock.uncertainty_ns, 200);
    assert!(clock.offset_ns.abs_diff(5_000) <= clock.uncertainty_ns);
    assert_eq!(clock.here(clock.there(777_777)), 777_777);
    let behind = ClockOffset::of(10_000, 3_000, 10_200);
    assert_eq!(behind.offset_ns, -7_100);
    assert_eq!(behind.here(behind.there(20_000)), 20_000);
}

proptest! {
    #[test]
    fn the_true_offset_is_always_within_what_is_left_open(
        asked in 1_000_000_000_u64..2_000_000_000,
        there in 0..1_000_000_u64,
        back in 0..1_000_000_u64,
        ahead in -900_000_000_i64..900_000_000,
    ) {
        let said = (asked + there).checked_add_signed(ahead).expect("a time");
        let clock = ClockOffset::of(asked, said, asked + there + back);
        prop_assert!(clock.offset_ns.abs_diff(ahead) <= clock.uncertainty_ns, "{clock:?}");
    }
}

#[test]
fn the_skew_is_from_the_first_to_the_last() {
    let clock = |uncertainty_ns| ClockOffset {
        offset_ns: 0,
        uncertainty_ns,
    };
    let release = |at_unix_ns, uncertainty_ns| Release {
        clock: clock(uncertainty_ns),
        due_unix_ns: 100,
        at_unix_ns,
    };
    assert_eq!(
        skew(&[release(105, 1), release(101, 3), release(130, 2)]),
        Some((29, 6))
    );
    assert_eq!(skew(&[]), None);
}
