//! `model:…`: from the words of a target to the specification of a machine.
//!
//! Data in: the words after `model:`, a catalogue or the directory of one. Data out: a [`Spec`]. It reads the model
//! file, which the model's crate does not do itself; what the words mean it must not know.

use crate::catalog_command;
use anyhow::{Context, bail};
use fathom_model::{Catalog, Spec};
use std::io::Read;
use std::path::Path;

/// No model file is larger.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The machine that `words` name: `azure/P15,vm=…`, or a model file (by its ending, `.toml`).
///
/// # Errors
/// The words, the file or the catalogue are not what they should be.
pub(crate) fn load(words: &str, catalog_dir: Option<&Path>) -> anyhow::Result<Spec> {
    let own;
    let catalog = match catalog_dir {
        None => Catalog::azure(),
        Some(dir) => {
            own = catalog_command::read(dir)?;
            &own
        }
    };
    if Path::new(words)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
    {
        let text = read(Path::new(words))?;
        return Ok(fathom_model::file::parse(words, &text, catalog)?);
    }
    let spec = fathom_model::target::parse(words, catalog);
    spec.with_context(|| format!("--on model:{words}"))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let cannot = || format!("cannot read the model file {name}");
    let file = std::fs::File::open(path).with_context(cannot)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        bail!("{name} is larger than 1 MiB: it is not a model file");
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count();
        anyhow::anyhow!("{name}:{line}: not text (UTF-8): give a model file")
    })
}

#[cfg(test)]
mod tests;
