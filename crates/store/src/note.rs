//! What a person calls a run or a sweep and wrote about it: one small document beside what was measured.
//!
//! Data in: a [`Note`]. Data out: the same read back. Nothing of what was measured is changed by it.

use crate::document::sync_directory;
use crate::error::StoreError;
use crate::open;
use crate::table::temporary_name;
use fathom_door::own;
use serde::{Deserialize, Serialize};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// The document.
pub const NOTE_FILE: &str = "note.json";
const SCHEMA: &str = "fathom.note/1";
/// The longest document that is read, and the longest parts of one that is written.
const BYTES_MAX: u64 = 64 << 10;
pub const NAME_MAX: usize = 200;
pub const TEXT_MAX: usize = 10_000;

/// A name and a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    /// At most [`NAME_MAX`] bytes.
    pub name: String,
    /// At most [`TEXT_MAX`] bytes.
    pub text: String,
}

/// As it is written.
#[derive(Serialize, Deserialize)]
struct Stored {
    schema: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    text: String,
}

/// Keeps a note in the directory of a run or a sweep, in place of the one that was there.
///
/// # Errors
/// It is too long, or cannot be written; what is there is no note.
pub fn write_note(dir: &Path, note: &Note) -> Result<(), StoreError> {
    let path = dir.join(NOTE_FILE);
    let io = |source| StoreError::io("write", &path, source);
    if note.name.len() > NAME_MAX || note.text.len() > TEXT_MAX {
        let why = format!("a name of at most {NAME_MAX} and a text of at most {TEXT_MAX} bytes are kept");
        return Err(io(io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    // What a person put there under this name is not fathom's to replace.
    if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        read_note(dir)?;
    }
    let stored = Stored {
        schema: SCHEMA.to_owned(),
        name: note.name.clone(),
        text: note.text.clone(),
    };
    let temporary = dir.join(temporary_name(NOTE_FILE));
    let write = || -> io::Result<()> {
        let mut file = own::create_temporary(&temporary)?;
        serde_json::to_writer_pretty(&mut file, &stored)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        own::rename(&temporary, &path)?;
        sync_directory(dir)
    };
    write().map_err(io)
}

/// The note in a directory; empty where there is none.
///
/// # Errors
/// It cannot be read, or is none.
pub fn read_note(dir: &Path) -> Result<Note, StoreError> {
    let path = dir.join(NOTE_FILE);
    let file = match open::regular(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Note::default()),
        Err(source) => return Err(StoreError::io("read", &path, source)),
    };
    let mut text = Vec::new();
    let read = file.take(BYTES_MAX).read_to_end(&mut text);
    read.map_err(|source| StoreError::io("read", &path, source))?;
    let stored: Result<Stored, _> = serde_json::from_slice(&text);
    match stored {
        Ok(stored) if stored.schema == SCHEMA => Ok(Note {
            name: stored.name,
            text: stored.text,
        }),
        Ok(stored) => Err(StoreError::io(
            "understand",
            &path,
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("its schema is {}, this program reads {SCHEMA}", stored.schema),
            ),
        )),
        Err(error) => Err(StoreError::io("understand", &path, error.into())),
    }
}

#[cfg(test)]
mod tests;
