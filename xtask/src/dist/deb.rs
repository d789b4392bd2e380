//! A Debian package (deb(5)): an `ar` archive of two tar archives. A static program depends on nothing, so that there is
//! little to say in it.

use super::archive::{Entry, gzip, tar};
use super::{Binary, Release};
use crate::shell;
use anyhow::Result;
use data_encoding::HEXLOWER;
use md5::{Digest as _, Md5};
use std::fmt::Write as _;

pub(super) fn package(release: &Release, binary: &Binary<'_>, generated: &[Entry]) -> Result<Vec<u8>> {
    let root = shell::root();
    let mut files = vec![
        Entry::program("usr/bin/fathom", binary.bytes.clone()),
        Entry::file("usr/share/doc/fathom/copyright", copyright().into_bytes()),
        Entry::file(
            "usr/share/doc/fathom/changelog.gz",
            gzip(&std::fs::read(root.join("CHANGELOG.md"))?)?,
        ),
    ];
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let text = std::fs::read(root.join(licence))?;
        files.push(Entry::file(&format!("usr/share/doc/fathom/{licence}"), text));
    }
    files.extend_from_slice(generated);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assemble(
        &files,
        &control(release, binary.machine.short, &files),
        release.epoch,
    )
}

fn assemble(files: &[Entry], control: &str, epoch: u64) -> Result<Vec<u8>> {
    let about = [
        Entry::file("control", control.as_bytes().to_vec()),
        Entry::file("md5sums", digests(files).into_bytes()),
    ];
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tar(&about, epoch)?)?),
        ("data.tar.gz", gzip(&tar(files, epoch)?)?),
    ];
    let mut archive = ar::Builder::new(Vec::new());
    for (name, bytes) in &members {
        let mut header = ar::Header::new(name.as_bytes().to_vec(), bytes.len() as u64);
        header.set_mode(0o100_644);
        header.set_mtime(epoch);
        archive.append(&header, bytes.as_slice())?;
    }
    Ok(archive.into_inner()?)
}

fn control(release: &Release, architecture: &str, files: &[Entry]) -> String {
    let kib: usize = files.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    format!(
        "Package: fathom\nVersion: {}\nArchitecture: {architecture}\nMaintainer: The fathom developers\n\
         Installed-Size: {kib}\nSection: utils\nPriority: optional\n\
         Description: measures a disk and explains what it saw\n \
         Runs fio's job files on an engine of its own, says which of its numbers to\n \
         doubt and why, and runs the same jobs on modelled cloud disks.\n",
        release.version
    )
}

/// As `dpkg --verify` reads them.
fn digests(files: &[Entry]) -> String {
    let mut lines = String::new();
    for file in files {
        let digest = HEXLOWER.encode(&Md5::digest(&file.bytes));
        // A string takes all that is written to it.
        let _ = writeln!(lines, "{digest}  {}", file.path);
    }
    lines
}

fn copyright() -> String {
    String::from(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: fathom\n\n\
         Files: *\nCopyright: 2026 The fathom developers\nLicense: Expat or Apache-2.0\n\n\
         License: Expat\n The text is in LICENSE-MIT beside this file.\n\n\
         License: Apache-2.0\n The text is in LICENSE-APACHE beside this file.\n",
    )
}

#[cfg(test)]
mod tests;
