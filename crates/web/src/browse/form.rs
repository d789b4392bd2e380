//! Fields of a form or of a query: names and values, percent-encoded.

use std::fmt::Write as _;

/// The fields, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// `a=b&c=d+e`. What is no UTF-8 is replaced.
    pub(super) fn of(text: &[u8]) -> Self {
        let pairs = text.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty());
        let pair = |pair: &[u8]| {
            let equals = pair.iter().position(|&byte| byte == b'=').unwrap_or(pair.len());
            let value = pair.get(equals + 1..).unwrap_or_default();
            (decoded(&pair[..equals]), decoded(value))
        };
        Self(pairs.map(pair).collect())
    }

    pub(super) fn first(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let known = self.0.iter().filter(move |(known, _)| known == name);
        known.map(|(_, value)| value.as_str())
    }
}

fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digits = text
            .get(at + 1..at + 3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (text[at], byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                at += 2;
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text as it stands in a path or a query.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            text.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests;
