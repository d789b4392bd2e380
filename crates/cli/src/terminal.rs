//! Stdout and stderr: what they can show, and printing to them.
//!
//! Data in: texts. Data out: the same on the streams. The only module that prints. It must not know what the
//! texts are about.

pub(crate) mod live;
pub(crate) mod signals;
pub(crate) mod tell;

use anyhow::Context;
use clap::ValueEnum;
use fathom_report::{Style, wrap};
use std::io::{ErrorKind, IsTerminal, Write};

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Colour {
    // On a terminal, unless `NO_COLOR` is set or it is a dumb one.
    #[default]
    Auto,
    Always,
    Never,
}

impl Colour {
    fn allowed(self, terminal: bool, env: impl Fn(&str) -> Option<String>) -> bool {
        let dumb = || env("TERM").is_some_and(|term| term == "dumb");
        let unwanted = || env("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Auto => terminal && !dumb() && !unwanted(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// The environment variable `name`, where it is set and text.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The width of what is no terminal, or a terminal that does not tell.
pub(crate) const PLAIN_COLUMNS: usize = 80;
/// Lines of text are hard to read beyond this, and tables do not fit below the first.
const HELP_COLUMNS: (usize, usize) = (60, 100);

/// What stdout can show.
pub(crate) fn stdout_style(colour: Colour) -> Style {
    let stdout = std::io::stdout();
    style(colour, stdout.is_terminal(), columns_of(&stdout), env)
}

/// The columns that help on stdout should have.
pub(crate) fn stdout_columns() -> usize {
    help_columns(columns_of(&std::io::stdout()))
}

fn help_columns(columns: Option<usize>) -> usize {
    let (least, most) = HELP_COLUMNS;
    columns.unwrap_or(PLAIN_COLUMNS).clamp(least, most)
}

/// The columns of the terminal that stderr is.
pub(crate) fn stderr_columns() -> usize {
    columns_of(&std::io::stderr()).unwrap_or(PLAIN_COLUMNS)
}

/// The width of a terminal. A pipe has none, and what goes into a file should not depend on the window.
fn columns_of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

fn style(
    colour: Colour,
    terminal: bool,
    columns: Option<usize>,
    env: impl Fn(&str) -> Option<String>,
) -> Style {
    Style {
        colour: colour.allowed(terminal, &env),
        width: columns.unwrap_or(PLAIN_COLUMNS),
        unicode: !terminal || has_unicode(env),
    }
}

/// Whether the locale has more than ASCII. Without any locale set (containers) it is taken for granted.
fn has_unicode(env: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| env(name))
        .find(|value| !value.is_empty());
    locale.is_none_or(|locale| !matches!(locale.as_str(), "C" | "POSIX"))
}

/// Whether stderr is a terminal that can redraw a line.
pub(crate) fn stderr_redraws() -> bool {
    std::io::stderr().is_terminal() && env("TERM").is_none_or(|term| term != "dumb")
}

/// Prints results. A reader that went away (`fathom … | head`, a terminal whose connection was lost) is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let result = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe && !is_hung_up(&error, &stdout) => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(()),
    }
}

/// Whether that is how a terminal refuses that nobody is at any more. It is not called a terminal then.
fn is_hung_up(error: &std::io::Error, stream: &impl std::os::fd::AsFd) -> bool {
    let kind = rustix::fs::fstat(stream).map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode));
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
        && kind == Ok(rustix::fs::FileType::CharacterDevice)
}

/// One line on stderr; on a terminal as many as it takes, broken between words. Where stderr cannot be written to there is
/// nobody to tell.
pub(crate) fn say(text: &str) {
    let columns = columns_of(&std::io::stderr());
    let _gone = writeln!(std::io::stderr().lock(), "{}", broken(text, columns));
}

/// A text for a terminal of so many columns; as it is for anything else, which may look for what is in a line.
fn broken(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return text.to_owned();
    };
    let (least, most) = HELP_COLUMNS;
    let lines = text
        .lines()
        .flat_map(|line| wrap(line, columns.clamp(least, most), 2));
    lines.collect::<Vec<_>>().join("\n")
}

/// An error of the program as a whole.
pub(crate) fn error(text: &str) {
    labelled("error:", 31, text);
}

/// Something to know before trusting the numbers.
pub(crate) fn warning(text: &str) {
    labelled("warning:", 33, text);
}

/// Something that the user may like to know.
pub(crate) fn note(text: &str) {
    say(&format!("note: {text}"));
}

/// A text behind a word, which is painted where that is allowed.
fn labelled(label: &str, code: u8, text: &str) {
    let text = broken(&format!("{label} {text}"), columns_of(&std::io::stderr()));
    let painted = Colour::Auto.allowed(std::io::stderr().is_terminal(), env);
    let text = match text.strip_prefix(label).filter(|_| painted) {
        Some(rest) => format!("\x1b[1;{code}m{label}\x1b[0m{rest}"),
        None => text,
    };
    // As with [`say`], whose lines these are.
    let _gone = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests;
