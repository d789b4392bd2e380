//! Stdout and stderr: what they can show, and printing to them.
//!
//! Data in: texts. Data out: the same on the streams. The only module that prints. It must not know what the
//! texts are about.

use anyhow::Context;
use fathom_report::Style;
use std::io::{ErrorKind, IsTerminal, Write};

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set or it is a dumb one.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
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

/// What stdout can show.
pub(crate) fn stdout_style(colour: Colour) -> Style {
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let columns = rustix::termios::tcgetwinsize(&stdout).map(|size| usize::from(size.ws_col));
    style(colour, terminal, columns.unwrap_or(0), env)
}

fn style(colour: Colour, terminal: bool, columns: usize, env: impl Fn(&str) -> Option<String>) -> Style {
    let plain = Style::default();
    Style {
        colour: colour.allowed(terminal, &env),
        // A pipe has no width, and what goes into a file should not depend on the window.
        width: if terminal && columns > 0 {
            columns
        } else {
            plain.width
        },
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

/// Prints results. A reader that went away (`fathom … | head`) is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let result = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot write to stdout"),
        _ => Ok(()),
    }
}

/// One line on stderr. Where stderr cannot be written to there is nobody to tell.
pub(crate) fn say(text: &str) {
    let _gone = writeln!(std::io::stderr().lock(), "{text}");
}

/// An error of the program as a whole.
pub(crate) fn error(text: &str) {
    say(&format!("{} {text}", label("error:", 31)));
}

/// Something that the user may like to know.
pub(crate) fn note(text: &str) {
    say(&format!("note: {text}"));
}

fn label(text: &str, code: u8) -> String {
    if Colour::Auto.allowed(std::io::stderr().is_terminal(), env) {
        format!("\x1b[1;{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
