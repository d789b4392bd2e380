use super::*;
use proptest::prelude::*;

proptest! {
    /// The curve says of each percentile what sorting all I/Os says, to within a step of the drawing.
    #[test]
    fn points_are_those_of_the_sorted_ios(mut counts in prop::collection::vec((1u32..1_000_000, 1u64..500), 1..2000)) {
        counts.sort_unstable();
        counts.dedup_by_key(|(latency, _)| *latency);
        let counts: Vec<(f64, u64)> = counts.into_iter().map(|(latency, ios)| (f64::from(latency), ios)).collect();
        let n: u64 = counts.iter().map(|(_, ios)| ios).sum();
        let points = points(&counts);
        prop_assert!(points.len() <= POINTS_MAX + 2);
        prop_assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
        let (last, slowest, _) = points.last().expect("a point");
        prop_assert!((slowest - counts[counts.len() - 1].0).abs() < 1e-9);
        prop_assert!((last - (n as f64).log10()).abs() < 1e-6);
        for (at, latency, _) in &points[..points.len() - 1] {
            let below: u64 = counts.iter().filter(|(other, _)| other <= latency).map(|(_, ios)| ios).sum();
            let share = 1.0 - 10f64.powf(-at);
            prop_assert!((share - below as f64 / n as f64).abs() < 1e-9, "{share} at {latency}");
        }
    }
}

#[test]
fn percentiles_are_named_by_their_nines() {
    assert_eq!(percentile(0.5), "p50.0");
    assert_eq!(percentile(0.9912), "p99.12");
    assert_eq!(percentile(0.999_94), "p99.9940");
}

#[test]
fn one_io_is_one_mark() {
    let curve = Curve {
        name: String::from("read"),
        counts: vec![(1.5, 1)],
    };
    let figure = figure(&[curve]);
    assert_eq!(figure.data[0]["mode"], "markers");
    assert_eq!(figure.data[0]["customdata"], json!(["the slowest"]));
    assert_eq!(figure.data[0]["x"], json!([0]));
}
