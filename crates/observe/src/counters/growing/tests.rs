use super::*;
use proptest::prelude::*;

#[test]
fn the_first_reading_is_the_total() {
    assert_eq!(Growing::default().read(70), 70);
    assert_eq!(Growing::default().read(0), 0);
}

#[test]
fn a_wrap_of_32_bits_is_undone_however_often() {
    let mut counter = Growing::default();
    let mut real = ROUND - 3_000;
    for _ in 0..40 {
        assert_eq!(counter.read_32_bits(real % ROUND), real);
        real += 400_000_000;
    }
}

#[test]
fn a_counter_that_started_again_goes_on() {
    let mut counter = Growing::default();
    assert_eq!(counter.read(1_000), 1_000);
    assert_eq!(counter.read(20), 1_020);
    assert_eq!(counter.read(25), 1_025);
    let mut short = Growing::default();
    assert_eq!(short.read_32_bits(1_000), 1_000);
    assert_eq!(short.read_32_bits(10), 1_010);
}

#[test]
fn a_small_step_back_is_waited_out() {
    let mut counter = Growing::default();
    assert_eq!(counter.read(1_000), 1_000);
    assert_eq!(counter.read(995), 1_000);
    assert_eq!(counter.read(1_003), 1_003);
}

proptest! {
    #[test]
    fn no_reading_makes_it_go_back(readings in prop::collection::vec(any::<u64>(), 1..50), wraps: bool) {
        let mut counter = Growing::default();
        let mut before = 0;
        for reading in readings {
            let total = counter.step(reading, wraps);
            prop_assert!(total >= before);
            before = total;
        }
    }

    #[test]
    fn growth_is_counted_exactly(steps in prop::collection::vec(0_u64..1 << 29, 1..50), start in 0_u64..ROUND) {
        let (mut wrapped, mut wide) = (Growing::default(), Growing::default());
        let mut real = start;
        for step in steps {
            prop_assert_eq!(wrapped.read_32_bits(real % ROUND), real);
            prop_assert_eq!(wide.read(real), real);
            real += step;
        }
    }
}
