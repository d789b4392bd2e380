//! Metrics as protobuf, `io.prometheus.client.MetricFamily`, each behind its length.
//!
//! Written by hand, for it is four kinds of fields: a generator would cost more than it saves. Numbers of fields are those of
//! `io/prometheus/client/metrics.proto`.

use super::classic::{BOUNDS_NS, cumulative};
use super::native::{Native, SCHEMA, ZERO_THRESHOLD};
use super::{Family, Labels, Series, Value};
use crate::metric::Kind;
use fathom_core::histogram::Histogram;

pub(super) fn write<'a>(families: impl Iterator<Item = &'a Family>) -> Vec<u8> {
    let mut out = Message::default();
    for family in families {
        let mut message = Message::default();
        message.text(1, family.metric.name);
        message.text(2, family.metric.help);
        message.number(3, kind(family.metric.kind));
        for series in &family.series {
            message.message(4, &metric(family.metric.kind, series));
        }
        out.varint(message.0.len() as u64);
        out.0.extend_from_slice(&message.0);
    }
    out.0
}

fn kind(kind: Kind) -> u64 {
    match kind {
        Kind::Counter => 0,
        Kind::Gauge => 1,
        Kind::Untyped => 3,
        Kind::Histogram => 4,
    }
}

fn metric(kind: Kind, series: &Series) -> Message {
    let mut message = Message::default();
    labels(&mut message, &series.labels);
    match &series.value {
        Value::Number(value) => {
            let field = match kind {
                Kind::Gauge => 2,
                Kind::Counter => 3,
                Kind::Untyped | Kind::Histogram => 5,
            };
            let mut number = Message::default();
            number.double(1, *value);
            message.message(field, &number);
        }
        Value::Latencies(latencies) => message.message(7, &histogram(latencies)),
    }
    message
}

fn labels(message: &mut Message, labels: &Labels) {
    for (name, value) in labels {
        let mut pair = Message::default();
        pair.text(1, name);
        pair.text(2, value);
        message.message(1, &pair);
    }
}

fn histogram(histogram: &Histogram) -> Message {
    let mut message = Message::default();
    message.number(1, histogram.n());
    message.double(2, histogram.sum() as f64 / 1e9);
    for (bound_ns, count) in BOUNDS_NS.into_iter().zip(cumulative(histogram)) {
        let mut bucket = Message::default();
        bucket.number(1, count);
        bucket.double(2, bound_ns as f64 / 1e9);
        message.message(3, &bucket);
    }
    let native = Native::of(histogram);
    message.signed(5, i64::from(SCHEMA));
    message.double(6, ZERO_THRESHOLD);
    message.number(7, native.zero);
    for span in &native.spans {
        let mut part = Message::default();
        part.signed(1, i64::from(span.offset));
        part.number(2, u64::from(span.length));
        message.message(12, &part);
    }
    // Each count as its difference from the one before.
    let mut deltas = Message::default();
    let mut before = 0i64;
    for &count in &native.counts {
        let count = count as i64;
        deltas.varint(zigzag(count - before));
        before = count;
    }
    if !deltas.0.is_empty() {
        message.message(13, &deltas);
    }
    message
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// A message as it is written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.key(field, 0);
        self.varint(value);
    }

    fn signed(&mut self, field: u64, value: i64) {
        self.number(field, zigzag(value));
    }

    fn double(&mut self, field: u64, value: f64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }
}
