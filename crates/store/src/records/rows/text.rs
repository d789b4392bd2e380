//! Names of tasks as text that any reader takes, and back byte by byte.
//!
//! The kernel puts no rule on the bytes of a name; a column of text holds UTF-8. A backslash is written twice, and what
//! is no UTF-8 as `\xNN`.

use fathom_core::record::Comm;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A name as text.
pub(super) fn comm_text(comm: &Comm) -> Cow<'_, str> {
    let bytes = comm.as_bytes();
    match str::from_utf8(bytes) {
        Ok(text) if !text.contains('\\') => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(bytes)),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', r"\\"));
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, r"\x{byte:02x}");
        }
    }
    text
}

/// The name of a text. What is no escape of ours is taken as it is.
pub(super) fn comm_of(text: &str) -> Comm {
    if !text.contains('\\') {
        return Comm::from(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        rest = match more {
            [b'\\', after @ ..] if *first == b'\\' => {
                bytes.push(b'\\');
                after
            }
            [b'x', high, low, after @ ..] if *first == b'\\' => {
                if let (Some(high), Some(low)) = (hex(*high), hex(*low)) {
                    bytes.push(high << 4 | low);
                    after
                } else {
                    bytes.push(b'\\');
                    more
                }
            }
            _ => {
                bytes.push(*first);
                more
            }
        };
    }
    Comm::new(&bytes)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}
