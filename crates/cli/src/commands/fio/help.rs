//! What fio tells of itself: usage, options, engines, a job file as a command line.
//!
//! Data in: the table of options, what was written. Data out: text laid out as fio's.

use fathom_core::workload::{Written, WrittenSection};
use fathom_dialect::{Kind, OptionRow, find, nearest, table};
use fathom_report::fio::VERSION;
use std::fmt::Write as _;

/// What fio prints where there is no job.
pub(super) fn usage() -> String {
    format!(
        "{VERSION}\nfio [options] [job options] <job file(s)>\n{}",
        "  --parse-only\t\tParse options only, don't start any IO\n\
         \x20 --output\t\tWrite output to file\n\
         \x20 --bandwidth-log\tGenerate aggregate bandwidth logs\n\
         \x20 --minimal\t\tMinimal (terse) output\n\
         \x20 --output-format=type\tOutput format (terse,json,json+,normal)\n\
         \x20 --terse-version=type\tTerse version: 2 to 5\n\
         \x20 --version\t\tPrint the version\n\
         \x20 --help\t\tPrint this page\n\
         \x20 --cmdhelp=cmd\t\tPrint the help of an option, \"all\" for all of them\n\
         \x20 --enghelp=engine\tList engines, or print the options of one\n\
         \x20 --showcmd\t\tPrint a job file as a command line\n\
         \x20 --eta=when\t\tWhen progress is shown: always, never or auto\n\
         \x20 --status-interval=t\tPrint results each t\n\
         \x20 --readonly\t\tRefuse jobs that write\n\
         \x20 --section=name\tRun this section only\n\
         \x20 --warnings-fatal\tWarnings of the parser are fatal\n\
         \x20 --server=args\t\tWait for clients\n\
         \x20 --client=hostname\tRun the jobs on a server\n\
         \x20 --inflate-log=log\tPrint a compressed log\n"
    )
}

/// All options, a line each; those that belong to a list of others are not indented, since fathom's table has no such order.
pub(super) fn commands() -> String {
    let lines = table().iter().filter(|row| row.engines.is_empty());
    lines.map(line).collect()
}

fn line(row: &OptionRow) -> String {
    format!("{:<24}: {}\n", row.name, row.help)
}

/// One option in full, on stdout, and what is wrong with its name, on stderr.
pub(super) fn command(name: &str) -> (String, Option<String>) {
    if let Some(row) = find(name) {
        return (in_full(row), None);
    }
    let near = nearest(name).and_then(find);
    let near = near.map_or_else(String::new, |row| {
        format!(" - showing closest match\n{}", in_full(row))
    });
    (near, Some(format!("No such command: {name}")))
}

fn in_full(row: &OptionRow) -> String {
    let mut text = format!("{:>20}: {}\n", row.name, row.help);
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:>20}: {value}");
    };
    for alias in row.aliases {
        field("alias", alias);
    }
    let kind = row.kind();
    field("type", type_name(&kind));
    let default = if row.default.is_empty() {
        "no default"
    } else {
        row.default
    };
    field("default", default);
    match kind {
        Kind::Number { min, max } => field("range", &format!("min={min}, max={max}")),
        Kind::Bool => field("range", "min=0, max=1"),
        Kind::Choice(choices) => {
            for (at, choice) in choices
                .iter()
                .filter(|choice| !choice.support.is_refused())
                .enumerate()
            {
                field(if at == 0 { "valid values" } else { "" }, choice.name);
            }
        }
        _ => {}
    }
    text + "\n"
}

fn type_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Flag => "no argument (opt)",
        Kind::Bool => "boolean value (opt=1)",
        Kind::Number { .. } | Kind::Size | Kind::Amount | Kind::PerDirection(_) => "integer value (opt=100)",
        Kind::Time(_) => "string with time period (opt=5m)",
        Kind::Choice(_) | Kind::Text(_) => "string (opt=bla)",
    }
}

/// The engines, or the options of one. `Err`: on stdout and on stderr, there is none of that name.
pub(super) fn engines(wanted: Option<&str>) -> Result<String, (String, String)> {
    let known = engine_names();
    let Some(wanted) = wanted else {
        let mut text = String::from("Available IO engines:\n");
        for name in &known {
            let _ = writeln!(text, "\t{name}");
        }
        return Ok(text);
    };
    let (engine, option) = wanted
        .split_once(',')
        .map_or((wanted, None), |(engine, option)| (engine, Some(option)));
    if !known.contains(&engine) {
        return Err((
            format!("IO engine {engine} not found\n"),
            format!("fio: engine {engine} not loadable"),
        ));
    }
    let own = || table().iter().filter(|row| row.engines.contains(&engine));
    match option {
        None => Ok(own().map(line).collect()),
        Some(option) => own()
            .find(|row| row.answers_to(option))
            .map(in_full)
            .ok_or_else(|| (String::new(), format!("No such command: {option}"))),
    }
}

fn engine_names() -> Vec<&'static str> {
    match find("ioengine").map(OptionRow::kind) {
        Some(Kind::Choice(choices)) => {
            let usable = choices.iter().filter(|choice| !choice.support.is_refused());
            usable.map(|choice| choice.name).collect()
        }
        _ => Vec::new(),
    }
}

/// Job files as one command line.
pub(super) fn as_command_line(written: &Written) -> String {
    let mut text = String::from("fio ");
    for section in &written.sections {
        let WrittenSection { name, options } = section;
        if !name.starts_with("global") {
            let _ = write!(text, "--name={} ", quoted(name));
        }
        for (name, value) in options.iter().filter(|(name, _)| name != "name") {
            let _ = match value {
                Some(value) => write!(text, "--{}={} ", canonical(name), quoted(value)),
                None => write!(text, "--{} ", canonical(name)),
            };
        }
    }
    text + "\n"
}

/// The one name of an option that has several.
pub(super) fn canonical(name: &str) -> &str {
    find(name).map_or(name, |row| row.name)
}

fn quoted(text: &str) -> String {
    if text.contains([' ', '\t', '"', '\'', '$', '*', ';']) {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
