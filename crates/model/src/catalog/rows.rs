//! A CSV file as rows of cells that know where they stand.
//!
//! Data in: the text of a file and the names of its columns. Data out: a cursor a row, which reads the cells as
//! text, numbers or flags, or says what is wrong where. It must not know what the columns mean.

use std::borrow::Cow;

/// What is wrong with a catalogue's file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct CatalogError {
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with a catalogue's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no heading line.
    #[error("the file is empty: its first line names the columns ({0})")]
    Empty(String),
    #[error("the column `{name}` is missing: the columns are {columns}")]
    ColumnMissing {
        name: String,
        /// All there must be.
        columns: String,
    },
    /// A column that is not known.
    #[error("the column `{name}` is not known: the columns are {columns}")]
    ColumnUnknown {
        name: String,
        /// All there must be.
        columns: String,
    },
    #[error("the column `{0}` is there twice")]
    ColumnTwice(String),
    /// A row of another length than the heading.
    #[error("{found} cells, but the heading has {wanted}")]
    Cells {
        /// In the row.
        found: usize,
        /// In the heading.
        wanted: usize,
    },
    /// A quote that does not end.
    #[error("the quote does not end on its line, or something follows it: write \"\" for a quote in quotes")]
    Quote,
    /// A cell that must not be blank.
    #[error("`{0}` is blank: it must be known")]
    Blank(&'static str),
    /// A cell that is not what its column holds.
    #[error("`{name}` is `{found}`: {wanted}")]
    Cell {
        /// The column.
        name: &'static str,
        /// What it holds here.
        found: String,
        /// What it should hold.
        wanted: String,
    },
    /// A name twice.
    #[error("`{name}` is there already, in line {line}")]
    Twice {
        name: String,
        /// Where it is first.
        line: usize,
    },
    /// A character that a terminal would obey.
    #[error("the character {} stands here: tables have none that a terminal obeys", .0.escape_unicode())]
    Control(char),
    #[error("there are no rows below the heading")]
    NoRows,
    #[error("this file must be there")]
    Missing,
    /// Something in a `cloud.toml`.
    #[error("{0}")]
    Cloud(String),
}

/// What a name is made of.
pub(super) const NAME_WANTED: &str =
    "a name has letters, digits, `.`, `_`, `-` and `+` only, and begins with a letter or digit";

/// Whether `text` is such a name.
pub(super) fn is_word(text: &str) -> bool {
    let within = |letter: char| letter.is_ascii_alphanumeric() || "._-+".contains(letter);
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(within)
}

/// A cell and where it begins.
#[derive(Debug, Clone)]
struct Cell<'a> {
    text: Cow<'a, str>,
    column: usize,
}

/// One row, read cell by cell in the order of the columns asked for.
#[derive(Debug)]
pub(super) struct Row<'a> {
    file: &'a str,
    pub(super) line: usize,
    columns: &'static [&'static str],
    cells: Vec<Cell<'a>>,
    /// For each of `columns`, its place in `cells`; beyond their end where the file has no such column.
    places: &'a [usize],
    next: usize,
}

/// Reads a file: `make` is called for each row.
pub(super) fn read<T>(
    file: &str,
    text: &str,
    columns: &'static [&'static str],
    mut make: impl FnMut(Row<'_>) -> Result<T, CatalogError>,
) -> Result<Vec<T>, CatalogError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let error = |line, column, problem| CatalogError {
        file: file.to_owned(),
        line,
        column,
        problem,
    };
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let obeyed = |(_, letter): &(usize, char)| letter.is_control() && *letter != '\t';
    for (line, letters) in lines.clone() {
        if let Some((index, letter)) = letters.chars().enumerate().find(obeyed) {
            return Err(error(line, index + 1, Problem::Control(letter)));
        }
    }
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let Some((heading_line, heading)) = lines.next() else {
        return Err(error(1, 1, Problem::Empty(listed(columns))));
    };
    let at = |line: usize| move |(column, problem)| error(line, column, problem);
    let heading = split(heading).map_err(at(heading_line))?;
    let places = places(&heading, columns).map_err(at(heading_line))?;
    let mut rows = Vec::new();
    for (line, row) in lines {
        let cells = split(row).map_err(at(line))?;
        let (found, wanted) = (cells.len(), heading.len());
        if found != wanted {
            return Err(error(line, 1, Problem::Cells { found, wanted }));
        }
        rows.push(make(Row {
            file,
            line,
            columns,
            cells,
            places: &places,
            next: 0,
        })?);
    }
    if rows.is_empty() {
        return Err(error(heading_line, 1, Problem::NoRows));
    }
    Ok(rows)
}

/// What stands behind the name of a column that may be missing; its cells are blank then.
const OPTIONAL: char = '?';

fn named(column: &'static str) -> &'static str {
    column.trim_end_matches(OPTIONAL)
}

fn listed(columns: &'static [&'static str]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| named(column)).collect();
    names.join(", ")
}

