//! Rows by name: the very one, or those in whose name or family a word stands.
//!
//! Data in: rows of the catalogue, words. Data out: the rows meant, or which names are near. It must not know prices or limits.

use anyhow::bail;
use fathom_model::catalog::{Column, Listed, Value, nearest};

/// The columns that a word is looked for in where no row has it for its name.
const SEARCHED: [&str; 3] = ["name", "family", "series"];

/// The rows that any of the words means, in their order; all where there is no word.
///
/// # Errors
/// A word means none; the message has the nearest name.
pub(super) fn named<'a>(
    rows: Vec<Listed<'a>>,
    columns: &[Column],
    words: &[String],
) -> anyhow::Result<Vec<Listed<'a>>> {
    if words.is_empty() {
        return Ok(rows);
    }
    let mut meant = vec![false; rows.len()];
    for word in words {
        let of_row: Vec<bool> = rows
            .iter()
            .map(|row| key(name(row, columns)) == key(word))
            .collect();
        let of_row = if of_row.contains(&true) {
            of_row
        } else {
            rows.iter().map(|row| has(row, columns, word)).collect()
        };
        if !of_row.contains(&true) {
            return unknown(&rows, columns, word);
        }
        meant
            .iter_mut()
            .zip(of_row)
            .for_each(|(meant, found)| *meant |= found);
    }
    let rows = rows.into_iter().zip(meant);
    Ok(rows.filter_map(|(row, meant)| meant.then_some(row)).collect())
}

fn unknown<T>(rows: &[Listed<'_>], columns: &[Column], word: &str) -> anyhow::Result<T> {
    let known = rows.iter().map(|row| name(row, columns));
    let short = known.clone().filter_map(|name| name.strip_prefix("Standard_"));
    match nearest(word, known.chain(short)) {
        Some(near) => bail!("nothing in the catalogue is called `{word}`; did you mean `{near}`?"),
        None => bail!("nothing in the catalogue is called `{word}`: leave it out to see all"),
    }
}

fn text<'a>(row: &Listed<'a>, columns: &[Column], column: &str) -> Option<&'a str> {
    let at = columns.iter().position(|known| known.name == column)?;
    match row.values[at] {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn name<'a>(row: &Listed<'a>, columns: &[Column]) -> &'a str {
    text(row, columns, "name").unwrap_or_default()
}

fn has(row: &Listed<'_>, columns: &[Column], word: &str) -> bool {
    let word = key(word);
    let texts = SEARCHED.iter().filter_map(|column| text(row, columns, column));
    !word.is_empty() && texts.map(key).any(|text| text.contains(&word))
}

/// As compared: letters and digits in lower case, without the prefix of all virtual machines.
fn key(text: &str) -> String {
    let text = text.strip_prefix("Standard_").unwrap_or(text);
    let plain = text.chars().filter(char::is_ascii_alphanumeric);
    plain.map(|letter| letter.to_ascii_lowercase()).collect()
}
