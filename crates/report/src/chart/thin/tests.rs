use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn nothing_is_lost(values in prop::collection::vec(0.0..1e6f64, 1..5000), every in 1u32..40) {
        let seconds = values.len() as u32 * every;
        let points: Vec<(u32, f64)> = (0..).step_by(every as usize).zip(values.iter().copied()).collect();
        let line = Thinning::of(seconds).apply(points.iter().copied());
        let known = |values: &[f64]| values.iter().copied().filter(|value| !value.is_nan()).collect::<Vec<_>>();
        let lowest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        prop_assert!(lowest(&known(&line.min)).to_bits() == lowest(&values).to_bits());
        prop_assert!(highest(&known(&line.max)).to_bits() == highest(&values).to_bits());
        prop_assert!(known(&line.mean).len() <= POINTS_MAX as usize);
        for (index, mean) in line.mean.iter().enumerate().filter(|(_, mean)| !mean.is_nan()) {
            prop_assert!(line.min[index] <= mean + 1e-6 && *mean <= line.max[index] + 1e-6);
        }
        prop_assert!(line.at_s.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

#[test]
fn short_runs_stay_as_they_are() {
    let thinning = Thinning::of(300);
    assert_eq!(thinning.point(), None);
    let line = thinning.apply([(0, 5.0), (1, 7.0)]);
    assert_eq!((line.at_s, line.mean), (vec![1.0, 2.0], vec![5.0, 7.0]));
}

#[test]
fn a_day_has_a_point_every_two_minutes() {
    let thinning = Thinning::of(86_400);
    assert_eq!(thinning.point().as_deref(), Some("2 min"));
    let line = thinning.apply((0..86_400).map(|second| (second, f64::from(second))));
    assert_eq!(line.at_s.len(), 720);
    assert_eq!(
        (line.at_s[1], line.mean[1], line.min[1], line.max[1]),
        (180.0, 179.5, 120.0, 239.0)
    );
}

#[test]
fn a_line_breaks_where_seconds_are_missing() {
    let line = Thinning::of(10).apply([(0, 1.0), (1, 1.0), (5, 1.0)]);
    assert_eq!(line.at_s, [1.0, 2.0, 3.0, 6.0]);
    assert!(line.mean[2].is_nan());
}
