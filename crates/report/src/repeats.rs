//! Several runs of a command, as text for a terminal and as JSON.

use crate::{Style, document, json, terminal};
use fathom_core::run::Repeats;

pub use document::command::exit;

/// What they came to, on a terminal.
pub fn text(repeats: &Repeats, style: Style) -> String {
    terminal::render(&document::repeats::told(repeats), style)
}

/// The same as one JSON document, indented, with a newline at its end.
pub fn json(repeats: &Repeats) -> String {
    json::pretty(repeats)
}
