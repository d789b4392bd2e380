//! The folder of a stream: which segments there are, and in which form.
//!
//! Data in: a run directory. Data out: numbers and paths. It must not open what it names.

use crate::StoreError;
use crate::document::FileRecord;
use fathom_core::record::StreamKind;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The forms in which a segment is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Forms {
    pub(crate) parquet: bool,
    pub(crate) arrows: bool,
}

/// One stream's folder in a run directory.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) kind: StreamKind,
    pub(crate) path: PathBuf,
}

impl Folder {
    pub(crate) fn new(dir: &Path, kind: StreamKind) -> Self {
        Self {
            kind,
            path: dir.join(kind.name()),
        }
    }

    /// `000001.parquet`.
    pub(crate) fn parquet_name(number: u32) -> String {
        format!("{number:06}.parquet")
    }

    pub(crate) fn parquet(&self, number: u32) -> PathBuf {
        self.path.join(Self::parquet_name(number))
    }

    /// `000001.arrows`.
    pub(crate) fn arrows(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number:06}.arrows"))
    }

    /// `io/000001.parquet`: as the list in `run.json` names it.
    pub(crate) fn listed_name(&self, number: u32) -> String {
        format!("{}/{}", self.kind.name(), Self::parquet_name(number))
    }

    /// The segments that are there or are listed in `run.json`, in order. What else is in the folder is left alone.
    pub(crate) fn segments(&self, listed: &[FileRecord]) -> Result<BTreeMap<u32, Forms>, StoreError> {
        let mut segments: BTreeMap<u32, Forms> = BTreeMap::new();
        let mut note = |name: &str| match numbered(name) {
            Some((number, "parquet")) => segments.entry(number).or_default().parquet = true,
            Some((number, "arrows")) => segments.entry(number).or_default().arrows = true,
            _ => {}
        };
        for name in self.names()? {
            note(&name);
        }
        for file in listed {
            if let Some((folder, name)) = file.name.split_once('/')
                && folder == self.kind.name()
            {
                note(name);
            }
        }
        Ok(segments)
    }

    /// The names in the folder; none where there is no folder.
    pub(crate) fn names(&self) -> Result<Vec<String>, StoreError> {
        let io = |source| StoreError::io("read", &self.path, source);
        let entries = match std::fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry.map_err(io)?.file_name().into_string());
        }
        Ok(names)
    }
}

/// The number and the form of a segment's name: six digits or more.
fn numbered(name: &str) -> Option<(u32, &str)> {
    let (number, form) = name.split_once('.')?;
    let plain = number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = number.parse().ok().filter(|_| plain)?;
    // `0000001` and `000001` would be one number.
    (format!("{number:06}.{form}") == name).then_some((number, form))
}

/// The streams that a run directory has a folder of.
pub fn stored_streams(dir: &Path) -> Vec<StreamKind> {
    StreamKind::ALL
        .into_iter()
        .filter(|kind| dir.join(kind.name()).is_dir())
        .collect()
}
