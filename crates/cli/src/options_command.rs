//! `fathom options`: the table of job options, and how far each is carried out.

use crate::exit::Exit;
use crate::terminal;
use anyhow::bail;
use fathom_dialect::{Kind, OptionRow, find, nearest, table};
use std::fmt::Write as _;

/// Lists all options, or shows one in full.
pub(crate) fn options(name: Option<&str>) -> anyhow::Result<Exit> {
    let text = match name {
        None => list(),
        Some(name) => {
            let wanted = name.trim_start_matches('-').replace('-', "_");
            match (find(&wanted), nearest(&wanted)) {
                (Some(row), _) => in_full(row),
                (None, Some(near)) => bail!("no option is called `{name}`; did you mean `{near}`?"),
                (None, None) => bail!("no option is called `{name}`: `fathom options` lists all"),
            }
        }
    };
    terminal::print(&text)?;
    Ok(Exit::Done)
}

/// One line for each option, by topic.
fn list() -> String {
    let mut text = String::new();
    let mut topic = None;
    let width = table().iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in table() {
        if topic != Some(row.topic) {
            let gap = if topic.is_some() { "\n" } else { "" };
            push(&mut text, &format!("{gap}{}\n", row.topic.heading()));
            topic = Some(row.topic);
        }
        push(
            &mut text,
            &format!("  {:width$}  {:11}  {}\n", row.name, row.support.word(), row.help),
        );
    }
    text.push_str(
        "\nexact: as fio does. approximate: in another way, which a note tells. no effect: changes neither the I/O nor\n\
         the results. left out: what it asks for is not done, which a warning tells. not yet, never: refused.\n\
         One option in full: fathom options NAME\n",
    );
    text
}

/// All that is known of one option.
fn in_full(row: &OptionRow) -> String {
    let mut text = format!("{}: {}.\n", row.name, row.help);
    let mut fact = |label: &str, value: &str| {
        if !value.is_empty() {
            push(&mut text, &format!("  {label:12}{value}\n"));
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
    let reason = row
        .support
        .reason()
        .map(|why| format!(": {why}"))
        .unwrap_or_default();
    fact("support:", &format!("{}{reason}", row.support.word()));
    if let Kind::Choice(choices) = &kind {
        push(&mut text, "  values:\n");
        for choice in choices {
            let reason = choice
                .support
                .reason()
                .map(|why| format!(": {why}"))
                .unwrap_or_default();
            push(
                &mut text,
                &format!("    {:14}{}{reason}\n", choice.name, choice.support.word()),
            );
        }
    }
    text
}

/// Writing to a string cannot fail.
fn push(text: &mut String, more: &str) {
    let _infallible = text.write_str(more);
}

#[cfg(test)]
mod tests;
