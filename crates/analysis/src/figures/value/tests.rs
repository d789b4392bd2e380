use super::super::fixture::{MILLI, job, outcome, row};
use super::super::table;
use super::*;

/// Two groups: 100 reads of 1 to 100 ms in 2 s; then 100 of 1 ms in 3 s.
fn outcomes() -> Vec<Outcome> {
    let ascending: Vec<u64> = (1..=100).collect();
    let mut first = outcome("first", &[job("a", 0, &ascending, 2), job("b", 1, &[1; 100], 3)]);
    first.series = vec![row(0, 0, 10, 4), row(0, 1, 30, 8)];
    vec![
        first,
        outcome("x1", &[job("c", 0, &[10; 100], 1)]),
        outcome("x2", &[job("d", 0, &[20; 200], 1), job("e", 0, &[20; 200], 1)]),
        outcome("x3", &[job("f", 0, &[60; 700], 1)]),
    ]
}

fn value_of(run: &str, measure: &str, unit: &str) -> Result<f64, ValueError> {
    let text = format!(
        "{}\n{run},what,{measure},1,{unit},post,,,m,",
        table::COLUMNS.join(",")
    );
    let figures = table::read("f.csv", &text).unwrap_or_else(|error| panic!("{error}"));
    value(&figures[0], &outcomes())
}

#[track_caller]
fn check(run: &str, measure: &str, unit: &str, expected: f64) {
    let found = value_of(run, measure, unit).unwrap_or_else(|error| panic!("{error}"));
    let near = (found - expected).abs() <= expected.abs() / 900.0;
    assert!(near, "{run} {measure}: {found} is not {expected}");
}

#[test]
fn amounts_and_their_rates() {
    check("first", "read.ios", "I/Os", 200.0);
    check("first", "total.bytes", "MiB", 200.0);
    check("first", "read.iops", "IOPS", 40.0);
    check("first@a", "read.bandwidth", "MiB/s", 50.0);
    check("first", "runtime", "s", 5.0);
    check("first", "job.min.runtime", "s", 2.0);
    check("first", "job.max.read.bandwidth", "MiB/s", 50.0);
}

#[test]
fn latencies() {
    check("first@a", "read.lat.mean", "ms", 50.5);
    check("first", "read.lat.mean", "ms", 25.75);
    check("first", "read.lat.max", "ms", 100.0);
    check("first", "read.lat.min", "us", 1000.0);
    check("first@a", "read.lat.p50", "ms", 50.0);
    check("first", "read.lat.p75", "ms", 50.0);
    check("first", "read.lat.p50", "ms", 1.0);
    check("first@a", "read.lat.stdev", "ms", 28.866);
    // Of all 200: the variance within the two jobs and between them.
    let all: Vec<f64> = (1..=100).map(f64::from).chain([1.0; 100]).collect();
    let variance = all.iter().map(|ms| (ms - 25.75_f64).powi(2)).sum::<f64>() / 200.0;
    check("first", "total.lat.stdev", "ms", variance.sqrt());
    check("first@a", "read.lat.share(10.5..30.5)", "%", 20.0);
    check("first@a", "read.lat.count(90.5..)", "I/Os", 10.0);
    check("first@a", "read.lat.count(..10.5)", "I/Os", 10.0);
}

#[test]
fn disks_and_the_machine() {
    check("first", "disk.ios", "I/Os", 400.0);
    check("first", "disk[0].ios", "I/Os", 100.0);
    check("first", "disk.iops", "IOPS", 40.0);
    check("first", "disk.io_size", "KiB", 64.0);
    check("first", "disk.latency", "ms", 3.5);
    check("first", "disk.ticks", "ms", 1400.0);
    check("first", "disk[1].in_queue", "ms", 1200.0);
    check("first", "disk.util", "%", 50.0);
    check("first", "held(disk IOPS)", "%", 75.0);
    check("first", "held(VM cached IOPS)", "%", 0.0);
    check("first", "dirty_peak", "GB", 5.0);
    check("first", "drain", "s", 7.0);
}

#[test]
fn seconds_and_phases() {
    check("first", "seconds.read.iops.mean", "IOPS", 20.0);
    check("first", "seconds.read.iops.stdev", "IOPS", 10.0);
    check("first", "seconds.read.lat.p50", "ms", 4.0);
    check("first", "seconds.read.lat.max", "ms", 8.0);
    check("first", "phase(1).duration", "s", 2.0);
    check("first", "phase(1).iops", "IOPS", 20.0);
    check("first", "stall", "s", 0.0);
}

#[test]
fn several_outcomes() {
    check("x*", "outcomes", "runs", 3.0);
    check("x*", "max read.iops", "IOPS", 700.0);
    check("x*", "min read.iops", "IOPS", 100.0);
    check("x*", "mean read.iops", "IOPS", 400.0);
    check("x*", "median read.iops", "IOPS", 400.0);
    check("x1 : x3", "median read.iops", "IOPS", 400.0);
    check("x3 : x*", "ratio read.iops", "x", 1.75);
    // Depths 1, 3 and 1 with 10, 20 and 60 ms.
    check("x*", "linearity read.lat.mean", "x", 3.0 / 28.0);
}

#[test]
fn what_is_not_there_is_said() {
    let error =
        |run: &str, measure: &str, unit: &str| value_of(run, measure, unit).expect_err(run).to_string();
    assert_eq!(
        error("y", "read.ios", "I/Os"),
        "what: no run or section is called `y`"
    );
    assert_eq!(
        error("x*", "read.ios", "I/Os"),
        "what: `x*` means 3 outcomes, and `read.ios` takes one"
    );
    assert_eq!(
        error("x1", "ratio read.ios", "x"),
        "what: `x1` means 1 outcomes, and `ratio read.ios` takes two selections"
    );
    assert_eq!(
        error("x1 : x2", "linearity read.ios", "x"),
        "what: `x1 : x2` means 2 outcomes, and `linearity read.ios` takes three or more"
    );
    for (measure, unit) in [
        ("write.lat.mean", "ms"),
        ("disk[2].ios", "I/Os"),
        ("phase(1).duration", "s"),
        ("seconds.read.iops.max", "IOPS"),
        ("read.clat.share(1..)", "%"),
    ] {
        assert_eq!(
            error("x1", measure, unit),
            format!("what: there is no `{measure}` in x1")
        );
    }
}

#[test]
fn units_are_those_of_the_line() {
    check("first@a", "read.lat.max", "ns", (100 * MILLI) as f64);
    check("first", "read.bytes", "MB", 209.7152);
    check("first", "read.bandwidth", "KB/s", 41_943.04);
}
