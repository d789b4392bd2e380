use super::{Placed, beside_drift, deviation, mean, welch};
use crate::compare::restores::{ACS, DISK};

/// The ten restores of `docs/compare.md`, as worked out by hand there.
#[test]
fn ten_restores_have_the_interval_worked_out_for_them() {
    let found = welch(&ACS, &DISK).expect("five a side");
    assert!((mean(&ACS) - 11654.4).abs() < 0.05 && (mean(&DISK) - 11540.1).abs() < 0.05);
    assert!((deviation(&ACS).expect("five") - 191.7).abs() < 0.05);
    assert!((deviation(&DISK).expect("five") - 547.2).abs() < 0.05);
    assert!((found.freedom - 4.97).abs() < 0.005, "{found:?}");
    let half = found.half_width(0.05);
    assert!(
        (found.difference - half - -782.0).abs() < 1.0,
        "{found:?}, {half}"
    );
    assert!((found.difference + half - 554.0).abs() < 1.0, "{found:?}, {half}");
    assert!((found.p(0.0) - 0.68).abs() < 0.005, "{}", found.p(0.0));
    assert!(
        (found.seen_from(0.05) - 906.0).abs() < 2.0,
        "{}",
        found.seen_from(0.05)
    );
}

#[test]
fn equal_numbers_differ_by_nothing_for_sure() {
    let found = welch(&[5.0; 4], &[5.0; 4]).expect("four a side");
    assert!(found.p(0.0) > 0.999 && found.half_width(0.05) == 0.0);
    let other = welch(&[5.0; 4], &[6.0; 4]).expect("four a side");
    assert!(other.p(0.0) < 1e-12 && other.p(1.0) > 0.999);
    assert!(welch(&[5.0], &[6.0, 7.0]).is_none());
}

fn placed(sides: &str, value: impl Fn(f64, bool) -> f64) -> Vec<Placed> {
    let one = |(index, letter): (usize, char)| {
        let (position, is_b) = (index as f64, letter == 'B');
        Placed {
            is_b,
            position,
            value: value(position, is_b),
        }
    };
    sides.chars().enumerate().map(one).collect()
}

#[test]
fn a_straight_drift_is_taken_out_whole() {
    for sides in ["ABBAABBA", "ABABABAB", "BAABABBAAB"] {
        let drifting = placed(sides, |at, is_b| 3.0 * at + if is_b { 2.5 } else { 0.0 });
        let found = beside_drift(&drifting).expect("in turns");
        assert!((found.difference - 2.5).abs() < 1e-9, "{sides}: {found:?}");
        assert!(found.error < 1e-9, "{sides}: {found:?}");
    }
}

/// Against least squares by normal equations, solved by Cramer's rule.
#[test]
fn the_difference_is_that_of_least_squares() {
    let noise = [0.3, -1.2, 0.7, 0.1, 1.9, -0.4, -0.8, 0.6, 0.2, -1.1];
    let some = placed("ABBAABABBA", |at, is_b| {
        noise[at as usize] + 0.4 * at + if is_b { 1.0 } else { 0.0 }
    });
    let mut normal = [[0.0; 4]; 3];
    for one in &some {
        let row = [1.0, f64::from(u8::from(one.is_b)), one.position];
        for (line, factor) in normal.iter_mut().zip(row) {
            for (cell, value) in line.iter_mut().zip([row[0], row[1], row[2], one.value]) {
                *cell += factor * value;
            }
        }
    }
    let determinant = |columns: [usize; 3]| {
        let m = |row: usize, column: usize| normal[row][columns[column]];
        m(0, 0) * (m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)) - m(0, 1) * (m(1, 0) * m(2, 2) - m(1, 2) * m(2, 0))
            + m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0))
    };
    let expected = determinant([0, 3, 2]) / determinant([0, 1, 2]);
    let found = beside_drift(&some).expect("in turns");
    assert!(
        (found.difference - expected).abs() < 1e-9,
        "{found:?}, not {expected}"
    );
    assert!(found.freedom > 4.0 && found.freedom <= 7.0 + 1e-9, "{found:?}");
}

#[test]
fn one_side_after_the_other_cannot_be_told_from_a_drift() {
    assert_eq!(beside_drift(&placed("AAAAABBBBB", |at, _| at)), None);
    assert_eq!(beside_drift(&placed("ABBAAB", |at, _| at)), None, "three a side");
}
