use super::*;
use fathom_core::rng::Rng;

/// Uniform between -1 and 1.
fn noise(rng: &mut Rng) -> f64 {
    rng.below(2_000_001) as f64 / 1e6 - 1.0
}

#[test]
fn too_few_seconds_say_nothing() {
    assert_eq!(half_width(&[100.0; SECONDS_MIN - 1]), None);
    assert_eq!(half_width(&[100.0; SECONDS_MIN]), Some(0.0));
    assert_eq!(half_width(&[0.0; 60]), None);
}

#[test]
fn of_independent_seconds() {
    // Ten batches of one second each: mean 10, standard deviation 1.05, t = 2.262.
    let seconds = [9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0];
    let expected = 2.262 * (10.0 / 9.0_f64).sqrt() / 10.0_f64.sqrt() / 10.0;
    let found = half_width(&seconds).expect("ten seconds");
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

/// How often, of 400 series, the interval holds the true mean of 100.
fn coverage(seconds: usize, correlation: f64) -> f64 {
    let mut held = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let mut off = 0.0;
        let series: Vec<f64> = (0..seconds)
            .map(|_| {
                off = correlation * off + noise(&mut rng);
                100.0 + off
            })
            .collect();
        let mean = mean(&series);
        let half = half_width(&series).expect("enough seconds") * mean;
        held += u32::from((mean - 100.0).abs() <= half);
    }
    f64::from(held) / 400.0
}

#[test]
fn intervals_hold_the_mean() {
    let independent = coverage(60, 0.0);
    assert!((0.91..=0.99).contains(&independent), "{independent}");
    let long = coverage(300, 0.8);
    assert!((0.88..=0.99).contains(&long), "{long}");
    // Seconds that hang together for as long as the batches: too narrow, though not by far.
    let short = coverage(60, 0.8);
    assert!((0.75..=0.99).contains(&short), "{short}");
}

#[test]
fn a_drift_makes_it_wide() {
    let drifting: Vec<f64> = (0..60).map(|second| 100.0 + f64::from(second)).collect();
    assert!(half_width(&drifting).expect("a minute") > 0.05);
}

#[test]
fn a_point_ends_when_it_is_known_well_enough() {
    let rule = SteadyRule {
        half_width: 0.01,
        least_seconds: 30,
    };
    let mut rng = Rng::new(1);
    let seconds: Vec<f64> = (0..300).map(|_| 1000.0 + 30.0 * noise(&mut rng)).collect();
    let ended = (1..=seconds.len()).find(|&n| steady(rule, &seconds[..n]).is_some());
    let ended = ended.expect("it is steady at some time");
    assert!((30..100).contains(&ended), "{ended}");
    assert_eq!(steady(rule, &seconds[..29]), None);
    let half = steady(rule, &seconds[..ended]).expect("as just found");
    assert!(half <= 0.01);
    // The same seconds, the same answer.
    assert_eq!(steady(rule, &seconds[..ended]), Some(half));
}
