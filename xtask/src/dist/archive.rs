//! Archives whose bytes depend on what is in them alone.

use anyhow::Result;
use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

/// A file in an archive.
#[derive(Clone)]
pub(crate) struct Entry {
    /// Without a leading slash.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
}

impl Entry {
    pub(crate) fn file(path: &str, bytes: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            bytes,
            mode: 0o644,
        }
    }

    pub(crate) fn program(path: &str, bytes: Vec<u8>) -> Self {
        Self {
            mode: 0o755,
            ..Self::file(path, bytes)
        }
    }
}

/// A tar archive of the files, with the directories that they need, in the order of their names; all of
/// them root's, and of the time `epoch`.
pub(crate) fn tar(entries: &[Entry], epoch: u64) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let header = |kind, mode, size| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size);
        header.set_mtime(epoch);
        header.set_uid(0);
        header.set_gid(0);
        header
    };
    let directories: BTreeSet<&Path> = entries
        .iter()
        .flat_map(|entry| Path::new(&entry.path).ancestors().skip(1))
        .filter(|directory| !directory.as_os_str().is_empty())
        .collect();
    for directory in directories {
        let name = format!("{}/", directory.display());
        let mut header = header(tar::EntryType::Directory, 0o755, 0);
        archive.append_data(&mut header, name, std::io::empty())?;
    }
    let mut files: Vec<&Entry> = entries.iter().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for file in files {
        let mut header = header(tar::EntryType::Regular, file.mode, file.bytes.len() as u64);
        archive.append_data(&mut header, &file.path, file.bytes.as_slice())?;
    }
    Ok(archive.into_inner()?)
}

/// As `gzip --best --no-name` does.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}
