//! The TOML file of a sweep: keys with the words of [`super::words`], lists where an axis has several values, and a table
//! `[options]` with options of jobs.

use super::Setting;
use crate::diagnostic::{Fault, Findings, Place};
use crate::input::Source;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The table with the options of jobs.
const OPTIONS: &str = "options";

/// The settings of a file, in its order.
pub(super) fn settings(source: Source<'_>, findings: &mut Findings) -> Vec<Setting> {
    let table = match DeTable::parse(source.text) {
        Ok(table) => table.into_inner(),
        Err(error) => {
            let at = place(source, error.span().unwrap_or(0..0));
            let message = error.message().trim_end_matches('.').to_owned();
            findings.error(at, Fault::new(format!("not TOML: {message}")));
            return Vec::new();
        }
    };
    let mut settings = Vec::new();
    for (key, value) in &table {
        let at = place(source, key.span());
        let name = key.get_ref().as_ref();
        match value.get_ref() {
            DeValue::Table(options) if name == OPTIONS => {
                for (key, value) in options {
                    let at = place(source, key.span());
                    push(key.get_ref().as_ref(), value, at, &mut settings, findings);
                }
            }
            _ => push(name, value, at, &mut settings, findings),
        }
    }
    // The parser has sorted them by name.
    settings.sort_by(|a, b| a.at.cmp(&b.at));
    settings
}

fn push(
    name: &str,
    value: &Spanned<DeValue<'_>>,
    at: Place,
    settings: &mut Vec<Setting>,
    findings: &mut Findings,
) {
    let Some(value) = text(value.get_ref()) else {
        let fault = Fault::new(format!("`{name}` is neither a value nor a list of values"));
        findings.error(at, fault.remedy("options of jobs go below [options]"));
        return;
    };
    settings.push(Setting {
        name: name.to_owned(),
        value: Some(value),
        at,
    });
}

/// A value as a flag would have it; a list joined by commas.
fn text(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().replace('_', ""),
        DeValue::Float(number) => number.as_str().replace('_', ""),
        DeValue::Boolean(value) => u8::from(*value).to_string(),
        DeValue::Array(values) => {
            let texts: Option<Vec<String>> = values.iter().map(|value| text(value.get_ref())).collect();
            texts?.join(",")
        }
        DeValue::Datetime(_) | DeValue::Table(_) => return None,
    })
}

/// Line and column of a span.
fn place(source: Source<'_>, span: Range<usize>) -> Place {
    let before = &source.text[..source.text.floor_char_boundary(span.start)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Place::Text {
        file: source.name.to_owned(),
        line: before.matches('\n').count() as u32 + 1,
        column: before[line_start..].chars().count() as u32 + 1,
    }
}
