//! The table of figures: comma-separated text in, [`Figure`]s out.
//!
//! Data in: the text. Data out: the figures in their order, or the line that is wrong and what is wrong with it. A cell
//! may stand in double quotes, a quote in it is doubled; lines that begin with `#` are comments. It must not know runs.

use super::measure::{Measure, MeasureError};
use super::unit::{UNITS, Unit};
use super::{BOUND_PERCENT, Figure, Published, Source};

/// The columns, in their order.
pub const COLUMNS: [&str; 10] = [
    "run",
    "what",
    "measure",
    "published",
    "unit",
    "source",
    "bound_percent",
    "fitted",
    "mechanism",
    "known_miss",
];

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name}:{line}: {problem}")]
pub struct TableError {
    /// The file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The first line does not name the columns.
    #[error("the first line must be {}", COLUMNS.join(","))]
    Header,
    /// Too few or too many cells.
    #[error("{0} cells: there must be {count}", count = COLUMNS.len())]
    Cells(usize),
    /// A quoted cell does not end.
    #[error("a quote is not closed in its line")]
    Quote,
    /// A cell that must hold something is empty.
    #[error("{0} is empty")]
    Empty(&'static str),
    /// No such measure.
    #[error("measure: {0}")]
    Measure(#[from] MeasureError),
    /// No such value.
    #[error("published: `{0}` is none of: 378, 2..3, >60, <400")]
    Published(String),
    /// No such unit.
    #[error("unit: `{0}` is none of: {names}", names = UNITS.map(|unit| unit.name).join(", "))]
    Unit(String),
    /// The unit is not one of what the measure gives.
    #[error("unit: {unit} is no unit of `{measure}`")]
    Dimension {
        /// As written.
        unit: &'static str,
        /// As written.
        measure: String,
    },
    /// No such source.
    #[error("source: `{0}` is none of: {names}", names = Source::ALL.map(|(name, _)| name).join(", "))]
    Source(String),
    /// Neither fitted nor not.
    #[error("fitted: `{0}` is neither yes nor empty")]
    Fitted(String),
    /// No such bound.
    #[error("bound_percent: `{0}` is no number above 0")]
    Bound(String),
}

/// Reads a table. `name` is for error messages.
///
/// # Errors
/// The first line that is wrong.
pub fn read(name: &str, text: &str) -> Result<Vec<Figure>, TableError> {
    let at = |line: usize, problem: Problem| TableError {
        name: name.to_owned(),
        line,
        problem,
    };
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    match lines.next() {
        Some((_, header)) if header == COLUMNS.join(",") => {}
        found => return Err(at(found.map_or(1, |(line, _)| line), Problem::Header)),
    }
    lines
        .map(|(number, line)| figure(line).map_err(|problem| at(number, problem)))
        .collect()
}

fn figure(line: &str) -> Result<Figure, Problem> {
    let cells = cells(line)?;
    let [
        run,
        what,
        measure,
        published,
        unit,
        source,
        bound,
        fitted,
        mechanism,
        known_miss,
    ] = cells
        .try_into()
        .map_err(|cells: Vec<String>| Problem::Cells(cells.len()))?;
    for (column, cell) in [("run", &run), ("what", &what), ("mechanism", &mechanism)] {
        if cell.is_empty() {
            return Err(Problem::Empty(column));
        }
    }
    let text = measure;
    let measure: Measure = text.parse()?;
    let unit = Unit::named(&unit).ok_or(Problem::Unit(unit))?;
    if unit.dimension != measure.dimension() {
        return Err(Problem::Dimension {
            unit: unit.name,
            measure: text,
        });
    }
    Ok(Figure {
        run,
        what,
        measure,
        published: read_published(&published).ok_or(Problem::Published(published))?,
        unit,
        source: read_source(&source).ok_or(Problem::Source(source))?,
        bound_percent: match bound.as_str() {
            "" => BOUND_PERCENT,
            text => number(text)
                .filter(|bound| *bound > 0.0)
                .ok_or_else(|| Problem::Bound(text.to_owned()))?,
        },
        fitted: match fitted.as_str() {
            "" => false,
            "yes" => true,
            _ => return Err(Problem::Fitted(fitted)),
        },
        mechanism,
        known_miss: (!known_miss.is_empty()).then_some(known_miss),
    })
}

fn read_source(name: &str) -> Option<Source> {
    let found = Source::ALL.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, source)| source)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn read_published(text: &str) -> Option<Published> {
    if let Some((low, high)) = text.split_once("..") {
        let (low, high) = (number(low)?, number(high)?);
        return (low <= high).then_some(Published::Between(low, high));
    }
    if let Some(low) = text.strip_prefix('>') {
        return number(low).map(Published::AtLeast);
    }
    if let Some(high) = text.strip_prefix('<') {
        return number(high).map(Published::AtMost);
    }
    number(text).map(Published::Value)
}

fn cells(line: &str) -> Result<Vec<String>, Problem> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let (cell, after) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted_cell(quoted)?
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim().to_owned(), &rest[end..])
        };
        cells.push(cell);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(cells),
            None => return Err(Problem::Quote),
        }
    }
}

/// A cell behind its opening quote, and what follows its closing one.
fn quoted_cell(text: &str) -> Result<(String, &str), Problem> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"').ok_or(Problem::Quote)?;
        cell.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                cell.push('"');
                rest = more;
            }
            None => return Ok((cell, rest)),
        }
    }
}

#[cfg(test)]
mod tests;
