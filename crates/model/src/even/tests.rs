use super::*;
use crate::testing::SECOND;

const NOMINAL: SliceSpec = SliceSpec {
    slice_ns: 0,
    factor_permille: 1000,
};

fn take(limit: &mut Even, now_ns: u64, cost: u64) -> u64 {
    let time = limit.earliest_ns(now_ns);
    limit.take(time, cost);
    time
}

#[test]
fn at_the_limit_ios_are_as_far_apart_as_it_says() {
    let mut limit = Even::new(1_000, NOMINAL);
    let times: Vec<u64> = (0..4).map(|_| take(&mut limit, 0, 1)).collect();
    assert_eq!(times, [0, 1_000_000, 2_000_000, 3_000_000]);
    // What was not used is lost.
    assert_eq!(take(&mut limit, SECOND, 1), SECOND);
    assert_eq!(take(&mut limit, SECOND, 1), SECOND + 1_000_000);
}

#[test]
fn no_rate_drifts() {
    for (rate, cost) in [(3_070, 1), (131_072_000, 4_096), (4_000_000_000, 512), (7, 1)] {
        let mut limit = Even::new(rate, NOMINAL);
        let count = 100_000u32;
        let mut last = 0;
        for _ in 0..count {
            last = take(&mut limit, 0, cost);
        }
        let exact = f64::from(count - 1) * cost as f64 * 1e9 / rate as f64;
        assert!(
            (last as f64 - exact).abs() / exact < 1e-5,
            "{rate}: {last} {exact}"
        );
    }
}

#[test]
fn a_bucket_lasts_and_fills_as_reckoned() {
    // 100 a second above 10 of which a bucket of 900 gives 90: 10 seconds.
    let mut bucket = Even::with_credit(10, 900, 100, NOMINAL);
    let mut time = 0;
    let mut released = 0;
    while bucket.earliest_ns(time) == time {
        bucket.take(time, 1);
        released += 1;
        time += SECOND / 100;
    }
    assert!((1_000..=1_002).contains(&released), "{released}");
    // Empty: the rate alone.
    let first = take(&mut bucket, time, 1);
    assert_eq!(take(&mut bucket, time, 1) - first, SECOND / 10);
    // Idle for 90 seconds, it is full again.
    time = first + 91 * SECOND;
    let burst = (0..900).filter(|_| take(&mut bucket, time, 1) == time).count();
    assert_eq!(burst, 900);
    let mut empty = Even::with_credit(10, 900, 0, NOMINAL);
    assert_eq!((take(&mut empty, 0, 1), take(&mut empty, 0, 1)), (0, SECOND / 10));
}

#[test]
fn a_bucket_is_no_fuller_than_another() {
    // Of both a tenth is spent each second; the second one is told of the first one only.
    let mut first = Even::with_credit(10, 900, 50, NOMINAL);
    let mut second = Even::with_credit(1_000, 9_000, 100, NOMINAL);
    second.no_fuller_than(&first, 0);
    assert!(
        second.credit_left(0).abs_diff(4_500) <= 1,
        "{}",
        second.credit_left(0)
    );
    // One that is emptier stays so.
    second.take(0, 4_000);
    second.no_fuller_than(&first, 0);
    assert!(
        second.credit_left(0).abs_diff(500) <= 1,
        "{}",
        second.credit_left(0)
    );
    // Whoever waits for the first one has none of the second.
    first.take(0, 900);
    second.no_fuller_than(&first, 0);
    assert_eq!(second.credit_left(0), 0);
    assert_eq!(second.earliest_ns(SECOND / 1_000), SECOND / 1_000);
    // The first one fills within 90 s, the second one within 9.
    let later = 135 * SECOND;
    second.no_fuller_than(&first, later);
    assert!(
        second.credit_left(later).abs_diff(9_000) <= 1,
        "{}",
        second.credit_left(later)
    );
}
