#![expect(
    clippy::float_cmp,
    reason = "sums are exported as they are, to the last digit"
)]

use super::{About, Hub};
use crate::exposition::{Format, write};
use fathom_analysis::explain::{KnownDisk, LimitScope};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::record::CounterRow;
use fathom_core::run::{Counted, IntervalLatency, SERIES_PERCENTILES, SeriesRow};
use fathom_core::served::{Credit, DiskStatus, Lateness, LimitStatus, SCHEMA, Status};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::CreditLeft;
use fathom_engine::run::{GroupProgress, Progress};

const SECOND: u64 = 1_000_000_000;

fn about() -> About {
    About {
        title: String::from("a title"),
        target: String::from("vda"),
        version: String::from("0"),
        jobs: vec![String::from("one\"<script>")],
        limits: vec![KnownDisk {
            name: String::from("P15"),
            scope: LimitScope::Disk,
            iops: Some(1000.0),
            bytes_per_second: None,
            own: true,
        }],
        devices: vec![String::from("vda")],
        ..About::default()
    }
}

/// A second of the first job whose I/Os took so long.
fn second(hub: &Hub, at: u32, op: Op, each_ns: &[u64]) {
    second_of(hub, 0, at, op, each_ns);
}

/// A second of a job whose I/Os took so long.
fn second_of(hub: &Hub, job: u32, second: u32, op: Op, each_ns: &[u64]) {
    let mut lat = Histogram::new();
    for &ns in each_ns {
        lat.record(ns);
    }
    hub.latencies(&[IntervalLatency {
        second,
        job,
        op,
        lat: lat.clone(),
        response: Histogram::new(),
    }]);
    hub.rows(&[SeriesRow {
        second,
        end: MonoTime(u64::from(second + 1) * SECOND),
        duration_ns: SECOND,
        job,
        ramp: false,
        op,
        ios: lat.n(),
        bytes: lat.n() * 4096,
        errors: 0,
        lat: lat.summary(&SERIES_PERCENTILES),
        response: Histogram::new().summary(&[]),
        backlog: 3,
        late_ios: 0,
    }]);
}

fn text(hub: &Hub) -> String {
    String::from_utf8(write(&hub.families(), Format::Text)).expect("text")
}

fn value(text: &str, series: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("{series} is not in\n{text}"));
    line.parse().expect("a number")
}

#[test]
fn sums_are_those_of_the_rows_and_never_go_back() {
    let hub = Hub::new(about());
    let (mut ios, mut before) = (0, 0.0);
    for at in 0..20 {
        let each = vec![100_000 + u64::from(at); 10 + at as usize];
        ios += each.len() as u64;
        second(&hub, at, Op::Read, &each);
        let text = text(&hub);
        let labels = r#"{section="one\"<script>",op="read"}"#;
        let now = value(&text, &format!("fathom_load_ios_total{labels}"));
        assert!(now > before);
        before = now;
        assert_eq!(now, ios as f64);
        assert_eq!(
            value(&text, &format!("fathom_load_latency_seconds_count{labels}")),
            now
        );
        assert_eq!(
            value(&text, &format!("fathom_load_bytes_total{labels}")),
            now * 4096.0
        );
    }
    let text = text(&hub);
    assert_eq!(
        value(&text, "fathom_load_backlog_ios{section=\"one\\\"<script>\"}"),
        3.0
    );
    assert_eq!(
        value(&text, r#"fathom_limit_ios_per_second{limit="P15",scope="disk"}"#),
        1000.0
    );
    assert!(!text.contains("fathom_limit_bytes_per_second{"), "not known");
}

#[test]
fn sections_and_groups_of_one_name_are_series_of_their_own() {
    let hub = Hub::new(About {
        jobs: ["load", "load", "load (2)", "load"].map(str::to_owned).into(),
        ..about()
    });
    for job in 0..4 {
        second_of(&hub, job, 0, Op::Read, &vec![200_000; 10 + job as usize]);
    }
    let group = |number, name: &str, running| GroupProgress {
        group: number,
        name: name.to_owned(),
        running,
        ..GroupProgress::default()
    };
    for _ in 0..2 {
        hub.progress(&Progress {
            groups: vec![group(0, "a, b", 1), group(1, "a, b", 2), group(7, "a", 3)],
            ..Progress::default()
        });
    }
    let text = text(&hub);
    for (section, ios) in [
        ("load", 10.0),
        ("load (3)", 11.0),
        ("load (2)", 12.0),
        ("load (4)", 13.0),
    ] {
        let series = format!("fathom_load_ios_total{{section=\"{section}\",op=\"read\"}}");
        assert_eq!(value(&text, &series), ios, "{series}");
        assert_eq!(
            value(
                &text,
                &format!("fathom_load_backlog_ios{{section=\"{section}\"}}")
            ),
            3.0
        );
    }
    for (group, workers) in [("a, b", 1.0), ("a, b (2)", 2.0), ("a", 3.0)] {
        assert_eq!(
            value(&text, &format!("fathom_load_workers{{group=\"{group}\"}}")),
            workers
        );
    }
    let series: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.rsplit_once(' ')?.0))
        .collect();
    let apart: std::collections::BTreeSet<&str> = series.iter().copied().collect();
    assert_eq!(apart.len(), series.len(), "a series is there twice");
    // Who looks at the page sees the same names.
    let told = hub.feed().after(0).expect("events").text;
    assert!(
        told.contains("\"jobs\":[\"load\",\"load (3)\",\"load (2)\",\"load (4)\"]"),
        "{told}"
    );
    assert!(told.contains("\"job\":\"load (4)\""), "{told}");
}

