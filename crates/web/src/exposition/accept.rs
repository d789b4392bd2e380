//! Which format a scraper wants.
//!
//! Data in: the `Accept` header. Data out: a [`Format`]. What is not understood means Prometheus' text, which every scraper reads.

/// A format of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' own text, version 0.0.4.
    Text,
    /// `OpenMetrics` 1.0.0.
    OpenMetrics,
    /// Prometheus' protobuf, each family behind its length; the one that carries native histograms.
    Protobuf,
}

const PROTOBUF: &str = "application/vnd.google.protobuf";
const OPEN_METRICS: &str = "application/openmetrics-text";

impl Format {
    /// The one that is liked best of those that are written here; of several alike, the first.
    pub fn of(accept: &str) -> Self {
        let mut best = (0.0, Self::Text);
        for offer in accept.split(',') {
            let mut parts = offer.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let (mut liked, mut fits) = (1.0, true);
            for part in parts {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                let value = value.trim_matches('"');
                match key.to_ascii_lowercase().as_str() {
                    "q" => liked = value.parse().unwrap_or(0.0),
                    "proto" => fits &= value == "io.prometheus.client.MetricFamily",
                    "encoding" => fits &= value == "delimited",
                    // 0.0.1, which Prometheus names as well, is what came before 1.0.0.
                    "version" if kind == OPEN_METRICS => fits &= value == "1.0.0",
                    _ => {}
                }
            }
            let format = match kind.as_str() {
                PROTOBUF => Self::Protobuf,
                OPEN_METRICS => Self::OpenMetrics,
                "text/plain" | "text/*" | "*/*" => Self::Text,
                _ => continue,
            };
            if fits && liked > best.0 {
                best = (liked, format);
            }
        }
        best.1
    }

    /// What the response says that it is.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }
}
