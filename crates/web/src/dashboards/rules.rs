//! Alerts and recordings for Prometheus, as a file of rules.

use super::expr::{Expr, all};
use super::share::{self, On};
use crate::metric;
use std::fmt::Write as _;

/// An alert.
struct Alert {
    name: &'static str,
    expr: Expr,
    /// For how long it must be so.
    hold: &'static str,
    severity: &'static str,
    summary: &'static str,
    remedy: &'static str,
}

/// A recording: a name by the convention of level, metric, operation.
struct Recording {
    name: &'static str,
    expr: Expr,
}

fn recordings() -> Vec<Recording> {
    let by = "instance, section, op";
    let quantile = |q| all(metric::LOAD_LATENCY).quantile(q, by);
    vec![
        Recording {
            name: "instance_section_op:fathom_load_ios:rate1m",
            expr: share::measured(all(metric::LOAD_IOS).rate().sum_by(by), all),
        },
        Recording {
            name: "instance_section_op:fathom_load_bytes:rate1m",
            expr: share::measured(all(metric::LOAD_BYTES).rate().sum_by(by), all),
        },
        Recording {
            name: "instance_section_op:fathom_load_latency_seconds:p50_1m",
            expr: quantile(0.5),
        },
        Recording {
            name: "instance_section_op:fathom_load_latency_seconds:p99_1m",
            expr: quantile(0.99),
        },
        Recording {
            name: "instance:fathom_limit_ios:ratio1m",
            expr: share::nearest(all, On::Ios, "instance"),
        },
        Recording {
            name: "instance:fathom_limit_bytes:ratio1m",
            expr: share::nearest(all, On::Bytes, "instance"),
        },
        Recording {
            name: "instance_device:node_disk_busy:ratio1m",
            expr: all(metric::DISK_BUSY).rate(),
        },
    ]
}

fn alerts() -> Vec<Alert> {
    let requests = all(metric::DISK_READS)
        .rate()
        .plus(all(metric::DISK_WRITES).rate());
    vec![
        Alert {
            name: "FathomAtIopsLimit",
            expr: share::at_limit(all, On::Ios, "5m"),
            hold: "10m",
            severity: "warning",
            summary: "{{ $labels.instance }}{{ with $labels.disk }}, {{ . }},{{ end }} has been at {{ $value | humanizePercentage }} of its limit on I/Os for 10 minutes",
            remedy: "Take a disk or a machine with a higher limit (fathom plan), or send fewer and larger I/Os.",
        },
        Alert {
            name: "FathomAtThroughputLimit",
            expr: share::at_limit(all, On::Bytes, "5m"),
            hold: "10m",
            severity: "warning",
            summary: "{{ $labels.instance }}{{ with $labels.disk }}, {{ . }},{{ end }} has been at {{ $value | humanizePercentage }} of its limit on bytes for 10 minutes",
            remedy: "Take a disk or a machine with a higher limit (fathom plan).",
        },
        Alert {
            name: "FathomCreditGoneInAnHour",
            expr: share::credit_in_an_hour(all, "10m")
                .is("<= 0")
                .and(all(metric::CREDIT_LEFT_AMOUNT).now().is("> 0")),
            hold: "5m",
            severity: "warning",
            summary: "{{ $labels.instance }}: the burst credit of {{ $labels.limit }} will be spent within an hour",
            remedy: "From then on the disk gives its base rate: lower the load, or take a disk whose base rate suffices.",
        },
        Alert {
            name: "FathomCreditSpent",
            expr: all(metric::CREDIT_LEFT).now().is("< 0.01"),
            hold: "1m",
            severity: "critical",
            summary: "{{ $labels.instance }}: the burst credit of {{ $labels.limit }} is spent",
            remedy: "The disk gives its base rate now: take one whose base rate suffices.",
        },
        Alert {
            name: "FathomDeviceStalls",
            expr: requests.is("== 0").and(all(metric::DISK_NOW).now().is("> 0")),
            hold: "30s",
            severity: "critical",
            summary: "{{ $labels.instance }}: requests are in flight at {{ $labels.device }}, and none has been completed for a minute",
            remedy: "See the kernel's log, and the provider's state of the disk.",
        },
        Alert {
            name: "FathomServedLate",
            expr: all(metric::SERVED_VALID).now().is("== 0"),
            hold: "1m",
            severity: "warning",
            summary: "{{ $labels.instance }}: answers of the modelled disk come late by more than a tenth of the median service time",
            remedy: "What is measured on it is not valid: give the server a CPU of its own, or real time (root).",
        },
        Alert {
            name: "FathomLoadErrors",
            expr: all(metric::LOAD_ERRORS).over("5m").increase().is("> 0"),
            hold: "0s",
            severity: "critical",
            summary: "{{ $labels.instance }}: I/Os of {{ $labels.section }} ({{ $labels.op }}) fail",
            remedy: "The report of the run names the first error with its place.",
        },
        Alert {
            name: "FathomDisturbed",
            expr: all(metric::DISTURBANCES).over("10m").increase().is("> 10"),
            hold: "1m",
            severity: "warning",
            summary: "{{ $labels.instance }}: more than 10 seconds of the last 10 minutes had an I/O far slower than usual ({{ $labels.cause }})",
            remedy: "Record what happens (fathom record) and let fathom explain say whose it is.",
        },
    ]
}

/// A string as YAML reads it: JSON's are YAML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn text() -> String {
    let mut text = String::from("# Made by fathom dashboards; check with: promtool check rules\ngroups:\n");
    // Writing to a string does not fail.
    let _ = writeln!(text, "  - name: fathom-recordings\n    interval: 15s\n    rules:");
    for Recording { name, expr } in recordings() {
        let _ = writeln!(
            text,
            "      - record: {name}\n        expr: {}",
            quoted(&expr.to_string())
        );
    }
    let _ = writeln!(text, "  - name: fathom-alerts\n    rules:");
    for alert in alerts() {
        let Alert {
            name,
            expr,
            hold,
            severity,
            summary,
            remedy,
        } = alert;
        let expr = quoted(&expr.to_string());
        let (summary, remedy) = (quoted(summary), quoted(remedy));
        let _ = writeln!(
            text,
            "      - alert: {name}\n        expr: {expr}\n        for: {hold}\n        labels:\n          severity: {severity}\n        \
             annotations:\n          summary: {summary}\n          description: {remedy}"
        );
    }
    text
}

/// The recordings' queries: those of alerts have data only where something is wrong.
pub(super) fn queries() -> Vec<String> {
    recordings()
        .iter()
        .map(|recording| recording.expr.to_string())
        .collect()
}
