use super::{critical, inflation, normal_beyond, normal_quantile, two_sided};

/// From printed tables; those of broken degrees of freedom by numerical integration of the density with 40 digits.
#[test]
fn quantiles_are_those_of_tables() {
    let table = [
        (0.05, 1.0, 12.706_204_736_174_7),
        (0.05, 2.0, 4.302_652_729_749_46),
        (0.05, 4.0, 2.776_445_105_197_79),
        (0.05, 9.0, 2.262_157_162_798_20),
        (0.05, 30.0, 2.042_272_456_301_24),
        (0.05, 1000.0, 1.962_339_080_757_06),
        (0.01, 5.0, 4.032_142_983_557_54),
        (0.40, 8.0, 0.888_889_517_623_4),
        (0.001, 3.0, 12.923_978_636_687_6),
    ];
    for (probability, freedom, expected) in table {
        let found = critical(probability, freedom);
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "t of {probability} at {freedom}: {found}, not {expected}"
        );
    }
}

#[test]
fn broken_degrees_of_freedom_lie_between_whole_ones() {
    for tenth in 10..300 {
        let freedom = f64::from(tenth) / 10.0;
        let here = critical(0.05, freedom);
        assert!(here > critical(0.05, freedom + 0.1), "at {freedom}");
        assert!((two_sided(here, freedom) - 0.05).abs() < 1e-9, "at {freedom}");
    }
}

/// With two degrees of freedom there is a closed form.
#[test]
fn tails_are_those_of_the_closed_form() {
    for t in [0.0_f64, 0.1, 1.0, 4.3, 31.6, 1e4] {
        let expected = 1.0 - t / (2.0 + t * t).sqrt();
        let found = two_sided(t, 2.0);
        assert!((found - expected).abs() < 1e-12, "{t}: {found}, not {expected}");
        assert!((two_sided(-t, 2.0) - found).abs() < 1e-15);
    }
}

#[test]
fn a_deviation_of_few_is_taken_for_larger() {
    for (repeats, factor) in [(3.0, 1.56), (5.0, 1.32), (10.0, 1.18)] {
        let found = inflation(2.0 * (repeats - 1.0));
        assert!(
            (found - factor).abs() < 0.02_f64,
            "{repeats}: {found}, not {factor}"
        );
    }
}

#[test]
fn what_says_nothing_is_no_number_out_of_nowhere() {
    assert!((two_sided(f64::NAN, 3.0) - 1.0).abs() < f64::EPSILON);
    assert!((two_sided(3.0, 0.0) - 1.0).abs() < f64::EPSILON);
    assert!(critical(0.05, 0.0).is_infinite());
    assert!(two_sided(f64::INFINITY, 3.0) < f64::EPSILON);
}

#[test]
fn normal_values_are_those_of_tables() {
    for (share, z) in [
        (0.5, 0.0),
        (0.975, 1.959_963_985),
        (0.001, -3.090_232_306),
        (0.8, 0.841_621_234),
    ] {
        assert!((normal_quantile(share) - z).abs() < 1e-8, "{share}");
        assert!((normal_beyond(z) - (1.0 - share)).abs() < 1e-9, "{z}");
    }
}
