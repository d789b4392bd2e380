//! `fathom explain --prometheus`: hours of four nodes, made, imported by promtool, served by a real Prometheus.

use crate::harness::{Place, at, skipped, tool};
use crate::served::prometheus::Prometheus;
use fathom_core::rng::Rng;
use serde_json::Value;
use std::fmt::Write as _;

/// A moment of the past, and how often was scraped for how long.
const BEGIN_S: u64 = 1_790_000_000;
const STEP_S: u64 = 15;
const STEPS: u64 = 240;

/// What a node does a second.
#[derive(Clone, Copy)]
struct Rates {
    iops: f64,
    queue: f64,
    memory_stalled: f64,
    available: f64,
    busy: f64,
}

const IDLE: Rates = Rates {
    iops: 4.0,
    queue: 0.02,
    memory_stalled: 0.0,
    available: 0.7,
    busy: 0.05,
};

/// What each node does at a step.
fn node(name: &str, step: u64, rng: &mut Rng) -> Rates {
    let noise = rng.below(1000) as f64 / 1000.0;
    match name {
        // Half of the hour at what a P15 gives.
        "disk" if step % 40 < 20 => Rates {
            iops: 1100.0 - noise,
            queue: 12.0 + noise,
            ..IDLE
        },
        "machine" => Rates {
            iops: 3750.0 - noise * 4.0,
            queue: 40.0 + noise,
            ..IDLE
        },
        "memory" => Rates {
            memory_stalled: 0.1 + noise * 0.2,
            available: 0.01,
            busy: 0.3,
            ..IDLE
        },
        _ => Rates {
            iops: IDLE.iops + noise * 30.0,
            ..IDLE
        },
    }
}

const NODES: [&str; 4] = ["disk", "machine", "memory", "idle"];

/// The counters of all nodes as `OpenMetrics`, with times.
fn open_metrics(seed: u64) -> String {
    let mut families: std::collections::BTreeMap<(&str, &str), Vec<String>> =
        std::collections::BTreeMap::new();
    for (number, name) in NODES.into_iter().enumerate() {
        let mut rng = Rng::stream(seed, number as u64);
        let mut sums: std::collections::BTreeMap<(&str, &str), f64> = std::collections::BTreeMap::new();
        for step in 0..=STEPS {
            let rates = node(name, step, &mut rng);
            let time = BEGIN_S + step * STEP_S;
            let grown = [
                (
                    "node_cpu_seconds_total",
                    "cpu=\"0\",mode=\"user\"",
                    2.0 * rates.busy,
                ),
                (
                    "node_cpu_seconds_total",
                    "cpu=\"0\",mode=\"idle\"",
                    2.0 * (1.0 - rates.busy),
                ),
                ("node_disk_reads_completed_total", "device=\"sdc\"", rates.iops),
                ("node_disk_writes_completed_total", "device=\"sdc\"", 0.0),
                (
                    "node_disk_read_bytes_total",
                    "device=\"sdc\"",
                    rates.iops * 4096.0,
                ),
                (
                    "node_disk_io_time_seconds_total",
                    "device=\"sdc\"",
                    rates.queue.min(1.0),
                ),
                (
                    "node_disk_io_time_weighted_seconds_total",
                    "device=\"sdc\"",
                    rates.queue,
                ),
                (
                    "node_pressure_memory_waiting_seconds_total",
                    "",
                    rates.memory_stalled * 1.2,
                ),
                (
                    "node_pressure_memory_stalled_seconds_total",
                    "",
                    rates.memory_stalled,
                ),
            ];
            for (metric, labels, a_second) in grown {
                let sum = sums.entry((metric, labels)).or_default();
                *sum += a_second * STEP_S as f64;
                let comma = if labels.is_empty() { "" } else { "," };
                let line = format!("{metric}{{instance=\"{name}:9100\"{comma}{labels}}} {sum} {time}\n");
                families.entry((metric, "counter")).or_default().push(line);
            }
            for (metric, value) in [
                ("node_memory_MemTotal_bytes", 1e10),
                ("node_memory_MemAvailable_bytes", 1e10 * rates.available),
            ] {
                let line = format!("{metric}{{instance=\"{name}:9100\"}} {value} {time}\n");
                families.entry((metric, "gauge")).or_default().push(line);
            }
        }
    }
    let mut text = String::new();
    for ((metric, kind), lines) in families {
        writeln!(text, "# TYPE {} {kind}", metric.trim_end_matches("_total")).expect("a string");
        for line in lines {
            text.push_str(&line);
        }
    }
    text.push_str("# EOF\n");
    text
}

