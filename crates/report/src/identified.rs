//! What a disk is: as text, page, Markdown and JSON.
//!
//! Data in: what was measured and what was made of it. Data out: texts. It must not measure or judge.

mod json;

use crate::document::identified;
use crate::{Style, terminal};
use fathom_identify::claim::Claim;
use fathom_identify::held_out::HeldOut;
use fathom_identify::nearest::Group;
use fathom_identify::{Fit, Options};

/// All that is said of a disk.
#[derive(Debug, Clone)]
pub struct IdentifiedReport<'a> {
    /// The disk, as it was given.
    pub target: &'a str,
    /// What could be done.
    pub options: Options,
    pub fit: &'a Fit,
    /// The nearest products, the likeliest first.
    pub groups: &'a [Group],
    pub claim: Option<&'a Claim>,
    pub held_out: &'a HeldOut,
    /// Where the model was written.
    pub model_file: Option<&'a str>,
}

impl IdentifiedReport<'_> {
    /// For a terminal.
    pub fn text(&self, style: Style) -> String {
        terminal::render(&identified::document(self), style)
    }

    /// As one JSON document, indented, with a newline at its end.
    pub fn json(&self) -> String {
        json::identified(self)
    }
}
