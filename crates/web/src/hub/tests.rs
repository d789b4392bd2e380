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
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::CreditLeft;

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

/// A second of a job whose I/Os took so long.
fn second(hub: &Hub, second: u32, op: Op, each_ns: &[u64]) {
    let mut lat = Histogram::new();
    for &ns in each_ns {
        lat.record(ns);
    }
    hub.latencies(&[IntervalLatency {
        second,
        job: 0,
        op,
        lat: lat.clone(),
        response: Histogram::new(),
    }]);
    hub.rows(&[SeriesRow {
        second,
        end: MonoTime(u64::from(second + 1) * SECOND),
        duration_ns: SECOND,
        job: 0,
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
