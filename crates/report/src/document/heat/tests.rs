use super::*;
use fathom_core::run::LatencySummary;
use fathom_testkit::make;
use proptest::prelude::*;

fn io(at_ns: u64, latency_ns: u64) -> IoRecord {
    IoRecord {
        intended_ns: 1000 + at_ns.saturating_sub(latency_ns),
        ..make::io(1000 + at_ns, 1000 + at_ns.max(latency_ns))
    }
}

fn total(heat: &LatencyHeat) -> f64 {
    heat.grid(Op::Read)
        .map_or(0.0, |grid| grid.counts.iter().flatten().sum())
}

proptest! {
    #[test]
    fn every_io_is_counted_once_however_long_the_run(
        ios in prop::collection::vec((0u64..100_000_000_000_000, 1u64..10_000_000_000), 1..300),
    ) {
        let mut heat = LatencyHeat::new(1000);
        let rows: Vec<IoRecord> = ios.iter().map(|&(at, latency)| io(at, latency)).collect();
        heat.feed(&rows);
        prop_assert!((total(&heat) - rows.len() as f64).abs() < 1e-6);
        let grid = heat.grid(Op::Read).expect("counts");
        prop_assert!(grid.time_edges_s.len() as u64 <= COLUMNS_MAX + 1);
        prop_assert_eq!(grid.counts.len() + 1, grid.latency_edges_ms.len());
        prop_assert!(grid.counts.iter().all(|row| row.len() + 1 == grid.time_edges_s.len()));
        // Each I/O lies in the cell that its moment and its latency say.
        for row in &rows {
            let at_s = (row.completed_ns - 1000) as f64 / 1e9;
            let ms = (row.completed_ns - row.intended_ns) as f64 / 1e6;
            let column = grid.time_edges_s.partition_point(|&edge| edge <= at_s) - 1;
            let line = grid.latency_edges_ms.partition_point(|&edge| edge <= ms).max(1) - 1;
            prop_assert!(grid.counts[line][column] > 0.0, "{at_s} s, {ms} ms");
        }
    }

    #[test]
    fn buckets_hold_their_values(ns in 256u64..(1 << 37)) {
        let bucket = bucket(ns);
        prop_assert!(edge_ns(bucket) <= ns && ns < edge_ns(bucket + 1));
        prop_assert!(edge_ns(bucket + 1) as f64 <= edge_ns(bucket) as f64 * 1.126);
    }
}

#[test]
fn failed_ios_and_other_directions_are_not_counted() {
    let mut heat = LatencyHeat::new(1000);
    let mut failed = io(5, 5);
    failed.errno = 5;
    heat.feed(&[failed]);
    assert_eq!(heat.grid(Op::Read), None);
    heat.feed(&[io(5, 5)]);
    assert_eq!(heat.grid(Op::Write), None);
    assert_eq!(heat.source(), HeatSource::Ios);
}

#[test]
fn an_estimate_has_all_ios_of_the_series_between_their_extremes() {
    let row = |second: u32| SeriesRow {
        ios: 1000,
        lat: LatencySummary {
            n: 1000,
            min: 100_000,
            mean: 0.0,
            stddev: 0.0,
            max: 80_000_000,
            percentiles: vec![(50.0, 200_000), (99.0, 1_000_000)],
        },
        ..make::second(second)
    };
    let series: Vec<SeriesRow> = (0..5000).map(row).collect();
    let heat = LatencyHeat::estimate(&series);
    assert_eq!(heat.source(), HeatSource::Series);
    assert!((total(&heat) - 5_000_000.0).abs() < 1.0);
    assert_eq!(heat.column_ns(), 8_000_000_000, "5000 s in at most 960 columns");
    let grid = heat.grid(Op::Read).expect("counts");
    assert!(grid.latency_edges_ms[0] <= 0.1 && *grid.latency_edges_ms.last().expect("an edge") >= 80.0);
    let below: f64 = (0..grid.counts.len())
        .filter(|&line| grid.latency_edges_ms[line + 1] <= 0.21)
        .map(|line| grid.counts[line].iter().sum::<f64>())
        .sum();
    assert!(
        (0.4..=0.6).contains(&(below / 5_000_000.0)),
        "half is below the median: {below}"
    );
}
