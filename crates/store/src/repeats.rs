//! What several runs of a command came to: one document beside their directories.
//!
//! Data in: [`Repeats`]. Data out: the same read back. It must not know how they are told.

use crate::document::{SIZE_BYTES_MAX, sync_directory};
use crate::error::StoreError;
use crate::open;
use fathom_core::run::{REPEATS_SCHEMA, Repeats};
use fathom_door::own;
use std::io::{self, Write};
use std::path::Path;

/// Several runs of a command.
pub const REPEATS_FILE: &str = "repeats.json";

/// Whether `dir` holds several runs of a command.
pub fn is_repeats(dir: &Path) -> bool {
    dir.join(REPEATS_FILE).is_file()
}

/// Writes what they came to into `dir`, which holds them.
///
/// # Errors
/// It is there already, or cannot be written.
pub fn write_repeats(dir: &Path, repeats: &Repeats) -> Result<(), StoreError> {
    let path = dir.join(REPEATS_FILE);
    let write = || -> io::Result<()> {
        let mut file = own::create(&path)?;
        serde_json::to_writer_pretty(&mut file, repeats)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        sync_directory(dir)
    };
    write().map_err(|source| StoreError::io("write", &path, source))
}

/// Reads what the runs in `dir` came to.
///
/// # Errors
/// It cannot be read, is damaged, or has a newer schema.
pub fn read_repeats(dir: &Path) -> Result<Repeats, StoreError> {
    let path = dir.join(REPEATS_FILE);
    let text = open::whole(&path, SIZE_BYTES_MAX).map_err(|source| StoreError::io("read", &path, source))?;
    let damaged = |why: String| {
        let source = io::Error::new(io::ErrorKind::InvalidData, why);
        StoreError::io("understand", &path, source)
    };
    let repeats: Repeats = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if repeats.schema != REPEATS_SCHEMA {
        return Err(damaged(format!(
            "its schema is {}, this program reads {REPEATS_SCHEMA}: use the program that wrote it, or a newer one",
            repeats.schema
        )));
    }
    Ok(repeats)
}
