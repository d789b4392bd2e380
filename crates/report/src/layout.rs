//! Text within a width: wrapping, fitting, tables.
//!
//! Data in: words and cells without colours. Data out: lines no longer than asked. It must not know what they say.

/// Letters, each taken for one column wide.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// A text with spaces for control characters, which names from outside may hold.
pub(crate) fn without_controls(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Breaks a text into lines of at most `columns`, the later ones indented. Words that are longer than a line
/// (paths) are cut. Control characters become spaces.
pub fn wrap(text: &str, columns: usize, indent: usize) -> Vec<String> {
    if is_a_line(text, columns) {
        return vec![text.to_owned()];
    }
    let text = without_controls(text);
    let margin = " ".repeat(indent);
    let lead = width(&text) - width(text.trim_start());
    let mut lines = Vec::new();
    let mut line = " ".repeat(lead.min(columns / 2));
    let mut empty = true;
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        if !empty && width(&line) + 1 + width(&word) > columns {
            lines.push(std::mem::replace(&mut line, margin.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        while width(&line) + width(&word) > columns {
            let room = columns.saturating_sub(width(&line)).max(1);
            let rest = word.chars().skip(room).collect();
            line.extend(word.chars().take(room));
            lines.push(std::mem::replace(&mut line, margin.clone()));
            word = rest;
        }
        line.push_str(&word);
        empty = false;
    }
    lines.push(line);
    lines
}

/// Whether a text is a line as it stands, as most are: plain letters, single spaces, short enough.
fn is_a_line(text: &str, columns: usize) -> bool {
    let body = text.trim_start_matches(' ');
    let plain = body.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    plain
        && !body.is_empty()
        && text.len() <= columns
        && text.len() - body.len() <= columns / 2
        && !body.contains("  ")
        && !body.ends_with(' ')
}

/// A text in at most `columns`: cut with an ellipsis where it is longer.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let clean = without_controls(text);
    if width(&clean) <= columns {
        return clean;
    }
    let mut cut: String = clean.chars().take(columns.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// A table: the first `left` columns are aligned to the left, the others to the right, two spaces between.
pub(crate) fn table(rows: &[Vec<String>], left: usize, indent: usize) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| width(cell))
            .max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let mut line = " ".repeat(indent);
        for (column, cell) in row.iter().enumerate() {
            let space = " ".repeat(widths[column] - width(cell));
            let gap = if column == 0 { "" } else { "  " };
            let (before, after) = if column < left {
                ("", space.as_str())
            } else {
                (space.as_str(), "")
            };
            line.extend([gap, before, cell, after]);
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// The width that [`table`] gives to these rows.
pub(crate) fn table_width(rows: &[Vec<String>], indent: usize) -> usize {
    table(rows, usize::MAX, indent)
        .iter()
        .map(|line| width(line))
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
