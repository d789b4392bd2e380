use super::*;
use fathom_testkit::make;

fn row(second: u32, job: u32, ios: u64, duration_ns: u64) -> SeriesRow {
    let lat = LatencySummary {
        n: ios,
        min: 100_000,
        mean: 250_000.0,
        stddev: 1.0,
        max: 9_000_000,
        percentiles: vec![(50.0, 200_000), (99.0, 5_000_000)],
    };
    SeriesRow {
        duration_ns,
        job,
        ios,
        bytes: ios * 1_000_000,
        lat,
        ..make::second(second)
    }
}

fn span(seconds: u32) -> Span {
    Span {
        thinning: Thinning::of(seconds),
        clock: Clock::of(f64::from(seconds)),
        ramp_s: 2.0,
    }
}

fn line(rows: &[SeriesRow]) -> Line<'_> {
    Line {
        name: String::from("read"),
        rows: rows.iter().collect(),
    }
}

#[test]
fn rates_are_over_the_interval_and_added_up_over_jobs() {
    let rows = [
        row(0, 0, 100, 1_000_000_000),
        row(0, 1, 50, 1_000_000_000),
        row(1, 0, 100, 500_000_000),
        row(2, 0, 1, 1_000_000),
    ];
    let figure = iops(&[line(&rows)], span(3));
    // The last interval is too short to have a rate.
    assert_eq!(figure.data[0]["y"], json!([150, 200]));
    let figure = throughput(&[line(&rows)], span(3));
    assert_eq!(figure.data[0]["y"], json!([150, 200]));
    assert_eq!(figure.layout["shapes"][0]["x1"], 2, "the ramp is shaded");
}

#[test]
fn latencies_are_milliseconds_and_only_what_is_known_is_drawn() {
    let rows = [row(0, 0, 10, 1_000_000_000), row(1, 0, 10, 1_000_000_000)];
    let figure = latency(&line(&rows), span(2));
    let names: Vec<&str> = figure
        .data
        .iter()
        .filter_map(|trace| trace["name"].as_str())
        .collect();
    assert_eq!(names, ["p50", "p99", "slowest"]);
    assert_eq!(figure.data[0]["y"], json!([0.2, 0.2]));
    assert_eq!(figure.data[2]["y"], json!([9, 9]));
}

#[test]
fn response_times_are_drawn_where_there_is_a_schedule() {
    let mut rows = [row(0, 0, 10, 1_000_000_000)];
    rows[0].response = LatencySummary {
        n: 10,
        max: 77_000_000,
        ..rows[0].lat.clone()
    };
    let figure = latency(&line(&rows), span(1));
    assert_eq!(figure.data[2]["y"], json!([77]));
}

#[test]
fn a_long_series_has_bands_and_the_slowest_io_of_all() {
    let mut rows: Vec<SeriesRow> = (0..86_400)
        .map(|second| row(second, 0, 100, 1_000_000_000))
        .collect();
    rows[1000].lat.max = 3_000_000_000;
    rows[2000].ios = 900;
    let figure = iops(&[line(&rows)], span(86_400));
    let highest = figure.data[0]["y"]
        .as_array()
        .expect("numbers")
        .iter()
        .filter_map(Value::as_f64);
    assert!((highest.fold(0.0, f64::max) - 900.0).abs() < 1e-9);
    assert_eq!(figure.data.len(), 3, "two edges and a line");
    let figure = latency(&line(&rows), span(86_400));
    let slowest = figure
        .data
        .iter()
        .find(|trace| trace["name"] == "slowest")
        .expect("a line");
    let slowest = slowest["y"]
        .as_array()
        .expect("numbers")
        .iter()
        .filter_map(Value::as_f64);
    assert!((slowest.fold(0.0, f64::max) - 3000.0).abs() < 1e-9);
}
