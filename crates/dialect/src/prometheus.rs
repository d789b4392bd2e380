//! Answers of Prometheus' HTTP API (v1): ranges and moments of series.
//!
//! Data in: the text of an answer, which is not to be trusted. Data out: counters as a recording has them. It must not ask anyone.

use fathom_core::record::CounterRow;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An answer of the API.
#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    /// Of a range.
    #[serde(default)]
    values: Vec<(f64, String)>,
    /// Of a moment.
    value: Option<(f64, String)>,
}

fn answer(text: &str) -> Result<Vec<Found>, String> {
    let answer: Answer = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match (answer.status.as_str(), answer.data) {
        ("success", Some(data)) => Ok(data.result),
        (status, _) => Err(format!("its status is {status}: {}", answer.error)),
    }
}

/// The rows of a range of `metric`.
///
/// # Errors
/// It is no answer of the API; what is wrong with it.
pub fn range(metric: &'static str, text: &str) -> Result<Vec<CounterRow>, String> {
    let mut rows = Vec::new();
    for found in answer(text)? {
        let labels = found.metric.iter().filter(|(name, _)| *name != "__name__");
        let escaped = |value: &str| {
            value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n")
        };
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let labels = labels.join(",");
        for (at_s, value) in &found.values {
            let value: Option<f64> = value.parse().ok();
            let Some(value) = value.filter(|value| value.is_finite()) else {
                continue;
            };
            if at_s.is_finite() && *at_s >= 0.0 && *at_s < 1e10 {
                rows.push(CounterRow {
                    // Milliseconds, as Prometheus keeps them.
                    at_ns: (at_s * 1e3).round() as u64 * 1_000_000,
                    metric: metric.into(),
                    labels: labels.clone().into(),
                    value,
                });
            }
        }
    }
    Ok(rows)
}

/// The values of a moment.
///
/// # Errors
/// As of [`range`].
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let found = answer(text)?;
    let values = found.into_iter().filter_map(|found| found.value);
    Ok(values.filter_map(|(_, value)| value.parse().ok()).collect())
}

/// The instances of a moment, in order.
///
/// # Errors
/// As of [`range`].
pub fn instances(text: &str) -> Result<Vec<String>, String> {
    let found = answer(text)?;
    let mut names: Vec<String> = found
        .into_iter()
        .filter_map(|mut found| found.metric.remove("instance"))
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests;