#[test]
fn what_limited_a_node_is_told_from_its_history() {
    let test = "what_limited_a_node_is_told_from_its_history";
    if tool("promtool --version").is_err() {
        return skipped(test, "promtool");
    }
    let seed = fathom_testkit::seed();
    let place = Place::new();
    let own = Place::new();
    let text = place.write("history.om", open_metrics(seed));
    let blocks = place.path("tsdb");
    tool(&format!(
        "promtool tsdb create-blocks-from openmetrics -q {} {}",
        text.display(),
        blocks.display()
    ))
    .expect("blocks");
    let Some(server) = Prometheus::start_in(place, &[], None) else {
        return skipped(test, "prometheus");
    };
    let time = |s: u64| {
        jiff::Timestamp::from_second(s as i64)
            .expect("a time")
            .to_string()
    };
    let line = |node: &str, more: &str| {
        format!(
            "explain --prometheus http://{} --instance {node} --from {} --to {} {more}",
            server.at,
            time(BEGIN_S),
            time(BEGIN_S + STEPS * STEP_S)
        )
    };
    let told = |node: &str, more: &str| own.fathom(&line(node, more)).expect(0).stdout;
    let limited = |text: &str| -> String {
        let lines: Vec<&str> = text.lines().collect();
        let from = lines
            .iter()
            .position(|line| line.starts_with("What limited it"))
            .expect("a verdict");
        lines[from..]
            .iter()
            .take(3)
            .map(|line| line.trim())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let disk = told("disk", "");
    assert!(limited(&disk).contains("disk sdc, I/Os a second"), "{disk}");
    assert!(
        limited(&disk).contains("near the limit of P15"),
        "seed {seed}: {disk}"
    );
    // With the port as well.
    assert_eq!(limited(&told("disk:9100", "")), limited(&disk));
    let machine = told("machine", "--machine Standard_D2s_v5");
    assert!(
        limited(&machine).contains("Standard_D2s_v5 uncached"),
        "{machine}"
    );
    let memory = told("memory", "");
    assert!(
        limited(&memory).starts_with("What limited it: memory"),
        "{memory}"
    );
    let idle = told("idle", "");
    assert!(limited(&idle).contains("nothing that counters show"), "{idle}");
    assert!(
        idle.contains("What such averages cannot show") && idle.contains("15.0 s"),
        "{idle}"
    );
    let json: Value = serde_json::from_str(&told("disk", "--json")).expect("JSON");
    assert_eq!(at(&json, "schema"), "fathom.use/1");
    assert_eq!(at(&json, "step_ns").as_u64(), Some(STEP_S * 1_000_000_000));
    own.fathom(&line("nobody", ""))
        .expect(2)
        .saying("no counters of a node exporter's instance");
    own.fathom(&line("disk", "--disk P99"))
        .expect(2)
        .saying("--disk P99");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let place = Place::new();
    for (line, said) in [
        (
            "explain --prometheus https://host --instance a",
            "only http:// is spoken here",
        ),
        (
            "explain --prometheus http://127.0.0.1:1 --instance a",
            "http://127.0.0.1:1",
        ),
        ("explain --prometheus http://127.0.0.1:1", "--instance"),
        (
            "explain --prometheus http://127.0.0.1:1 --instance a --from tomorrow",
            "is no time",
        ),
        (
            "explain --prometheus http://127.0.0.1:1 --instance a --from 1m --to 1h",
            "the earlier time with --from",
        ),
        ("explain", "<DIR>"),
    ] {
        place.fathom(line).expect(2).saying(said);
    }
}
