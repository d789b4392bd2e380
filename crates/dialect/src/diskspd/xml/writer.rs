//! Elements being written, of profiles and of results.
//!
//! Data in: names and values. Data out: text, two spaces a level, values escaped. It must not know which elements there are.

use std::fmt::Display;

#[derive(Debug, Default)]
pub(in crate::diskspd) struct Writer {
    text: String,
    level: usize,
}

impl Writer {
    pub(in crate::diskspd) fn line(&mut self, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.level));
        self.text.push_str(line);
        self.text.push('\n');
    }
    /// `<name>value</name>`.
    pub(in crate::diskspd) fn value(&mut self, name: &str, value: impl Display) {
        let value = escaped(&value.to_string());
        self.line(&format!("<{name}>{value}</{name}>"));
    }
    /// The same, left out where it says nothing: older readers do not know it.
    pub(in crate::diskspd) fn if_so(&mut self, name: &str, is_so: bool) {
        self.if_any(name, is_so.then_some(true));
    }
    pub(in crate::diskspd) fn if_any(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }
    /// `<name>`, what `inner` writes, `</name>`.
    pub(in crate::diskspd) fn within(&mut self, name: &str, inner: impl FnOnce(&mut Self)) {
        self.open(name, name, inner);
    }
    /// The same, with attributes: `<tag>` holds the name and them.
    pub(in crate::diskspd) fn open(&mut self, tag: &str, name: &str, inner: impl FnOnce(&mut Self)) {
        self.line(&format!("<{tag}>"));
        self.level += 1;
        inner(self);
        self.level -= 1;
        self.line(&format!("</{name}>"));
    }
    pub(in crate::diskspd) fn into_text(self) -> String {
        self.text
    }
}

/// Text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The same, between the quotes of an attribute too.
pub(in crate::diskspd) fn quoted(text: &str) -> String {
    escaped(text).replace('"', "&quot;")
}
