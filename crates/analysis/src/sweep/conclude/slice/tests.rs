use super::*;
use fathom_core::rng::Rng;
use fathom_core::sweep::Coordinates;

const MS: f64 = 1e6;

/// A closed loop of `depth` against a limit that releases `share` I/Os each `slice_ns`: the oracle, I/O by I/O. Service
/// takes 1 to 1.2 times `service_ns`. Gives latencies and IOPS.
fn closed_loop(depth: usize, share: f64, slice_ns: f64, service_ns: f64, ios: usize) -> (Vec<f64>, f64) {
    let mut rng = Rng::new(7);
    let mut free: Vec<f64> = vec![0.0; depth];
    let (mut slice, mut left) = (0.0, share);
    let mut latencies = Vec::new();
    let mut end: f64 = 0.0;
    for _ in 0..ios {
        let next = (0..depth)
            .min_by(|a, b| free[*a].total_cmp(&free[*b]))
            .expect("a slot");
        let asked = free[next];
        while left < 1.0 || asked >= (slice + 1.0) * slice_ns {
            slice += 1.0;
            left = (left + share).min(if left < 1.0 { f64::INFINITY } else { share });
        }
        left -= 1.0;
        let released = asked.max(slice * slice_ns);
        free[next] = released + service_ns * (1.0 + rng.below(200) as f64 / 1000.0);
        latencies.push(free[next] - asked);
        end = end.max(free[next]);
    }
    (latencies, ios as f64 * 1e9 / end)
}

fn buckets(latencies: &[f64]) -> Vec<LatencyBucket> {
    let mut counts = std::collections::BTreeMap::new();
    for latency in latencies {
        let ns = *latency as u64;
        let shift = ns.ilog2().saturating_sub(4);
        *counts.entry(ns >> shift << shift).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .map(|(low_ns, count): (u64, u64)| LatencyBucket {
            low_ns,
            high_ns: low_ns + (1 << low_ns.ilog2().saturating_sub(4)) - 1,
            count,
        })
        .collect()
}

fn point(number: u32, depth: u32, iops: f64, lat_buckets: &[LatencyBucket]) -> Seen<'_> {
    Seen {
        number,
        at: Coordinates {
            random: true,
            read_percent: 100,
            block_size_bytes: 4096,
            iodepth: depth,
            threads: 1,
        },
        depth: u64::from(depth),
        iops,
        bytes_per_second: iops * 4096.0,
        lat_ns: f64::from(depth) * 1e9 / iops,
        half_width: None,
        lat_buckets,
    }
}

/// What is concluded from loops of these depths, all of them held by the limit.
fn concluded(loops: &[(u32, Vec<f64>, f64)]) -> Slice {
    let all: Vec<Vec<LatencyBucket>> = loops.iter().map(|(_, latencies, _)| buckets(latencies)).collect();
    let seen: Vec<Seen<'_>> = (0..)
        .zip(loops)
        .zip(&all)
        .map(|((number, (depth, _, iops)), buckets)| point(number, *depth, *iops, buckets))
        .collect();
    let saturated = Saturated {
        iops: vec![true; seen.len()],
        bytes: vec![false; seen.len()],
    };
    slice(&seen, &saturated)
}

#[test]
fn slices_of_any_length_are_found() {
    for (slice_ms, share, service_ms) in [
        (50.0, 56.1, 2.5),
        (10.0, 40.3, 0.5),
        (100.0, 80.0, 1.0),
        (25.0, 12.5, 1.0),
    ] {
        let loops: Vec<(u32, Vec<f64>, f64)> = [4, 8, 16, 32, 64]
            .into_iter()
            .map(|depth| {
                let (latencies, iops) = closed_loop(depth, share, slice_ms * MS, service_ms * MS, 40_000);
                (depth as u32, latencies, iops)
            })
            .collect();
        let found = concluded(&loops);
        let length = found
            .length_ns
            .unwrap_or_else(|| panic!("none found of {slice_ms} ms: {found:?}"));
        assert!(
            (length / (slice_ms * MS) - 1.0).abs() < 0.03,
            "{length} of {slice_ms} ms: {found:?}"
        );
    }
}

#[test]
fn a_smooth_limit_has_none() {
    let loops: Vec<(u32, Vec<f64>, f64)> = [4_u32, 16, 64]
        .into_iter()
        .map(|depth| {
            // All wait alike, a little more or less.
            let mut rng = Rng::new(3);
            let mean = f64::from(depth) * MS;
            let latencies = (0..20_000)
                .map(|_| mean * (0.9 + rng.below(200) as f64 / 1000.0))
                .collect();
            (depth, latencies, 1000.0)
        })
        .collect();
    let found = concluded(&loops);
    assert_eq!((found.length_ns, found.looked_at), (None, 3), "{found:?}");
    assert!(found.confidence.abs() < 1e-12);
}

#[test]
fn a_service_of_two_modes_has_none() {
    // One I/O in five takes ten times as long, whatever the depth: lengths would grow with depth.
    let loops: Vec<(u32, Vec<f64>, f64)> = [2_u32, 4, 8, 16, 32]
        .into_iter()
        .map(|depth| {
            let mut rng = Rng::new(u64::from(depth));
            let latencies = (0..20_000)
                .map(|_| {
                    MS * if rng.below(5) == 0 { 10.0 } else { 1.0 } * (1.0 + rng.below(100) as f64 / 1000.0)
                })
                .collect();
            (depth, latencies, 350.0)
        })
        .collect();
    assert_eq!(concluded(&loops).length_ns, None);
}

#[test]
fn no_points_no_slices() {
    let found = concluded(&[]);
    assert_eq!(
        (found.length_ns, found.looked_at, found.signs.len()),
        (None, 0, 0)
    );
}
