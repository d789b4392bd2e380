//! Plain columns of numbers: a number a line, or one column of a table (CSV).
//!
//! Data in: text, which column. Data out: its numbers, or the line and what is wrong there. It must not know what they are of.

use std::fmt;

/// A column as read.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, where the table has names.
    pub name: Option<String>,
    /// In the order of their lines; two at least, all finite.
    pub values: Vec<f64>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnError {
    /// From 1; 0: it is about the file.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ColumnError {}

/// Reads the column `wanted` (a name of the first line, or a place from 1); without it the only one. Cells are apart by tabs,
/// semicolons or commas, whichever the first line has; what begins with `#` and empty lines are passed over.
///
/// # Errors
/// A line without that column, something that is no finite number, fewer than two numbers.
pub fn parse_column(text: &str, wanted: Option<&str>) -> Result<Column, ColumnError> {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(index, line)| (index + 1, line.trim_end_matches('\r')));
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((first_number, first)) = lines.next() else {
        return error(0, String::from("it is empty: give a file with a number a line"));
    };
    let separator = ['\t', ';', ',']
        .into_iter()
        .find(|&letter| first.contains(letter));
    let head = cells(first, separator);
    let has_names = head.iter().any(|cell| cell.parse::<f64>().is_err());
    let place = place(&head, has_names, wanted).map_err(|message| ColumnError {
        line: first_number,
        message,
    })?;
    let mut values = Vec::new();
    let all = (!has_names)
        .then_some((first_number, first))
        .into_iter()
        .chain(lines);
    for (number, line) in all {
        let row = cells(line, separator);
        if row.len() != head.len() {
            return error(
                number,
                format!(
                    "{} here and {} in line {first_number}: is the file cut off, or another format?",
                    cells_in_words(row.len()),
                    cells_in_words(head.len())
                ),
            );
        }
        let cell = &row[place];
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => values.push(value),
            Ok(_) => {
                return error(
                    number,
                    format!("`{cell}` is no number that can be compared: leave the line out"),
                );
            }
            Err(_) => return error(number, format!("`{}` is not a number", shortened(cell))),
        }
    }
    match values.len() {
        0 => error(
            first_number,
            String::from("there is no number below the names of the columns"),
        ),
        1 => error(
            first_number,
            String::from(
                "there is one number only: a single one says nothing of how much repeats differ; give two at least",
            ),
        ),
        _ => Ok(Column {
            name: has_names.then(|| head[place].clone()),
            values,
        }),
    }
}

fn error<T>(line: usize, message: String) -> Result<T, ColumnError> {
    Err(ColumnError { line, message })
}

fn cells_in_words(cells: usize) -> String {
    match cells {
        1 => String::from("1 cell"),
        n => format!("{n} cells"),
    }
}

fn shortened(cell: &str) -> String {
    const LETTERS: usize = 40;
    match cell.char_indices().nth(LETTERS) {
        None => cell.to_owned(),
        Some((end, _)) => format!("{}…", &cell[..end]),
    }
}

/// Where the column is; else what to do.
fn place(head: &[String], has_names: bool, wanted: Option<&str>) -> Result<usize, String> {
    let named = || {
        if has_names {
            format!("its columns are {}", head.join(", "))
        } else {
            format!("its {} columns have no names: 1 to {}", head.len(), head.len())
        }
    };
    let Some(wanted) = wanted else {
        return match head.len() {
            1 => Ok(0),
            _ => Err(format!("which column? Write FILE:COLUMN; {}", named())),
        };
    };
    let by_name = head.iter().position(|name| has_names && name == wanted);
    let by_place = || {
        let number = wanted.parse::<usize>().ok()?;
        (1..=head.len()).contains(&number).then(|| number - 1)
    };
    by_name
        .or_else(by_place)
        .ok_or_else(|| format!("there is no column {wanted}: {}", named()))
}

/// The cells of a line, without the quotes around them (RFC 4180).
fn cells(line: &str, separator: Option<char>) -> Vec<String> {
    let Some(separator) = separator else {
        return vec![line.trim().trim_matches('"').to_owned()];
    };
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cells.last_mut().expect("one at least").push('"');
            }
            '"' => quoted = !quoted,
            letter if letter == separator && !quoted => cells.push(String::new()),
            letter => cells.last_mut().expect("one at least").push(letter),
        }
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests;
