use super::*;

#[test]
fn the_figures_are_those_of_the_textbook() {
    let found = spread(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("eight");
    assert_eq!((found.n, found.mean, found.median), (8, 5.0, 4.5));
    assert_eq!((found.min, found.max), (2.0, 9.0));
    assert!((found.stddev - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    assert_eq!(spread(&[]), None);
    assert_eq!(
        spread(&[3.0]).map(|one| (one.stddev, one.median)),
        Some((0.0, 3.0))
    );
}

#[test]
fn one_far_away_stands_out_and_noise_does_not() {
    assert_eq!(outliers(&[100.0, 101.0, 99.0, 100.5, 180.0]), [4]);
    assert_eq!(outliers(&[10.0, 100.0, 101.0, 99.0, 100.5]), [0]);
    assert_eq!(outliers(&[100.0, 108.0, 93.0, 101.0, 97.0]), [] as [usize; 0]);
    // All the same but for the clock's grain.
    assert_eq!(outliers(&[100.0, 100.0, 100.0, 100.2]), [] as [usize; 0]);
    assert_eq!(outliers(&[1.0, 9.0]), [] as [usize; 0]);
}
