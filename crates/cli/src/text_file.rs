//! Text files from outside: job files, model files, catalogues.
//!
//! Data in: a path, what is expected there. Data out: its text, or one message that names the file, the line and what to
//! do. It must not know what the text means.

use anyhow::{Context, bail};
use std::io::Read;
use std::path::Path;

/// What a text file should be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// In words: `job file`.
    pub what: &'static str,
    /// None is larger, in MiB: what is larger is something else.
    pub mib_max: u64,
    /// What to do where it is something else; may be empty.
    pub remedy: &'static str,
}

impl Expected {
    /// With nothing to be done where it is something else.
    pub(crate) const fn of(what: &'static str, mib_max: u64) -> Self {
        Self {
            what,
            mib_max,
            remedy: "",
        }
    }
}

/// Reads a text file.
///
/// # Errors
/// It cannot be read, is no file, is too large, or no UTF-8.
pub(crate) fn read(path: &Path, expected: Expected) -> anyhow::Result<String> {
    let Expected {
        what,
        mib_max,
        remedy,
    } = expected;
    let name = path.display();
    let cannot = || format!("cannot read the {what} {name}");
    let metadata = std::fs::metadata(path).with_context(cannot)?;
    if !metadata.is_file() {
        bail!("{name} is not a file: give a {what}");
    }
    let file = std::fs::File::open(path).with_context(cannot)?;
    let bytes_max = mib_max << 20;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)?;
    if bytes.len() as u64 > bytes_max {
        bail!("{name} is larger than {mib_max} MiB: it is not a {what}{remedy}");
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count();
        anyhow::anyhow!("{name}:{line}: not text (UTF-8): give a {what}")
    })
}

#[cfg(test)]
mod tests;