/// Rows of one job and direction, each of a second until then, with no I/O.
fn seconds_until(hub: &Hub, job: u32, ends: &[(u64, u64)]) {
    let none = || Histogram::new().summary(&SERIES_PERCENTILES);
    let rows: Vec<SeriesRow> = ends
        .iter()
        .map(|&(end_ns, duration_ns)| SeriesRow {
            second: (end_ns / SECOND) as u32,
            end: MonoTime(end_ns),
            duration_ns,
            job,
            ramp: false,
            op: Op::Read,
            ios: 0,
            bytes: 0,
            errors: 0,
            lat: none(),
            response: none(),
            backlog: 0,
            late_ios: 0,
        })
        .collect();
    hub.rows(&rows);
}

#[test]
fn measured_time_is_that_of_the_rows_once_and_of_a_sweeps_points_each() {
    let measured = |hub: &Hub| value(&text(hub), "fathom_measured_seconds_total");
    let (half, origin) = (SECOND / 2, 77 * SECOND);
    let run = Hub::new(about());
    // Two jobs of the same time, one with a ramp that ends in between, the other's rows later; then a pause.
    seconds_until(
        &run,
        0,
        &[
            (origin + half, half),
            (origin + SECOND, half),
            (origin + 2 * SECOND, SECOND),
        ],
    );
    assert_eq!(measured(&run), 2.0);
    seconds_until(
        &run,
        1,
        &[(origin + SECOND, SECOND), (origin + 2 * SECOND, SECOND)],
    );
    seconds_until(&run, 1, &[(origin + 3 * SECOND, SECOND)]);
    assert_eq!(measured(&run), 3.0);
    seconds_until(&run, 0, &[(origin + 9 * SECOND, SECOND)]);
    assert_eq!(measured(&run), 4.0);
    let sweep = Hub::new(About {
        sweep_steps: Some(2),
        ..about()
    });
    for second in 1..=3 {
        for _point in 0..2 {
            // Reads and writes.
            let one = (second * SECOND, SECOND);
            seconds_until(&sweep, 0, &[one, one]);
        }
    }
    assert_eq!(measured(&sweep), 6.0);
}

