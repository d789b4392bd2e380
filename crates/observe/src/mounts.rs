//! What is mounted where: `/proc/self/mountinfo` and `/proc/swaps`.
//!
//! Duty: parse the two tables. Data in: their text (format: proc(5), Documentation/filesystems/proc.rst
//! section 3.5). Data out: rows. It must not know which row matters.

use crate::root::SystemRoot;
use fathom_core::units::DevId;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device number that its files carry; major 0 where there is no device.
    pub device: DevId,
    /// Which directory of the file system is mounted: `/`, or the part that a container or bind mount shows.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// File system type: `ext4`, `fuse.sshfs`, …
    pub filesystem: String,
    /// What was mounted: a device, a server, or any word.
    pub source: PathBuf,
    /// The super block's options, as the kernel wrote them: `rw,upperdir=…`, escaped.
    pub options: Vec<u8>,
}

impl Mount {
    /// The value of a `name=value` option of the super block, without its escapes.
    pub fn option(&self, name: &str) -> Option<PathBuf> {
        // A comma inside a value is escaped too (`seq_show_option`): split first.
        let values = self.options.split(|&b| b == b',');
        let mut pairs = values.filter_map(|value| value.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        pairs.next().map(path_of)
    }
}

/// All mounts that this process sees, in the order of the table. Lines that do not parse are left out: the
/// kernel writes none.
///
/// # Errors
/// The table cannot be read.
pub fn mounts(root: &SystemRoot) -> io::Result<Vec<Mount>> {
    let text = root.read("/proc/self/mountinfo")?;
    Ok(text.split(|&b| b == b'\n').filter_map(parse_mount).collect())
}

/// The mount that `path` (absolute, without links) lies on: the deepest mount point above it, the later one
/// of two at the same place; among mounts of `device` where there is one.
pub fn mount_of<'a>(mounts: &'a [Mount], path: &Path, device: DevId) -> Option<&'a Mount> {
    let above = |mount: &&Mount| path.starts_with(&mount.point);
    let depth = |mount: &&Mount| mount.point.components().count();
    mounts
        .iter()
        .filter(above)
        .filter(|mount| mount.device == device)
        .max_by_key(depth)
        .or_else(|| mounts.iter().filter(above).max_by_key(depth))
}

/// The files and devices in use as swap; none where the kernel has no swap.
///
/// # Errors
/// The table is there and cannot be read.
pub fn swap_areas(root: &SystemRoot) -> io::Result<Vec<PathBuf>> {
    let text = match root.read("/proc/swaps") {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let rows = text.split(|&b| b == b'\n').skip(1);
    let names = rows.filter_map(|row| row.split(|&b| b == b' ' || b == b'\t').next());
    Ok(names.filter(|name| !name.is_empty()).map(path_of).collect())
}

fn parse_mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|&b| b == b' ').collect();
    // Fields 7 and on are optional tags, up to a lone hyphen.
    let tail = fields.iter().skip(6).position(|field| field == b"-")? + 7;
    let (major, minor) = std::str::from_utf8(fields.get(2)?).ok()?.split_once(':')?;
    Some(Mount {
        device: DevId {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        },
        root: path_of(fields.get(3)?),
        point: path_of(fields.get(4)?),
        filesystem: String::from_utf8_lossy(fields.get(tail)?).into_owned(),
        source: path_of(fields.get(tail + 1)?),
        options: fields.get(tail + 2)?.to_vec(),
    })
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(bytes)))
}

/// Undoes the kernel's `\040` for space, tab, newline and backslash (`seq_path`, `mangle`).
fn unescape(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        let digits = tail
            .get(..3)
            .filter(|d| d.iter().all(|b| (b'0'..=b'7').contains(b)));
        match digits {
            Some(d) if byte == b'\\' && d[0] <= b'3' => {
                out.push((d[0] - b'0') * 64 + (d[1] - b'0') * 8 + (d[2] - b'0'));
                rest = &tail[3..];
            }
            _ => {
                out.push(byte);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
