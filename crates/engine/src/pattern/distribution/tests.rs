use super::{Place, Sampler, Zipf};
use crate::testing::{chi_square, chi_square_limit, seed};
use fathom_core::rng::Rng;
use fathom_core::workload::{Distribution, Zone, ZoneSize};

const DRAWS: u64 = 200_000;

fn draws(sampler: &mut Sampler, n: u64, rng: &mut Rng) -> Vec<u64> {
    let mut seen = vec![0; n as usize];
    for _ in 0..DRAWS {
        seen[sampler.draw(rng) as usize] += 1;
    }
    seen
}

#[test]
fn uniform_is_uniform() {
    let mut rng = Rng::new(seed());
    for n in [2, 7, 1000] {
        let mut sampler = Sampler::new(&Distribution::Uniform, (n, 1), 1);
        let seen = draws(&mut sampler, n, &mut rng);
        let expected = vec![DRAWS as f64 / n as f64; n as usize];
        let statistic = chi_square(&seen, &expected);
        assert!(statistic < chi_square_limit(n as usize - 1), "n {n}: {statistic}");
    }
}

/// Rank k has weight 1/k^theta: each of the top ranks, and all others together.
#[test]
fn zipf_has_its_weights() {
    let mut rng = Rng::new(seed());
    for theta in [0.3, 0.8, 0.999, 1.0, 1.2, 2.5] {
        for n in [2u64, 10, 5000] {
            let zipf = Zipf::new(n, theta);
            let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-theta)).collect();
            let sum: f64 = weights.iter().sum();
            // The top ranks that can be expected often enough for chi-square.
            let often = |weight: &&f64| **weight / sum * DRAWS as f64 >= 10.0;
            let top = weights.iter().take_while(often).count().min(60);
            let mut expected: Vec<f64> = weights[..top].iter().map(|w| w / sum * DRAWS as f64).collect();
            let mut seen = vec![0; top + 1];
            for _ in 0..DRAWS {
                let rank = zipf.draw(&mut rng) as usize;
                assert!(rank < n as usize);
                seen[rank.min(top)] += 1;
            }
            let others = DRAWS as f64 - expected.iter().sum::<f64>();
            if top < n as usize {
                expected.push(others);
            } else {
                assert_eq!(seen.pop(), Some(0));
            }
            let statistic = chi_square(&seen, &expected);
            let limit = chi_square_limit(expected.len() - 1);
            assert!(
                statistic < limit,
                "theta {theta}, n {n}: {statistic} is over {limit}"
            );
        }
    }
}

/// `1 - h` of the draws go to the first `h` of the positions, within that part again, and so on.
#[test]
fn pareto_is_self_similar() {
    const N: u64 = 1_000_000;
    let mut rng = Rng::new(seed());
    for h in [0.1, 0.2, 0.4, 0.7] {
        let mut sampler = Sampler::new(&Distribution::Pareto { h, center: Some(0.0) }, (N, 1), 1);
        let positions: Vec<u64> = (0..DRAWS).map(|_| sampler.draw(&mut rng)).collect();
        assert!(positions.iter().all(|&position| position < N));
        for depth in 1..=3 {
            let first = (h.powi(depth) * N as f64) as u64;
            let share = positions.iter().filter(|&&position| position < first).count() as f64 / DRAWS as f64;
            let expected = (1.0 - h).powi(depth);
            let deviation = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
            assert!(
                (share - expected).abs() < 5.0 * deviation + 1e-4,
                "h {h}, depth {depth}: {share}, not {expected}"
            );
        }
    }
}

#[test]
fn normal_has_its_mean_and_deviation() {
    const N: u64 = 100_000;
    let mut rng = Rng::new(seed());
    for (deviation_percent, center) in [
        (5.0, None),
        (10.0, Some(0.5)),
        (2.0, Some(0.25)),
        (1.0, Some(0.9)),
    ] {
        let normal = Distribution::Normal {
            deviation_percent,
            center,
        };
        let mut sampler = Sampler::new(&normal, (N, 1), 1);
        let positions: Vec<f64> = (0..DRAWS).map(|_| sampler.draw(&mut rng) as f64).collect();
        let mean = positions.iter().sum::<f64>() / DRAWS as f64;
        let variance = positions.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        let (expected, sigma) = (
            center.unwrap_or(0.5) * N as f64,
            deviation_percent / 100.0 * N as f64,
        );
        let root = (DRAWS as f64).sqrt();
        // A position is the floor of a number: half a position below it on average.
        assert!((mean + 0.5 - expected).abs() < 5.0 * sigma / root, "mean {mean}");
        let deviation = variance.sqrt();
        assert!(
            (deviation - sigma).abs() < 5.0 * sigma / root,
            "deviation {deviation}"
        );
    }
}

