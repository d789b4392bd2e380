//! What the tests share: scratch files, random bytes, and the word for what a machine cannot do.

pub(crate) use fathom_testkit::{seed, skipped};

use fathom_core::rng::Rng;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use tempfile::NamedTempFile;

/// A scratch file of `len` bytes, all written, with the contents.
pub(crate) fn scratch(rng: &mut Rng, len: usize) -> (NamedTempFile, Vec<u8>) {
    let contents = bytes(rng, len);
    let mut file = NamedTempFile::new().expect("a scratch file");
    file.write_all(&contents).expect("room for a scratch file");
    file.as_file().sync_all().expect("sync");
    (file, contents)
}

/// Random bytes.
pub(crate) fn bytes(rng: &mut Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    rng.fill(&mut bytes);
    bytes
}

/// The file opened again, past the page cache if `direct`.
pub(crate) fn open(file: &NamedTempFile, direct: bool) -> io::Result<File> {
    let flags = if direct { libc::O_DIRECT } else { 0 };
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(file.path())
}
