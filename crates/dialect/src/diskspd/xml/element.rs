//! Elements and the kinds of values within them.
//!
//! Data in: elements. Data out: values, or findings with line and column. It must not know which elements there are.

use super::Slots;
use crate::diagnostic::{Fault, Findings, Place};
use std::str::FromStr;

/// An element of the document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'d>(pub(super) roxmltree::Node<'d, 'd>);

impl<'d> Element<'d> {
    /// Its name, without a namespace.
    pub(super) fn name(self) -> &'d str {
        self.0.tag_name().name()
    }
    /// The text directly within it, without the spaces around it.
    pub(super) fn text(self) -> String {
        let texts = self.0.children().filter(roxmltree::Node::is_text);
        let whole: String = texts.filter_map(|node| node.text()).collect();
        whole.trim().to_owned()
    }
}

/// Where findings go, and what the whole document has in common.
pub(super) struct Reader<'a, 'd> {
    pub(super) name: &'a str,
    pub(super) document: &'d roxmltree::Document<'d>,
    pub(super) findings: &'a mut Findings,
    pub(super) slots: Slots<'a>,
}

impl<'d> Reader<'_, 'd> {
    pub(super) fn error(&mut self, at: Element<'_>, fault: Fault) {
        let position = self.document.text_pos_at(at.0.range().start);
        let place = Place::Text {
            file: self.name.to_owned(),
            line: position.row,
            column: position.col,
        };
        self.findings.error(place, fault);
    }

    pub(super) fn unknown(&mut self, element: Element<'_>, parent: Element<'_>) {
        let fault = Fault::new(format!("<{}> has no element <{}>", parent.name(), element.name()));
        self.error(element, fault.remedy("leave it out"));
    }

    /// The elements within `parent`, each at most once but those of `many`. Text between them is refused.
    pub(super) fn children(&mut self, parent: Element<'d>, many: &[&str]) -> Vec<Element<'d>> {
        if !parent.text().is_empty() {
            let fault = Fault::new(format!("<{}> holds elements, not text", parent.name()));
            self.error(parent, fault.remedy("put the text into an element"));
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut list = Vec::new();
        for element in parent
            .0
            .children()
            .filter(roxmltree::Node::is_element)
            .map(Element)
        {
            if !many.contains(&element.name()) {
                if seen.contains(&element.name()) {
                    let fault = Fault::new(format!("a second <{}> in <{}>", element.name(), parent.name()));
                    self.error(element, fault.remedy("leave one of them out"));
                    continue;
                }
                seen.push(element.name());
            }
            list.push(element);
        }
        list
    }

    /// Refuses anything within `element`.
    pub(super) fn nothing_within(&mut self, element: Element<'d>) {
        if element.0.children().any(|node| node.is_element()) || !element.text().is_empty() {
            let fault = Fault::new(format!("<{}> is empty but for its attributes", element.name()));
            self.error(element, fault.remedy("leave what is within out"));
        }
    }

    /// The text of an element that holds nothing else.
    pub(super) fn text(&mut self, element: Element<'d>) -> Option<String> {
        if element.0.children().any(|node| node.is_element()) {
            let fault = Fault::new(format!("<{}> holds a value, not elements", element.name()));
            self.error(element, fault.remedy("write the value alone"));
            return None;
        }
        Some(element.text())
    }

    fn wrong(&mut self, element: Element<'_>, text: &str, remedy: &str) {
        let fault = Fault::new(format!("<{}>: `{text}` is no value of it", element.name()));
        self.error(element, fault.remedy(remedy));
    }

    /// A whole number that fits.
    pub(super) fn number<T: FromStr>(&mut self, element: Element<'d>, into: &mut T) {
        let Some(text) = self.text(element) else { return };
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits => *into = number,
            _ => self.wrong(element, &text, "write a whole number that is not too large"),
        }
    }

    /// A whole number between two, both included.
    pub(super) fn number_within(&mut self, element: Element<'d>, range: (u32, u32), into: &mut u32) {
        let mut number = *into;
        self.number(element, &mut number);
        if (range.0..=range.1).contains(&number) {
            *into = number;
        } else {
            let remedy = format!("write a whole number from {} to {}", range.0, range.1);
            self.wrong(element, &number.to_string(), &remedy);
        }
    }

    /// As the schema has it: `true`, `false`, `1`, `0`; capitals as diskspd lets them pass.
    pub(super) fn bool(&mut self, element: Element<'d>, into: &mut bool) {
        let Some(text) = self.text(element) else { return };
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" => *into = true,
            "false" | "0" => *into = false,
            _ => self.wrong(element, &text, "write true or false"),
        }
    }

    /// One of a few words.
    pub(super) fn choice<T: Clone>(&mut self, element: Element<'d>, words: &[(&str, T)], into: &mut T) {
        let Some(text) = self.text(element) else { return };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            *into = value.clone();
            return;
        }
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.wrong(element, &text, &format!("write one of {}", words.join(", ")));
    }

    /// A whole number in an attribute that must be there.
    pub(super) fn attribute<T: FromStr>(&mut self, element: Element<'d>, name: &str, into: &mut T) {
        let text = element.0.attribute(name).unwrap_or_default();
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits => *into = number,
            _ => {
                let fault = Fault::new(format!("<{}> needs a whole number as its {name}", element.name()));
                self.error(
                    element,
                    fault.remedy(format!("write <{} {name}=\"0\" …", element.name())),
                );
            }
        }
    }
}