/// Where each of `columns` stands in the heading; beyond its end where it is missing and may be.
fn places(heading: &[Cell<'_>], columns: &'static [&'static str]) -> Result<Vec<usize>, (usize, Problem)> {
    for (index, cell) in heading.iter().enumerate() {
        let name = cell.text.trim().to_owned();
        if !columns.iter().any(|column| named(column) == name) {
            let columns = listed(columns);
            return Err((cell.column, Problem::ColumnUnknown { name, columns }));
        }
        if heading[..index].iter().any(|earlier| earlier.text.trim() == name) {
            return Err((cell.column, Problem::ColumnTwice(name)));
        }
    }
    let place = |column: &&'static str| {
        let name = named(column);
        let found = heading.iter().position(|cell| cell.text.trim() == name);
        match found {
            Some(place) => Ok(place),
            None if column.ends_with(OPTIONAL) => Ok(heading.len()),
            None => {
                let name = name.to_owned();
                let columns = listed(columns);
                Err((1, Problem::ColumnMissing { name, columns }))
            }
        }
    };
    columns.iter().map(place).collect()
}

/// Splits a line at its commas; a cell may stand in quotes (RFC 4180, but for line ends within them).
fn split(line: &str) -> Result<Vec<Cell<'_>>, (usize, Problem)> {
    let mut cells = Vec::with_capacity(20);
    let mut rest = line;
    loop {
        let column = line.len() - rest.len() + 1;
        let (text, after) = if rest.starts_with('"') {
            quoted(rest).ok_or((column, Problem::Quote))?
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (Cow::Borrowed(&rest[..end]), &rest[end..])
        };
        cells.push(Cell { text, column });
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(cells),
            None => return Err((column, Problem::Quote)),
        }
    }
}

/// A cell in quotes at the beginning of `text`, and what follows it.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut rest = &text[1..];
    let mut cell = String::new();
    loop {
        let end = rest.find('"')?;
        cell.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                cell.push('"');
                rest = next;
            }
            None => return Some((Cow::Owned(cell), rest)),
        }
    }
}

impl Row<'_> {
    /// What is wrong with the cell that was read last.
    pub(super) fn wrong(&self, wanted: impl Into<String>) -> CatalogError {
        let index = self.next.saturating_sub(1);
        let found = self.cell(index).to_owned();
        let name = named(self.columns[index]);
        let wanted = wanted.into();
        self.error(index, Problem::Cell { name, found, wanted })
    }

    /// That a name stands in an earlier line already.
    pub(super) fn twice(&self, name: &str, line: usize) -> CatalogError {
        let name = name.to_owned();
        self.error(0, Problem::Twice { name, line })
    }

    fn error(&self, index: usize, problem: Problem) -> CatalogError {
        CatalogError {
            file: self.file.to_owned(),
            line: self.line,
            column: self.cells.get(self.places[index]).map_or(1, |cell| cell.column),
            problem,
        }
    }

    fn cell(&self, index: usize) -> &str {
        self.cells
            .get(self.places[index])
            .map_or("", |cell| cell.text.trim())
    }

    /// The next cell's text; empty where it is blank.
    pub(super) fn text(&mut self) -> &str {
        let index = self.next;
        self.next += 1;
        self.cell(index)
    }

    /// The next cell, which must not be blank, by `read`.
    pub(super) fn known<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<T>, CatalogError>,
    ) -> Result<T, CatalogError> {
        let index = self.next;
        match read(self)? {
            Some(value) => Ok(value),
            None => Err(self.error(index, Problem::Blank(named(self.columns[index])))),
        }
    }

    /// The next cell: a name, that must not be blank.
    pub(super) fn name(&mut self) -> Result<String, CatalogError> {
        self.known(|row| {
            let word = row.word()?;
            Ok((!word.is_empty()).then_some(word))
        })
    }

    /// The next cell: a name, or blank. Names are written into targets, commands and files, where other characters would mean
    /// something.
    pub(super) fn word(&mut self) -> Result<String, CatalogError> {
        let text = self.text();
        if text.is_empty() || is_word(text) {
            return Ok(text.to_owned());
        }
        Err(self.wrong(NAME_WANTED))
    }

    /// The next cell: a whole number in `bounds`.
    pub(super) fn whole(&mut self, min: u64, max: u64) -> Result<Option<u64>, CatalogError> {
        let text = self.text();
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse().ok().filter(|number| (min..=max).contains(number));
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(format!("a whole number from {min} to {max}, or blank, goes here"))),
        }
    }

    /// The next cell: a number of at most six decimals and at most `max`, in millionths.
    pub(super) fn micro(&mut self, max: u64) -> Result<Option<u64>, CatalogError> {
        let text = self.text();
        if text.is_empty() {
            return Ok(None);
        }
        let micro = decimal_micro(text).filter(|&micro| micro <= max.saturating_mul(1_000_000));
        match micro {
            Some(micro) => Ok(Some(micro)),
            None => Err(self.wrong(format!(
                "a number up to {max} with at most six decimals, or blank, goes here"
            ))),
        }
    }

    /// The next cell: a positive number of at most `max` in units of `unit`, as a whole number of ones.
    pub(super) fn amount(&mut self, unit: u64, max: u64) -> Result<Option<u64>, CatalogError> {
        let Some(micro) = self.micro(max)? else {
            return Ok(None);
        };
        let ones = u128::from(micro) * u128::from(unit) / 1_000_000;
        match u64::try_from(ones) {
            Ok(ones) if ones > 0 => Ok(Some(ones)),
            _ => Err(self.wrong("it must be more than nothing, or blank")),
        }
    }

    /// The next cell: `true`, `false` or blank.
    pub(super) fn flag(&mut self) -> Result<Option<bool>, CatalogError> {
        match self.text() {
            "" => Ok(None),
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(self.wrong("`true`, `false` or blank goes here")),
        }
    }
}

/// A decimal number without sign and exponent, of at most six decimals, in millionths.
pub fn decimal_micro(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(fraction)
}
