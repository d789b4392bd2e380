use super::Sampler;
use crate::spec::ServiceSpec;
use crate::testing::{flat, seed};
use fathom_core::histogram::Histogram;
use fathom_core::rng::Rng;
use proptest::prelude::*;

/// A premium disk's writes, as published.
fn table() -> ServiceSpec {
    ServiceSpec {
        quantiles_us: vec![
            (0.0, 2043.0),
            (1.0, 2180.0),
            (10.0, 2311.0),
            (50.0, 2474.0),
            (80.0, 2606.0),
            (90.0, 2802.0),
            (95.0, 3326.0),
            (99.0, 5538.0),
            (99.5, 6194.0),
            (99.9, 7898.0),
            (99.99, 12_256.0),
            (99.999, 24_000.0),
            (100.0, 47_769.0),
        ],
        ..flat(1.0)
    }
}

/// The bits whose survival this is.
fn bits(survival: f64) -> u64 {
    (survival * 2f64.powi(64)) as u64
}

fn close(found: f64, expected: f64, tolerance: f64, of: f64) {
    assert!(
        (found / expected - 1.0).abs() <= tolerance,
        "{of}: {found}, expected {expected}"
    );
}

#[test]
fn ten_million_draws_give_the_table_back() {
    const DRAWS: u64 = 10_000_000;
    let (spec, mut rng) = (table(), Rng::new(seed()));
    let sampler = Sampler::new(&spec);
    let mut seen = Histogram::new();
    for _ in 0..DRAWS {
        seen.record(sampler.draw(4096, &mut rng));
    }
    let (low, high) = (2_043_000, 47_769_000);
    assert!(seen.min() >= Some(low) && seen.max() <= Some(high), "{seen:?}");
    for &(percentile, us) in &spec.quantiles_us[1..12] {
        let expected = us * 1000.0;
        // How far chance moves the rank, and what the next quantile on either side is away in rank.
        let survival = (100.0 - percentile) / 100.0;
        let five_sigmas = 5.0 * (survival * (1.0 - survival) / DRAWS as f64).sqrt() * 100.0;
        let from = seen.percentile(percentile - five_sigmas) as f64;
        let to = seen.percentile(percentile + five_sigmas) as f64;
        assert!(
            from <= expected * 1.01 && to >= expected * 0.99,
            "p{percentile}: {from} to {to}, not {expected}"
        );
        if percentile <= 99.9 {
            close(seen.percentile(percentile) as f64, expected, 0.01, percentile);
        }
    }
}

/// Without chance: each quantile, and in the middle between two, where the rule of interpolation shows.
#[test]
fn each_survival_has_its_time() {
    let spec = table();
    let sampler = Sampler::new(&spec);
    for pair in spec.quantiles_us.windows(2) {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        let survival = (100.0 - from) / 100.0;
        if from > 0.0 {
            close(sampler.at(bits(survival)) as f64, low * 1000.0, 0.01, from);
        }
        let middle = u64::midpoint(bits(survival.min(1.0 - 1e-16)), bits((100.0 - to) / 100.0));
        let expected = if from < 99.0 {
            low.midpoint(high)
        } else {
            (low * high).sqrt()
        };
        close(sampler.at(middle) as f64, expected * 1000.0, 0.002, from);
    }
}

#[test]
fn the_tail_goes_on_beyond_nine_nines() {
    let sampler = Sampler::new(&table());
    for survival in [1e-6, 1e-7, 1e-9, 1e-12] {
        // The logarithm is linear between 99.999 and 100.
        let share = (1e-5 - survival) / 1e-5;
        let expected = 24e6 * (47_769.0f64 / 24_000.0).powf(share);
        close(sampler.at(bits(survival)) as f64, expected, 1e-4, survival);
    }
    assert!(sampler.at(bits(1e-9)) < sampler.at(bits(1e-12)));
    let (longest, shortest) = (sampler.at(0), sampler.at(u64::MAX));
    assert!((47_768_999..=47_769_000).contains(&longest), "{longest}");
    assert!((2_043_000..2_043_100).contains(&shortest), "{shortest}");
}

#[test]
fn size_adds_its_slope_and_nothing_is_instant() {
    let spec = ServiceSpec {
        reference_bytes: 8192,
        ns_per_kib: 20_000,
        ..table()
    };
    let sampler = Sampler::new(&spec);
    let rng = Rng::new(seed());
    let draw = |len| sampler.draw(len, &mut rng.clone());
    assert_eq!(draw(128 << 10) - draw(8192), 120 * 20_000);
    assert_eq!(draw(8192) - draw(4096), 4 * 20_000);
    assert_eq!(draw(8192 + 512) - draw(8192), 10_000);
    let steep = Sampler::new(&ServiceSpec {
        reference_bytes: 1 << 20,
        ns_per_kib: 1_000_000,
        ..table()
    });
    assert_eq!(steep.draw(4096, &mut rng.clone()), 1, "at least 1 ns");
    assert_eq!(Sampler::new(&flat(250.0)).draw(4096, &mut rng.clone()), 250_000);
}

proptest! {
    #[test]
    fn any_table_is_kept_within_its_bounds_and_in_order(
        inner in prop::collection::btree_map(1u32..99_999, 0u32..10_000_000, 0..12),
        first in 1u32..1000,
        chances in prop::collection::vec(any::<u64>(), 1..200),
        shifts in prop::collection::vec(0u32..64, 200),
    ) {
        let mut times: Vec<u32> = inner.values().map(|rise| first + rise).collect();
        times.sort_unstable();
        let last = times.last().copied().unwrap_or(first) + 7;
        let inner = inner.keys().zip(&times).map(|(&p, &us)| (f64::from(p) / 1000.0, f64::from(us)));
        let mut quantiles_us = vec![(0.0, f64::from(first))];
        quantiles_us.extend(inner);
        quantiles_us.push((100.0, f64::from(last)));
        let sampler = Sampler::new(&ServiceSpec { quantiles_us, ..flat(1.0) });
        let mut chances: Vec<u64> = chances.iter().zip(&shifts).map(|(bits, by)| bits >> by).collect();
        chances.sort_unstable();
        let mut longest = i64::from(last) * 1000;
        for bits in chances {
            let time = sampler.at(bits);
            prop_assert!(time <= longest, "{bits}: {time} after {longest}");
            prop_assert!(time >= i64::from(first) * 1000);
            longest = time;
        }
    }
}
