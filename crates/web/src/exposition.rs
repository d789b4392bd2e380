//! Metrics as Prometheus reads them: text, `OpenMetrics`, protobuf with native histograms.
//!
//! Data in: [`Family`]s, and what a scraper says that it accepts. Data out: bytes and their content type. It must not know where
//! values come from.
//!
//! Sources: Prometheus' documentation of its exposition formats, the `OpenMetrics` specification 1.0, `io/prometheus/client/metrics.proto`.

mod accept;
mod classic;
mod native;
mod protobuf;
mod text;

pub use accept::Format;

use crate::metric::Metric;
use fathom_core::histogram::Histogram;
use std::borrow::Cow;

/// A metric with all its series.
#[derive(Debug, Clone)]
pub struct Family {
    pub metric: &'static Metric,
    pub series: Vec<Series>,
}

/// One series: a value and its labels.
#[derive(Debug, Clone)]
pub struct Series {
    pub labels: Labels,
    pub value: Value,
}

/// Names and values, as they are.
pub type Labels = Vec<(Cow<'static, str>, String)>;

/// A value.
#[derive(Debug, Clone)]
pub enum Value {
    Number(f64),
    /// Of nanoseconds; exported in seconds.
    Latencies(Histogram),
}

impl Family {
    /// Without series yet.
    pub fn new(metric: &'static Metric) -> Self {
        Self {
            metric,
            series: Vec::new(),
        }
    }

    /// The same with one number more; `values`: of the metric's labels, in their order.
    #[must_use]
    pub fn with(mut self, values: &[&str], value: f64) -> Self {
        self.push(values, Value::Number(value));
        self
    }

    /// Adds a series; `values`: of the metric's labels, in their order.
    pub fn push(&mut self, values: &[&str], value: Value) {
        debug_assert_eq!(values.len(), self.metric.labels.len(), "{}", self.metric.name);
        let names = self.metric.labels.iter().map(|&name| Cow::Borrowed(name));
        let labels = names.zip(values.iter().map(|&value| value.to_owned()));
        self.series.push(Series {
            labels: labels.collect(),
            value,
        });
    }
}

/// The families in a format. Those without series are left out.
pub fn write(families: &[Family], format: Format) -> Vec<u8> {
    let families = families.iter().filter(|family| !family.series.is_empty());
    match format {
        Format::Text => text::write(families, text::Flavour::Prometheus).into_bytes(),
        Format::OpenMetrics => text::write(families, text::Flavour::OpenMetrics).into_bytes(),
        Format::Protobuf => protobuf::write(families),
    }
}

/// The labels of a counter row, `device="vda",op="read"`, with their escapes undone; `None`: they are none.
pub(crate) fn parse_labels(text: &str) -> Option<Vec<(String, String)>> {
    let mut labels = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next()? {
                (at, '"') => break at,
                (_, '\\') => match letters.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        };
        labels.push((name.to_owned(), value));
        rest = &after[end + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    Some(labels)
}

#[cfg(test)]
mod tests;
