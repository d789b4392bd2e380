use super::Outages;
use crate::spec::OutageSpec;
use crate::testing::{MS, SECOND, seed};
use proptest::prelude::*;

/// All windows of specs that are not random, up to `to`.
fn windows(specs: &[OutageSpec], to: u64) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for spec in specs {
        match *spec {
            OutageSpec::Once { at_ns, duration_ns } => all.push((at_ns, at_ns + duration_ns)),
            OutageSpec::Every {
                period_ns,
                first_ns,
                duration_ns,
            } => {
                let starts = (0..)
                    .map(|turn| first_ns + turn * period_ns)
                    .take_while(|&start| start <= to);
                all.extend(starts.map(|start| (start, start + duration_ns)));
            }
            OutageSpec::Random { .. } => unreachable!("those have no list"),
        }
    }
    all
}

fn outage() -> impl Strategy<Value = OutageSpec> {
    prop_oneof![
        (0u64..20_000, 1u64..3000).prop_map(|(at_ns, duration_ns)| OutageSpec::Once { at_ns, duration_ns }),
        (2000u64..9000, 0u64..9000, 1u64..600).prop_map(|(period_ns, first_ns, duration_ns)| {
            OutageSpec::Every {
                period_ns,
                first_ns,
                duration_ns,
            }
        }),
    ]
}

proptest! {
    #[test]
    fn agrees_with_a_list(
        specs in prop::collection::vec(outage(), 0..4),
        ios in prop::collection::vec((0u64..300, 0u64..5000), 1..200),
    ) {
        let all = windows(&specs, 300 * 200 + 100_000);
        let mut outages = Outages::new(&specs, 1);
        let mut now = 0;
        for (gap, takes) in ios {
            now += gap;
            let mut expected = now + takes;
            while let Some(&(_, end)) = all.iter().find(|&&(start, end)| (start..end).contains(&expected)) {
                expected = end;
            }
            prop_assert_eq!(outages.shift(now, now + takes), expected, "now {}, due {}", now, now + takes);
        }
    }
}

/// The random windows up to `to`.
fn random(mean_gap_ns: u64, seed: u64, to: u64) -> Vec<(u64, u64)> {
    let spec = OutageSpec::Random {
        mean_gap_ns,
        duration_min_ns: 20 * MS,
        duration_max_ns: 60 * MS,
    };
    let mut outages = Outages::new(&[spec], seed);
    outages.learn(to);
    outages.windows.into_iter().collect()
}

#[test]
fn random_ones_have_the_gaps_and_lengths_asked_for() {
    let seed = seed();
    let mean = 2 * SECOND;
    let windows = random(mean, seed, 20_000 * (mean + 40 * MS));
    let count = windows.len() as f64;
    let gaps: Vec<f64> = windows
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].1) as f64)
        .collect();
    let mean_gap = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let (five, mean) = (5.0 / count.sqrt(), mean as f64);
    assert!((mean_gap / mean - 1.0).abs() < five, "seed {seed}: {mean_gap}");
    // Exponential: a share of 1/e lies above the mean.
    let above = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
    assert!((above - (-1.0f64).exp()).abs() < five, "seed {seed}: {above}");
    let lengths = windows.iter().map(|(start, end)| end - start);
    assert!(
        lengths
            .clone()
            .all(|length| (20 * MS..=60 * MS).contains(&length))
    );
    let mean_length = lengths.sum::<u64>() as f64 / count / 1e6;
    assert!(
        (mean_length - 40.0).abs() < 40.0 * five,
        "seed {seed}: {mean_length} ms"
    );
}

#[test]
fn equal_seeds_have_equal_outages() {
    let seed = seed();
    let to = 1000 * SECOND;
    assert_eq!(random(SECOND, seed, to), random(SECOND, seed, to));
    assert_ne!(random(SECOND, seed, to), random(SECOND, seed ^ 1, to));
    // Two of the same kind are not one and the same.
    let spec = OutageSpec::Random {
        mean_gap_ns: SECOND,
        duration_min_ns: MS,
        duration_max_ns: MS,
    };
    let mut both = Outages::new(&[spec, spec], seed);
    both.learn(to);
    let mut one = Outages::new(&[spec], seed);
    one.learn(to);
    assert!(both.windows.len() > one.windows.len() * 3 / 2);
}

/// Two that take turns without a gap would never end: such a disk is refused. With gaps it is not.
#[test]
fn outages_that_fill_all_time_are_refused() {
    let every = |first_ns, duration_ns| OutageSpec::Every {
        period_ns: 10 * SECOND,
        first_ns,
        duration_ns,
    };
    let mut spec = crate::testing::spec(1);
    spec.disks[0].outages = vec![every(0, 6 * SECOND), every(5 * SECOND, 5 * SECOND)];
    let refused = spec.validate().expect_err("it would never answer");
    assert_eq!(refused.field, "disks[0].outages");
    assert!(
        refused
            .problem
            .starts_with("together they take 110 % of the time"),
        "{refused}"
    );
    spec.disks[0].outages[1] = every(5 * SECOND, 3 * SECOND);
    spec.validate().expect("there are gaps");
    let mut outages = Outages::new(&spec.disks[0].outages, 1);
    assert_eq!(outages.shift(0, 1), 8 * SECOND, "the two overlap");
    assert_eq!(outages.shift(SECOND, 9 * SECOND), 9 * SECOND);
}

/// What is over is forgotten, however long the run.
#[test]
fn memory_does_not_grow() {
    let spec = OutageSpec::Every {
        period_ns: SECOND,
        first_ns: 0,
        duration_ns: 100 * MS,
    };
    let mut outages = Outages::new(&[spec], 1);
    for now in (0..3_000_000).map(|io| io * 7 * MS) {
        let due = outages.shift(now, now + 3 * MS);
        let within = (now + 3 * MS) % SECOND;
        let expected = if within < 100 * MS {
            now + 3 * MS - within + 100 * MS
        } else {
            now + 3 * MS
        };
        assert_eq!(due, expected);
        assert!(outages.windows.len() <= 2);
    }
}
