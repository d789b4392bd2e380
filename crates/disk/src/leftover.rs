//! What a server that was killed left: mounts that nobody answers, and what stands on them.
//!
//! Data in: the kernel's tables of mounts and loop devices. Data out: what is left, taken down in order. Nothing is kept
//! anywhere: who serves is in the name of each mount. It must not touch what a living server has.

use crate::fuse::MOUNT_NAME;
use crate::stack::tool;
use rustix::mount::{UnmountFlags, unmount};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// What one server left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Where its files were.
    pub at: PathBuf,
    /// The number that its process had.
    pub pid: u32,
    /// Loop devices over its files, each with where it is mounted.
    pub devices: Vec<(PathBuf, Vec<PathBuf>)>,
}

/// A mount of the kernel's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountRow {
    pub(crate) source: String,
    pub(crate) at: PathBuf,
}

/// All mounts of this namespace.
pub(crate) fn mounts() -> io::Result<Vec<MountRow>> {
    Ok(parse_mounts(&std::fs::read_to_string("/proc/self/mounts")?))
}

fn parse_mounts(table: &str) -> Vec<MountRow> {
    let row = |line: &str| {
        let mut words = line.split(' ');
        let (source, at) = (words.next()?, words.next()?);
        Some(MountRow {
            source: unescaped(source),
            at: PathBuf::from(unescaped(at)),
        })
    };
    table.lines().filter_map(row).collect()
}

/// As `/proc/self/mounts` has blanks and the like: `\040`.
fn unescaped(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| first == b'\\');
        let octal = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        if let Some(byte) = octal {
            bytes.push(byte);
            rest = &after[3..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mounts of servers, each with the number of its process.
fn servers(mounts: &[MountRow]) -> impl Iterator<Item = (u32, &Path)> {
    mounts.iter().filter_map(|mount| {
        let pid = mount.source.strip_prefix(MOUNT_NAME)?.parse().ok()?;
        Some((pid, &*mount.at))
    })
}

/// The number of the process that serves the mount at `at`.
///
/// # Errors
/// The table of mounts cannot be read.
pub fn server_of(at: &Path) -> io::Result<Option<u32>> {
    let at = std::path::absolute(at)?;
    Ok(servers(&mounts()?)
        .find(|(_, place)| *place == at)
        .map(|(pid, _)| pid))
}

/// Whether that process is a server, as far as can be told: numbers are used again.
fn is_alive(pid: u32) -> bool {
    let comm = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    comm.starts_with("fathom")
}

/// What servers left that do not live any more.
///
/// # Errors
/// The kernel's tables cannot be read.
pub fn find() -> io::Result<Vec<Leftover>> {
    let mounts = mounts()?;
    let dead = servers(&mounts).filter(|(pid, _)| !is_alive(*pid));
    let left = dead.map(|(pid, at)| Leftover {
        at: at.to_owned(),
        pid,
        devices: loop_devices(at)
            .into_iter()
            .map(|device| {
                let on_it = mounts.iter().filter(|mount| Path::new(&mount.source) == device);
                let places = on_it.map(|mount| mount.at.clone()).collect();
                (device, places)
            })
            .collect(),
    });
    Ok(left.collect())
}

/// Loop devices over files in `directory`. Where there is no table, there is no such device.
fn loop_devices(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir("/sys/block") else {
        return Vec::new();
    };
    let over = |name: &OsStr| {
        let path = Path::new("/sys/block").join(name).join("loop/backing_file");
        let backing = std::fs::read_to_string(path).ok()?;
        Path::new(backing.trim_end())
            .starts_with(directory)
            .then(|| Path::new("/dev").join(name))
    };
    let mut devices: Vec<PathBuf> = entries
        .filter_map(|entry| over(&entry.ok()?.file_name()))
        .collect();
    devices.sort();
    devices
}

impl Leftover {
    /// Takes it down in order; what was done, in words, and what could not be.
    pub fn take_down(&self) -> (Vec<String>, Vec<String>) {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        let mut note = |what: String, result: Result<(), String>| match result {
            Ok(()) => done.push(what),
            Err(error) => failed.push(format!("{what}: {error}")),
        };
        let lazily = |at: &Path| unmount(at, UnmountFlags::DETACH).map_err(|error| error.to_string());
        for (device, places) in &self.devices {
            for at in places {
                note(format!("unmounted {}", at.display()), lazily(at));
            }
            let words = [OsStr::new("--detach"), device.as_os_str()];
            let detached = tool("losetup", words)
                .map(drop)
                .map_err(|error| error.to_string());
            note(format!("detached {}", device.display()), detached);
        }
        let unmounted = lazily(&self.at).or_else(|refused| {
            // Who is not root has it done by fusermount.
            let words = ["-u", "-z"]
                .map(OsStr::new)
                .into_iter()
                .chain([self.at.as_os_str()]);
            tool("fusermount3", words).map(drop).map_err(|_| refused)
        });
        note(
            format!(
                "unmounted {}, whose server {} is gone",
                self.at.display(),
                self.pid
            ),
            unmounted,
        );
        (done, failed)
    }
}

#[cfg(test)]
mod tests;
