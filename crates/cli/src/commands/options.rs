//! `fathom options`: the table of job options, and how far each is carried out.

use crate::exit::Exit;
use crate::terminal;
use anyhow::bail;
use fathom_dialect::{Kind, OptionRow, Support, find, nearest, table};
use fathom_report::wrap;
use std::fmt::Write as _;

/// Lists all options, or shows one in full.
pub(crate) fn options(name: Option<&str>) -> anyhow::Result<Exit> {
    let columns = terminal::stdout_columns();
    let text = match name {
        None => list(columns),
        Some(name) => {
            let wanted = name.trim_start_matches('-').replace('-', "_");
            match (find(&wanted), nearest(&wanted)) {
                (Some(row), _) => in_full(row, columns),
                (None, Some(near)) => bail!("no option is called `{name}`; did you mean `{near}`?"),
                (None, None) => bail!("no option is called `{name}`: `fathom options` lists all"),
            }
        }
    };
    terminal::print(&text)?;
    Ok(Exit::Done)
}

/// Longer names have a line of their own.
const NAME_COLUMNS: usize = 22;

/// One line for each option, by topic; more where it does not fit.
fn list(columns: usize) -> String {
    let mut text = String::new();
    let mut topic = None;
    for row in table() {
        if topic != Some(row.topic) {
            let gap = if topic.is_some() { "\n" } else { "" };
            push(&mut text, &format!("{gap}{}\n", row.topic.heading()));
            topic = Some(row.topic);
        }
        let mut name = row.name;
        if name.len() > NAME_COLUMNS {
            push(&mut text, &format!("  {name}\n"));
            name = "";
        }
        let label = format!("  {name:NAME_COLUMNS$}  {:11}  ", row.support.word());
        push(&mut text, &hanging(&label, row.help, columns));
    }
    text.push('\n');
    for line in wrap(LEGEND, columns, 0) {
        push(&mut text, &format!("{line}\n"));
    }
    text.push_str("One option in full: fathom options NAME\n");
    text
}

/// What the words for support mean.
const LEGEND: &str = "exact: as fio does. approximate: in another way, which a note tells. no effect: changes neither \
                      the I/O nor the results. left out: what it asks for is not done, which a warning tells. not yet, \
                      never: refused.";

/// A text behind a label, its later lines below its first.
fn hanging(label: &str, text: &str, columns: usize) -> String {
    let indent = label.chars().count();
    let mut result = String::new();
    for (index, line) in wrap(text, columns.saturating_sub(indent).max(20), 0)
        .iter()
        .enumerate()
    {
        let margin = if index == 0 { label } else { &" ".repeat(indent) };
        push(
            &mut result,
            &format!("{}\n", format!("{margin}{line}").trim_end()),
        );
    }
    result
}

/// All that is known of one option.
fn in_full(row: &OptionRow, columns: usize) -> String {
    let mut text = String::new();
    for line in wrap(&format!("{}: {}.", row.name, row.help), columns, 2) {
        push(&mut text, &format!("{line}\n"));
    }
    let mut fact = |label: &str, value: &str| {
        if !value.is_empty() {
            push(&mut text, &hanging(&format!("  {label:12}"), value, columns));
        }
    };
    fact("also:", &row.aliases.join(", "));
    let kind = row.kind();
    if !matches!(kind, Kind::Choice(_)) {
        fact("value:", &kind.to_string());
    }
    fact("default:", row.default);
    if !row.example.is_empty() {
        fact("example:", &format!("{}={}", row.name, row.example));
    }
    fact("topic:", row.topic.heading());
    fact("interfaces:", &row.engines.join(", "));
    fact("support:", &support(row.support));
    if let Kind::Choice(choices) = &kind {
        push(&mut text, "  values:\n");
        for choice in choices {
            let label = format!("    {:14}", choice.name);
            push(&mut text, &hanging(&label, &support(choice.support), columns));
        }
    }
    text
}

/// How far something is carried out, and why no further.
fn support(support: Support) -> String {
    let reason = support.reason().map(|why| format!(": {why}"));
    format!("{}{}", support.word(), reason.unwrap_or_default())
}

/// Writing to a string cannot fail.
fn push(text: &mut String, more: &str) {
    let _infallible = text.write_str(more);
}

#[cfg(test)]
mod tests;
