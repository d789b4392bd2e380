//! A listing for programs: JSON and CSV, with all columns.
//!
//! Data in: columns and rows. Data out: text. What is not known is `null` or blank; in JSON, what a row does not have
//! at all is left out. It must not choose rows.

use crate::args::catalog::Listing;
use fathom_model::catalog::{Column, Listed, Value};
use serde_json::{Map, Number};

/// The form of the document. It changes when a reader would have to.
const SCHEMA: &str = "fathom.catalog/1";

/// One JSON document.
pub(super) fn json(listing: Listing, columns: &[Column], rows: &[Listed<'_>]) -> anyhow::Result<String> {
    let rows = rows.iter().map(|row| {
        let cells = columns.iter().zip(&row.values);
        let cells = cells.filter_map(|(column, &value)| Some((column.key.to_owned(), of(value)?)));
        serde_json::Value::Object(cells.collect::<Map<_, _>>())
    });
    let name = match listing {
        Listing::Vms => "vms",
        Listing::Limits => "limits",
        _ => "disks",
    };
    let document = serde_json::json!({ "schema": SCHEMA, name: rows.collect::<Vec<_>>() });
    Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
}

/// A value in JSON; `None`: the row has none.
fn of(value: Value<'_>) -> Option<serde_json::Value> {
    Some(match value {
        Value::None => return None,
        Value::NotKnown => serde_json::Value::Null,
        Value::Text(text) => text.into(),
        Value::Flag(flag) => flag.into(),
        // Whole numbers without a fraction, as they are meant.
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => (number as i64).into(),
        Value::Number(number) => Number::from_f64(number)?.into(),
    })
}

/// Comma-separated values, headed by the columns' names.
pub(super) fn csv(columns: &[Column], rows: &[Listed<'_>]) -> String {
    let heading: Vec<&str> = columns.iter().map(|column| column.key).collect();
    let mut text = format!("{}\n", heading.join(","));
    for row in rows {
        let cells: Vec<String> = row.values.iter().map(|&value| cell(value)).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

fn cell(value: Value<'_>) -> String {
    match value {
        Value::None | Value::NotKnown => String::new(),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) if text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::Text(text) => text.to_owned(),
    }
}
