use super::{compare, distances};
use crate::compare::restores::{ACS, DISK};

/// As worked out in `docs/compare.md`: 2.85 times as much, and yet anything from 0.60 to 11.1 times.
#[test]
fn the_spread_of_ten_restores_is_hardly_known() {
    let found = compare(&ACS, &DISK).expect("five a side");
    assert!((found.ratio - 2.85).abs() < 0.01, "{found:?}");
    assert!((found.low - 0.60).abs() < 0.01, "{found:?}");
    assert!((found.high - 11.1).abs() < 0.1, "{found:?}");
    assert!((found.p - 0.17).abs() < 0.01, "{found:?}");
    assert!((found.p_permuted - 0.14).abs() < 0.01, "{found:?}");
}

#[test]
fn distances_that_say_nothing_are_left_out() {
    assert_eq!(distances(&[5.0, 1.0, 3.0]), [2.0, 2.0]);
    let even = distances(&[1.0, 2.0, 4.0, 8.0]);
    let expected = [2_f64.sqrt(), 2.0, 5.0];
    for (found, expected) in even.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{even:?}");
    }
    assert_eq!(even.len(), 3);
}

#[test]
fn nothing_is_said_where_nothing_varies() {
    assert_eq!(compare(&[1.0; 5], &ACS), None);
    assert_eq!(
        compare(&[1.0, 1.0, 1.0, 2.0], &ACS),
        None,
        "all but one are equal"
    );
    assert_eq!(compare(&ACS[..2], &DISK), None);
}
