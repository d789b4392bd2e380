//! What a server that was killed left: mounts that nobody answers, and what stands on them.
//!
//! Data in: the kernel's tables of mounts and loop devices. Data out: what is left, taken down in order. Nothing is kept
//! anywhere: who serves is in the name of each mount. It must not touch what a living server has, nor what it cannot judge: the
//! mount of a server in another namespace of processes (a container's), whose number means another process here.

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

/// What the names of mounts begin with, in the kernel's table: a [`Server`] follows.
const MOUNT_NAME: &str = "fathom-disk:";

/// Who serves a mount. A number alone would not do: it is used again, and means another process in another namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Server {
    pid: u32,
    /// When it started, as the kernel counts it.
    started_ticks: u64,
    /// The namespace that its number is of.
    namespace: u64,
}

impl Server {
    /// This process.
    pub(crate) fn this() -> io::Result<Self> {
        let pid = std::process::id();
        let started_ticks = started_ticks(pid)?.ok_or_else(|| {
            io::Error::other(format!("/proc/{pid}/stat does not say when this process started"))
        })?;
        Ok(Self {
            pid,
            started_ticks,
            namespace: namespace()?,
        })
    }

    /// What its mounts are called.
    pub(crate) fn mount_name(self) -> String {
        format!(
            "{MOUNT_NAME}{}:{}:{}",
            self.pid, self.started_ticks, self.namespace
        )
    }

    fn of(mount_name: &str) -> Option<Self> {
        let mut numbers = mount_name.strip_prefix(MOUNT_NAME)?.split(':');
        let server = Self {
            pid: numbers.next()?.parse().ok()?,
            started_ticks: numbers.next()?.parse().ok()?,
            namespace: numbers.next()?.parse().ok()?,
        };
        numbers.next().is_none().then_some(server)
    }

    /// Whether it is known to be gone.
    fn is_gone(self) -> io::Result<bool> {
        Ok(self.namespace == namespace()? && started_ticks(self.pid)? != Some(self.started_ticks))
    }
}

/// When a process started; `None`: there is none of that number, or what ended is only not yet reaped.
fn started_ticks(pid: u32) -> io::Result<Option<u64>> {
    let stat = match std::fs::read(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // It went between the opening and the reading.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    Ok(parse_started(&String::from_utf8_lossy(&stat)))
}

fn parse_started(stat: &str) -> Option<u64> {
    // A program's name may have blanks and brackets in it.
    let mut words = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = words.next()?;
    // The 22nd value; the state is the 3rd.
    let started = words.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(started)
}

/// The namespace of this process's number.
fn namespace() -> io::Result<u64> {
    Ok(std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(
        "/proc/self/ns/pid",
    )?))
}

/// The mounts of servers.
fn servers(mounts: &[MountRow]) -> impl Iterator<Item = (Server, &Path)> {
    mounts
        .iter()
        .filter_map(|mount| Some((Server::of(&mount.source)?, &*mount.at)))
}

/// The number of the process that serves the mount at `at`.
///
/// # Errors
/// The table of mounts cannot be read.
pub fn server_of(at: &Path) -> io::Result<Option<u32>> {
    let at = std::path::absolute(at)?;
    Ok(servers(&mounts()?)
        .find(|(_, place)| *place == at)
        .map(|(server, _)| server.pid))
}

/// What servers left that do not live any more.
///
/// # Errors
/// The kernel's tables cannot be read.
pub fn find() -> io::Result<Vec<Leftover>> {
    let mounts = mounts()?;
    let mut left = Vec::new();
    for (server, at) in servers(&mounts) {
        if !server.is_gone()? {
            continue;
        }
        let devices = loop_devices(at).into_iter().map(|device| {
            let on_it = mounts.iter().filter(|mount| Path::new(&mount.source) == device);
            let places = on_it.map(|mount| mount.at.clone()).collect();
            (device, places)
        });
        left.push(Leftover {
            at: at.to_owned(),
            pid: server.pid,
            devices: devices.collect(),
        });
    }
    Ok(left)
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
    /// Takes it down in order; what was done, in words, and what could not be. What another start takes down at the same time is neither.
    pub fn take_down(&self) -> (Vec<String>, Vec<String>) {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        let mut note = |what: String, result: Result<(), String>, is_there: &dyn Fn() -> bool| match result {
            Ok(()) => done.push(what),
            Err(error) if is_there() => failed.push(format!("{what}: {error}")),
            Err(_) => {}
        };
        let lazily = |at: &Path| unmount(at, UnmountFlags::DETACH).map_err(|error| error.to_string());
        for (device, places) in &self.devices {
            for at in places {
                note(format!("unmounted {}", at.display()), lazily(at), &|| {
                    is_mounted(at)
                });
            }
            let words = [OsStr::new("--detach"), device.as_os_str()];
            let detached = tool("losetup", words)
                .map(drop)
                .map_err(|error| error.to_string());
            note(format!("detached {}", device.display()), detached, &|| {
                loop_devices(&self.at).contains(device)
            });
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
            &|| is_mounted(&self.at),
        );
        (done, failed)
    }
}

/// Whether something is mounted there, as far as can be told.
fn is_mounted(at: &Path) -> bool {
    mounts().map_or(true, |mounts| mounts.iter().any(|mount| mount.at == at))
}

#[cfg(test)]
mod tests;
