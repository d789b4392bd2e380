//! `run.json`: written whole or not at all, read with suspicion.
//!
//! Data in: a [`Run`] and the list of finished files. Data out: one JSON document. It must not know what the
//! other files hold.

use crate::error::RESTORE;
use crate::{RUN_FILE, StoreError, is_sweep, open};
use fathom_core::run::{Run, SCHEMA, Status};
use fathom_door::own;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Far more than ten thousand sections take.
pub(crate) const SIZE_BYTES_MAX: u64 = 1 << 30;

/// A finished file of the run directory, as listed in `run.json` under `files`: what is listed is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its name in the directory; `io/000000.parquet` for a segment of a stream.
    pub name: String,
    pub size_bytes: u64,
    /// XXH64 (seed 0) of its contents, in hexadecimal: tells damage before a decoder meets it.
    pub xxh64: String,
}

impl FileRecord {
    /// Of the file `path`, by its last name.
    pub(crate) fn new(path: &Path, size_bytes: u64, xxh64: u64) -> Self {
        let name = path.file_name().unwrap_or_default();
        Self {
            name: name.to_string_lossy().into_owned(),
            size_bytes,
            xxh64: format!("{xxh64:016x}"),
        }
    }
}

#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    run: &'a Run,
    files: &'a [FileRecord],
}

/// The parts that are read apart from [`Run`], so that a wrong schema is told before a wrong field.
#[derive(Deserialize)]
struct Head {
    schema: String,
    #[serde(default)]
    files: Vec<FileRecord>,
}

/// A document as read.
pub(crate) struct Document {
    pub(crate) run: Run,
    pub(crate) files: Vec<FileRecord>,
}

impl Document {
    /// What is listed of the file `name`.
    pub(crate) fn file(&self, name: &str) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.name == name)
    }

    /// What the file `name`, which lies at `path`, is to be compared with; nothing while the run is under way.
    ///
    /// # Errors
    /// The run has ended, and its file is not listed: nothing tells whether it is what was written.
    pub(crate) fn record_of(&self, name: &str, path: &Path) -> Result<Option<&FileRecord>, StoreError> {
        let record = self.file(name);
        if record.is_none() && self.run.status != Status::Running && path.exists() {
            let detail = "the run has ended, and run.json does not list it";
            return Err(StoreError::corrupt(path, detail, RESTORE));
        }
        Ok(record)
    }
}

/// Writes `run.json` next to the old one and puts it in its place.
pub(crate) fn write(dir: &Path, run: &Run, files: &[FileRecord]) -> Result<(), StoreError> {
    let path = dir.join(RUN_FILE);
    let temporary = dir.join(".run.json.tmp");
    let mut text =
        serde_json::to_vec_pretty(&Written { run, files }).map_err(|source| StoreError::Document {
            path: path.clone(),
            source,
        })?;
    text.push(b'\n');
    let put = || -> io::Result<()> {
        let mut file = own::create_temporary(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        own::rename(&temporary, &path)?;
        sync_directory(dir)
    };
    put().map_err(|source| StoreError::io("write", &path, source))
}

/// Makes renames and new names in a directory durable.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Reads and checks `run.json`.
///
/// # Errors
/// There is none, it has a newer schema, or it is not a run record.
pub(crate) fn read(dir: &Path) -> Result<Document, StoreError> {
    let path = dir.join(RUN_FILE);
    let text = open::whole(&path, SIZE_BYTES_MAX).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound if is_sweep(dir) => StoreError::IsASweep { dir: dir.to_owned() },
        io::ErrorKind::NotFound if dir.is_dir() => StoreError::NotARun { dir: dir.to_owned() },
        _ => StoreError::io("read", &path, source),
    })?;
    parse(path, &text)
}

fn parse(path: PathBuf, text: &[u8]) -> Result<Document, StoreError> {
    let head: Head = match serde_json::from_slice(text) {
        Ok(head) => head,
        Err(source) => return Err(StoreError::Document { path, source }),
    };
    if !is_known(&head.schema) {
        return Err(StoreError::Schema {
            path,
            found: head.schema,
            known: SCHEMA,
        });
    }
    let is_inside = |name: &str| {
        Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
    };
    if let Some(file) = head.files.iter().find(|file| !is_inside(&file.name)) {
        let detail = format!("it lists a file {:?}, which is not in its directory", file.name);
        return Err(StoreError::corrupt(&path, detail, RESTORE));
    }
    match serde_json::from_slice(text) {
        Ok(run) => Ok(Document {
            run,
            files: head.files,
        }),
        Err(source) => Err(StoreError::Document { path, source }),
    }
}

/// Whether a schema is this program's or an older one; none is older yet.
fn is_known(schema: &str) -> bool {
    schema == SCHEMA
}

#[cfg(test)]
mod tests;
