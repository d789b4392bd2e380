//! Bytes in pieces, as whole lines with their numbers.

use super::{At, TraceError};

/// The longest line that any of the formats has, many times over.
const LINE_BYTES_MAX: usize = 16 << 10;

/// What is left of the last piece, and how many lines there were.
#[derive(Debug, Default)]
pub(super) struct Lines {
    left: Vec<u8>,
    number: u64,
    ended: bool,
}

impl Lines {
    /// Gives each whole line of `bytes` to `take`, without its end; no bytes: there is nothing more.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        take: &mut dyn FnMut(&str) -> Result<(), String>,
    ) -> Result<(), TraceError> {
        if bytes.is_empty() {
            self.ended = true;
            if self.left.is_empty() {
                return Ok(());
            }
            self.number += 1;
            return Err(self.error(String::from(
                "the last line has no end: the file was cut off; where it is whole, end the line",
            )));
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (line, behind) = rest.split_at(end);
            rest = &behind[1..];
            self.number += 1;
            let taken = if self.left.is_empty() {
                text(line).and_then(&mut *take)
            } else {
                self.left.extend_from_slice(line);
                let taken = text(&self.left).and_then(&mut *take);
                self.left.clear();
                taken
            };
            taken.map_err(|message| self.error(message))?;
        }
        if self.left.len() + rest.len() > LINE_BYTES_MAX {
            self.number += 1;
            return Err(self.error(format!(
                "longer than {LINE_BYTES_MAX} bytes: this is no line of such a record"
            )));
        }
        self.left.extend_from_slice(rest);
        Ok(())
    }

    /// Of the line that was given last.
    pub(super) fn error(&self, message: String) -> TraceError {
        TraceError {
            input: 0,
            at: At::Line(self.number.max(1)),
            message,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}

fn text(line: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(line).map_err(|_| String::from("this is no text"))?;
    Ok(text.strip_suffix('\r').unwrap_or(text))
}

/// A number, called `what` where it is none.
pub(super) fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("the {what} `{}` is no whole number that fits", cut(text)))
}

/// What can be shown of a text that may be anything.
pub(super) fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(40).map(printable).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

fn printable(letter: char) -> char {
    if letter.is_control() { '?' } else { letter }
}
