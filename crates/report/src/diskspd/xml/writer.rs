//! Elements being written.
//!
//! Data in: names and values. Data out: text, two spaces a level, values escaped. It must not know which elements there are.

use std::fmt::Display;

#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    level: usize,
}

impl Writer {
    pub(super) fn line(&mut self, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.level));
        self.text.push_str(line);
        self.text.push('\n');
    }
    /// `<name>value</name>`.
    pub(super) fn value(&mut self, name: &str, value: impl Display) {
        let value = escaped(&value.to_string());
        self.line(&format!("<{name}>{value}</{name}>"));
    }
    /// `<name>`, what `inner` writes, `</name>`.
    pub(super) fn within(&mut self, name: &str, inner: impl FnOnce(&mut Self)) {
        self.open(name, name, inner);
    }
    /// The same, with attributes: `<tag>` holds the name and them.
    pub(super) fn open(&mut self, tag: &str, name: &str, inner: impl FnOnce(&mut Self)) {
        self.line(&format!("<{tag}>"));
        self.level += 1;
        inner(self);
        self.level -= 1;
        self.line(&format!("</{name}>"));
    }
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Text between tags, and between the quotes of an attribute.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