/// The curve is cut off at the ends; no end of the region and no deviation makes it search for ever.
#[test]
fn normal_stays_within_the_region() {
    let mut rng = Rng::new(seed());
    for center in [0.0, 0.01, 0.99, 1.0] {
        for deviation_percent in [0.0, 0.001, 30.0, 100.0] {
            let normal = Distribution::Normal {
                deviation_percent,
                center: Some(center),
            };
            let mut sampler = Sampler::new(&normal, (10, 1), 1);
            for _ in 0..1000 {
                assert!(sampler.draw(&mut rng) < 10);
            }
        }
    }
}

#[test]
fn scattered_places_are_one_to_one() {
    let mut rng = Rng::new(seed());
    for n in [2u64, 3, 100, 4097] {
        let place = Place::new(None, n, rng.next_u64());
        let mut places: Vec<u64> = (0..n).map(|rank| place.of(rank)).collect();
        places.sort_unstable();
        assert_eq!(places, (0..n).collect::<Vec<_>>());
    }
}

#[test]
fn a_center_puts_popular_places_side_by_side() {
    let place = Place::new(Some(0.75), 8, 1);
    let places: Vec<u64> = (0..8).map(|rank| place.of(rank)).collect();
    assert_eq!(places, [6, 7, 0, 1, 2, 3, 4, 5]);
    let place = Place::new(Some(1.0), 4, 1);
    assert_eq!(
        (0..4).map(|rank| place.of(rank)).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
}

/// The seed of the places decides where the popular ones are, not how popular they are.
#[test]
fn scattered_zipf_has_the_same_counts_elsewhere() {
    let zipf = |seed| {
        let distribution = Distribution::Zipf {
            theta: 1.2,
            center: None,
        };
        let mut sampler = Sampler::new(&distribution, (500, 1), seed);
        let mut rng = Rng::new(9);
        let mut counts = draws(&mut sampler, 500, &mut rng);
        let first = counts.clone();
        counts.sort_unstable();
        (first, counts)
    };
    let (one, two) = (zipf(1), zipf(2));
    assert_eq!(one.1, two.1);
    assert_ne!(one.0, two.0);
}

#[test]
fn one_position_is_always_drawn() {
    let mut rng = Rng::new(1);
    for distribution in [
        Distribution::Uniform,
        Distribution::Zipf {
            theta: 1.2,
            center: None,
        },
        Distribution::Pareto {
            h: 0.2,
            center: Some(0.5),
        },
        Distribution::Normal {
            deviation_percent: 5.0,
            center: None,
        },
    ] {
        assert_eq!(Sampler::new(&distribution, (1, 1), 1).draw(&mut rng), 0);
    }
}

fn zone(io_percent: f64, size: ZoneSize) -> Zone {
    Zone { io_percent, size }
}

/// Draws from `zones` over `n` positions of 4 KiB against the chance that each position has, one by one.
fn check_zones(zones: &[Zone], n: u64, chances: &[(std::ops::Range<u64>, f64)]) {
    let mut rng = Rng::new(seed());
    let mut sampler = Sampler::new(&Distribution::Zones(zones.to_vec()), (n, 4096), 1);
    let seen = draws(&mut sampler, n, &mut rng);
    let chance = |position: u64| {
        let of = chances.iter().find(|(range, _)| range.contains(&position));
        of.map_or(0.0, |(range, share)| share / (range.end - range.start) as f64)
    };
    let (mut counts, mut expected) = (Vec::new(), Vec::new());
    for (position, &count) in seen.iter().enumerate() {
        let chance = chance(position as u64);
        if chance > 0.0 {
            counts.push(count);
            expected.push(chance * DRAWS as f64);
        } else {
            assert_eq!(count, 0, "position {position} is in no zone");
        }
    }
    let chi_square = chi_square(&counts, &expected);
    let limit = chi_square_limit(counts.len() - 1);
    assert!(chi_square < limit, "{zones:?}: {chi_square} above {limit}");
}

#[test]
fn zones_get_their_shares_evenly() {
    // fio's own example.
    let percents = [(60.0, 10.0), (30.0, 20.0), (8.0, 30.0), (2.0, 40.0)];
    let zones = percents.map(|(io, size)| zone(io, ZoneSize::Percent(size)));
    check_zones(
        &zones,
        1000,
        &[
            (0..100, 0.6),
            (100..300, 0.3),
            (300..600, 0.08),
            (600..1000, 0.02),
        ],
    );
    // Bytes, and what they leave; 81920 bytes are 20 positions.
    check_zones(
        &[zone(90.0, ZoneSize::Bytes(81_920)), zone(10.0, ZoneSize::Rest)],
        200,
        &[(0..20, 0.9), (20..200, 0.1)],
    );
    // What they leave is not visited, nor is a zone without I/O.
    check_zones(
        &[
            zone(50.0, ZoneSize::Percent(10.0)),
            zone(0.0, ZoneSize::Percent(40.0)),
            zone(50.0, ZoneSize::Percent(10.0)),
        ],
        100,
        &[(0..10, 0.5), (50..60, 0.5)],
    );
}

/// A zone without a whole position, or beyond the end, leaves its share to the others in their proportion.
#[test]
fn zones_without_room_give_their_share_away() {
    check_zones(
        &[
            zone(20.0, ZoneSize::Bytes(4095)),
            zone(60.0, ZoneSize::Bytes(4096 * 10)),
            zone(20.0, ZoneSize::Rest),
        ],
        50,
        &[(0..10, 0.75), (10..50, 0.25)],
    );
    // The second reaches beyond the end and is cut, the third lies beyond it.
    check_zones(
        &[
            zone(40.0, ZoneSize::Bytes(4096 * 10)),
            zone(40.0, ZoneSize::Bytes(4096 * 90)),
            zone(20.0, ZoneSize::Bytes(4096 * 10)),
        ],
        30,
        &[(0..10, 0.5), (10..30, 0.5)],
    );
    // Nothing has room: all alike.
    check_zones(&[zone(100.0, ZoneSize::Bytes(100))], 40, &[(0..40, 1.0)]);
    check_zones(&[], 40, &[(0..40, 1.0)]);
    // A share of a position or two, rounded.
    check_zones(
        &[
            zone(50.0, ZoneSize::Percent(10.0)),
            zone(50.0, ZoneSize::Percent(90.0)),
        ],
        3,
        &[(0..3, 1.0)],
    );
}

/// Sizes that no region has are cut, and add up without overflow.
#[test]
fn zones_of_any_size_stay_within_the_region() {
    let mut rng = Rng::new(seed());
    for _ in 0..500 {
        let size = |rng: &mut Rng| match rng.below(3) {
            0 => ZoneSize::Bytes(rng.next_u64() >> rng.below(64)),
            1 => ZoneSize::Percent(rng.unit() * 120.0),
            _ => ZoneSize::Rest,
        };
        let zones: Vec<Zone> = (0..=rng.below(7))
            .map(|_| zone(rng.unit() * 50.0, size(&mut rng)))
            .collect();
        let n = 1 + rng.below(1000);
        let mut sampler = Sampler::new(&Distribution::Zones(zones), (n, 512), 1);
        for _ in 0..100 {
            assert!(sampler.draw(&mut rng) < n);
        }
    }
}

/// Held against what fio's own test of it expects: the blocks in turn, or each time round behind the last one.
#[test]
fn a_sequence_goes_round_and_strides() {
    let draws = |strides, n| {
        let distribution = Distribution::Sequence {
            blocks: vec![2, 0, 1],
            strides,
        };
        let mut sampler = Sampler::new(&distribution, (n, 4096), 1);
        let mut rng = Rng::new(1);
        let drawn: Vec<u64> = (0..7).map(|_| sampler.draw(&mut rng)).collect();
        sampler.restart();
        assert_eq!(sampler.draw(&mut rng), 2 % n, "it begins again");
        drawn
    };
    assert_eq!(draws(false, 12), [2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(draws(true, 12), [2, 0, 1, 5, 3, 4, 8]);
    assert_eq!(
        draws(true, 4),
        [2, 0, 1, 1, 3, 0, 0],
        "around the end of the region"
    );
    assert_eq!(
        draws(false, 2),
        [0, 0, 1, 0, 0, 1, 0],
        "beyond the end: from the beginning on"
    );
}
