//! `model:…`: from the words of a target to the specification of a machine.
//!
//! Data in: the words after `model:`, a catalogue or the directory of one. Data out: a [`Spec`]. It reads the model
//! file, which the model's crate does not do itself; what the words mean it must not know.

use crate::commands::catalog;
use crate::text_file::{self, Expected};
use anyhow::Context;
use fathom_model::Spec;
use std::path::Path;

const MODEL_FILE: Expected = Expected::of("model file", 1);

/// Whether these words after `model:` name a model file, not a target in words: by the ending, `.toml`.
pub(crate) fn is_model_file(words: &str) -> bool {
    let ending = Path::new(words).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// The machine that `words` name: `azure/P15,vm=…`, or a model file.
///
/// # Errors
/// The words, the file or the catalogue are not what they should be.
pub(crate) fn load(words: &str, catalog_dir: Option<&Path>) -> anyhow::Result<Spec> {
    let catalog = &*catalog::open(catalog_dir)?;
    if is_model_file(words) {
        let text = text_file::read(Path::new(words), MODEL_FILE)?;
        return Ok(fathom_model::file::parse(words, &text, catalog)?);
    }
    let spec = fathom_model::target::parse(words, catalog);
    spec.with_context(|| format!("--on model:{words}"))
}

#[cfg(test)]
mod tests;