#[test]
fn a_disturbance_is_counted_with_what_counters_show_of_its_second() {
    let hub = Hub::new(about());
    let cpu = |at: u64, idle: f64, steal: f64| {
        let row = |mode: &str, value| CounterRow {
            at_ns: at * SECOND,
            metric: "node_cpu_seconds_total".into(),
            labels: format!("cpu=\"0\",mode=\"{mode}\"").into(),
            value,
        };
        hub.counters(at * SECOND, &[row("idle", idle), row("steal", steal)]);
    };
    for at in 0..6 {
        second(&hub, at, Op::Read, &[200_000; 100]);
        cpu(u64::from(at), f64::from(at), 0.0);
    }
    let nothing = text(&hub);
    assert_eq!(
        value(&nothing, r#"fathom_disturbances_total{cause="cpu_steal"}"#),
        0.0
    );
    second(&hub, 6, Op::Read, &[200_000, 200_000, 50_000_000]);
    cpu(7, 6.5, 0.5);
    second(&hub, 7, Op::Read, &[200_000, 200_000, 80_000_000]);
    let text = text(&hub);
    assert_eq!(
        value(&text, r#"fathom_disturbances_total{cause="not_seen"}"#),
        1.0
    );
    assert_eq!(
        value(&text, r#"fathom_disturbances_total{cause="cpu_steal"}"#),
        1.0
    );
    assert_eq!(
        value(&text, r#"fathom_disturbed_seconds_total{cause="cpu_steal"}"#),
        0.08
    );
    assert_eq!(
        value(&text, r#"node_cpu_seconds_total{cpu="0",mode="steal"}"#),
        0.5
    );
}

#[test]
fn at_a_known_limit_a_disturbance_is_its() {
    let hub = Hub::new(about());
    for at in 0..6 {
        second(&hub, at, Op::Write, &[200_000; 990]);
    }
    let mut each = vec![200_000; 990];
    each[0] = 30_000_000;
    second(&hub, 6, Op::Write, &each);
    assert_eq!(
        value(&text(&hub), r#"fathom_disturbances_total{cause="at_limit"}"#),
        1.0
    );
}

#[test]
fn credit_is_a_share_and_an_amount() {
    let hub = Hub::new(about());
    hub.credit(&[CreditLeft {
        limit: "disk IOPS",
        counts: Counted::IoUnits,
        left: 2500.0,
        full: 10_000.0,
    }]);
    let text = text(&hub);
    assert_eq!(
        value(&text, r#"fathom_credit_left_ratio{limit="disk IOPS"}"#),
        0.25
    );
    assert_eq!(
        value(&text, r#"fathom_credit_left{limit="disk IOPS",unit="ios"}"#),
        2500.0
    );
}

#[test]
fn what_is_not_in_the_table_is_not_exported() {
    let hub = Hub::new(about());
    let row = |metric: &'static str, labels: &'static str| CounterRow {
        at_ns: 1,
        metric: metric.into(),
        labels: labels.into(),
        value: 5.0,
    };
    hub.counters(
        1,
        &[
            row("node_load1", ""),
            row("fathom_worker_thread_id", "job=\"a\""),
            row("node_intr_total", "broken"),
        ],
    );
    let text = text(&hub);
    assert_eq!(value(&text, "node_load1"), 5.0);
    assert!(!text.contains("thread_id") && !text.contains("broken"));
}

#[test]
fn who_looks_is_told_of_each_interval_once() {
    let hub = Hub::new(about());
    for at in 0..3 {
        second(&hub, at, Op::Read, &[200_000; 4]);
    }
    hub.end();
    hub.end();
    let told = hub.feed().after(0).expect("events").text;
    let kinds: Vec<&str> = told
        .lines()
        .filter_map(|line| line.strip_prefix("event: "))
        .collect();
    assert_eq!(kinds, ["about", "interval", "interval", "interval", "end"]);
    let data = told.lines().filter_map(|line| line.strip_prefix("data: ")).nth(2);
    let data: serde_json::Value = serde_json::from_str(data.expect("an interval")).expect("JSON");
    assert_eq!(data["t"], 2.0);
    assert_eq!(data["loads"][0]["iops"], 4.0);
    // 200 µs are 7.6 octaves above 1 µs.
    assert_eq!(data["loads"][0]["heat"], serde_json::json!([[30, 4]]));
    assert_eq!(value(&text(&hub), "fathom_running"), 0.0);
}

/// How a disk stands whose limit held half of the time of its I/Os, in the second before `uptime_s`.
fn standing(uptime_s: u64, throttled_percent: f64, faults: &[&str]) -> Status {
    let limit = |limit: &'static str, counts| LimitStatus {
        limit: limit.into(),
        counts,
        rate_per_second: 1000,
        used_per_second: 900.0,
        held_ns: 0,
        used_total: uptime_s * 900,
        held_ns_total: uptime_s * SECOND / 2,
        credit: (counts == Counted::IoUnits).then_some(Credit {
            left: 500,
            full: 2000,
            ends_in_s: Some(5.0),
        }),
    };
    Status {
        schema: SCHEMA,
        uptime_ns: uptime_s * SECOND,
        lateness_ns: Lateness {
            valid: Some(true),
            ..Lateness::default()
        },
        early_ns: 40_000,
        limits: vec![limit("VM uncached IOPS", Counted::IoUnits)],
        disks: ["data", "log"]
            .map(|name| DiskStatus {
                name: name.to_owned(),
                size_bytes: 4096,
                attached: true,
                faults: faults.iter().map(|&fault| fault.to_owned()).collect(),
                in_flight: 3,
                read_iops: 900.0,
                write_iops: 0.0,
                read_bytes_per_second: 900.0 * 4096.0,
                written_bytes_per_second: 0.0,
                flushes_per_second: 0.0,
                lat_ns_mean: None,
                throttled_percent,
                errors: 0,
                unflushed_bytes: 512,
                limits: vec![limit("disk MB/s", Counted::Bytes)],
            })
            .into(),
    }
}

#[test]
fn disks_that_are_served_are_told_apart_and_their_machine_is_told_once() {
    let hub = Hub::new(about());
    let mut late = Histogram::new();
    late.record(30_000);
    hub.served(standing(10, 50.0, &[]), late);
    let text = text(&hub);
    for (series, expected) in [
        (r#"fathom_served_in_flight_ios{disk="data"}"#, 3.0),
        (r#"fathom_served_throttled_ratio{disk="log"}"#, 0.5),
        (
            r#"fathom_served_limit_used_total{disk="all disks",limit="VM uncached IOPS",unit="ios"}"#,
            9000.0,
        ),
        (
            r#"fathom_served_limit_held_seconds_total{disk="log",limit="disk MB/s"}"#,
            5.0,
        ),
        (
            r#"fathom_served_credit_ends_seconds{disk="all disks",limit="VM uncached IOPS"}"#,
            5.0,
        ),
        (
            r#"fathom_credit_left_ratio{limit="all disks: VM uncached IOPS"}"#,
            0.25,
        ),
        ("fathom_served_lateness_seconds_count", 1.0),
        ("fathom_served_valid", 1.0),
        ("fathom_served_early_seconds", 40e-6),
        ("fathom_elapsed_seconds", 10.0),
    ] {
        assert_eq!(value(&text, series), expected, "{series}");
    }
    let batch = hub.feed().after(0).expect("events").text;
    assert!(
        batch.contains("event: served\ndata: {\"t\":10.0,\"status\":{"),
        "{batch}"
    );
}

#[test]
fn what_a_served_disk_was_told_to_do_or_its_limits_held_is_the_cause() {
    let cause = |throttled: f64, faults: &[&str], later_s: u64| {
        let hub = Hub::new(about());
        for at in 0..8 {
            hub.served(standing(u64::from(at), 0.0, &[]), Histogram::new());
            second(&hub, at, Op::Read, &[100_000; 50]);
        }
        hub.served(standing(9, throttled, faults), Histogram::new());
        hub.served(standing(9 + later_s, throttled, &[]), Histogram::new());
        second(&hub, 9, Op::Read, &[900_000_000; 50]);
        let text = text(&hub);
        let of = |cause: &str| value(&text, &format!("fathom_disturbances_total{{cause=\"{cause}\"}}"));
        ["fault", "at_limit", "not_seen"].map(of)
    };
    assert_eq!(cause(0.0, &[], 1), [0.0, 0.0, 1.0]);
    assert_eq!(cause(50.0, &[], 1), [0.0, 1.0, 0.0]);
    // What a stall held comes when it is over.
    assert_eq!(cause(0.0, &["stalled for 2 s more"], 1), [1.0, 0.0, 0.0]);
    // One that ended long before is not to blame.
    assert_eq!(cause(0.0, &["stalled for 2 s more"], 30), [0.0, 0.0, 1.0]);
}
