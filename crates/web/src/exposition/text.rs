//! Metrics as text: Prometheus' own, and `OpenMetrics`, which differs in a few words.

use super::classic::{BOUNDS_NS, cumulative};
use super::{Family, Labels, Series, Value};
use crate::metric::{Kind, Metric};
use fathom_core::histogram::Histogram;
use std::fmt::Write as _;

/// Which text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Prometheus,
    OpenMetrics,
}

pub(super) fn write<'a>(families: impl Iterator<Item = &'a Family>, flavour: Flavour) -> String {
    let mut text = String::new();
    for family in families {
        head(&mut text, family.metric, flavour);
        for series in &family.series {
            one(&mut text, family.metric, series);
        }
    }
    if flavour == Flavour::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

fn head(text: &mut String, metric: &Metric, flavour: Flavour) {
    let open = flavour == Flavour::OpenMetrics;
    // OpenMetrics names a counter without what its samples end in.
    let name = match metric.kind {
        Kind::Counter if open => metric.name.trim_end_matches("_total"),
        _ => metric.name,
    };
    let kind = match metric.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Untyped if open => "unknown",
        Kind::Untyped => "untyped",
        Kind::Histogram => "histogram",
    };
    // Writing to a string does not fail.
    let _ = write!(text, "# HELP {name} {}\n# TYPE {name} {kind}\n", metric.help);
}

fn one(text: &mut String, metric: &Metric, series: &Series) {
    match &series.value {
        Value::Number(value) => sample(text, metric.name, "", &series.labels, None, *value),
        Value::Latencies(histogram) => buckets(text, metric.name, &series.labels, histogram),
    }
}

fn buckets(text: &mut String, name: &str, labels: &Labels, histogram: &Histogram) {
    for (bound_ns, count) in BOUNDS_NS.into_iter().zip(cumulative(histogram)) {
        let bound = number(bound_ns as f64 / 1e9);
        sample(text, name, "_bucket", labels, Some(&bound), count as f64);
    }
    let n = histogram.n() as f64;
    sample(text, name, "_bucket", labels, Some("+Inf"), n);
    sample(text, name, "_sum", labels, None, histogram.sum() as f64 / 1e9);
    sample(text, name, "_count", labels, None, n);
}

fn sample(text: &mut String, name: &str, ending: &str, labels: &Labels, bound: Option<&str>, value: f64) {
    text.push_str(name);
    text.push_str(ending);
    let labels = labels.iter().map(|(name, value)| (name.as_ref(), value.as_str()));
    let mut before = '{';
    for (name, value) in labels.chain(bound.map(|bound| ("le", bound))) {
        text.push(before);
        before = ',';
        let _ = write!(text, "{name}=\"{}\"", escaped(value));
    }
    if before == ',' {
        text.push('}');
    }
    let _ = writeln!(text, " {}", number(value));
}

/// A number as both formats read it: whole ones of a bound with a decimal, as `OpenMetrics` has them.
fn number(value: f64) -> String {
    if value.is_nan() {
        String::from("NaN")
    } else if value.is_infinite() {
        String::from(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        format!("{value:?}")
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
