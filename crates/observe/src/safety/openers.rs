//! Who has a file or device open: `/proc/*/fd`.
//!
//! Data in: the table of processes. Data out: for each file or device that some other process has open, who that is and
//! whether it may write. It sees what the user may see: other users' processes are closed to all but root. It must not
//! know which of them matters.

use crate::root::{FileKind, FileStat, SystemRoot};
use fathom_core::units::DevId;
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A process that has something open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// Its number.
    pub pid: u32,
    /// Its name, as the kernel keeps it.
    pub name: String,
    /// Whether it may write through it.
    pub writes: bool,
}

impl fmt::Display for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.name)
    }
}

impl Opener {
    /// Whether it is another fathom, by its name.
    pub fn is_fathom(&self) -> bool {
        self.name == "fathom"
    }
}

/// What is open, by whom.
#[derive(Debug, Default)]
pub(super) struct Openers {
    files: HashMap<(DevId, u64), Vec<Opener>>,
    devices: HashMap<DevId, Vec<Opener>>,
    /// Character devices.
    generic: HashMap<DevId, Vec<Opener>>,
}

impl Openers {
    pub(super) fn of_file(&self, stat: &FileStat) -> &[Opener] {
        let found = self.files.get(&(stat.device, stat.inode));
        found.map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_device(&self, node: DevId) -> &[Opener] {
        self.devices.get(&node).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_generic(&self, node: DevId) -> &[Opener] {
        self.generic.get(&node).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, stat: &FileStat, opener: Opener) {
        let openers = match stat.kind {
            FileKind::Regular => self.files.entry((stat.device, stat.inode)).or_default(),
            FileKind::BlockDevice => self.devices.entry(stat.node).or_default(),
            FileKind::CharacterDevice => self.generic.entry(stat.node).or_default(),
            _ => return,
        };
        match openers.iter_mut().find(|known| known.pid == opener.pid) {
            Some(known) => known.writes |= opener.writes,
            None => openers.push(opener),
        }
    }
}

/// A look at all processes but this one.
pub(super) fn look(root: &SystemRoot) -> Openers {
    let mut openers = Openers::default();
    let own = std::process::id();
    for pid in processes(root).filter(|pid| *pid != own) {
        look_at(root, pid, &mut |stat, writes, name| {
            let opener = Opener {
                pid,
                name: name.to_owned(),
                writes,
            };
            openers.add(stat, opener);
        });
    }
    openers
}

/// Other fathoms that have the file or device open that each of `paths` leads to, in the order of the paths.
pub fn other_fathoms<'a>(
    root: &SystemRoot,
    paths: impl IntoIterator<Item = &'a Path>,
) -> Vec<(&'a Path, Opener)> {
    let mut openers = Openers::default();
    let own = std::process::id();
    for pid in processes(root).filter(|pid| *pid != own) {
        if name_of(root, pid).as_deref() != Some("fathom") {
            continue;
        }
        look_at(root, pid, &mut |stat, writes, name| {
            let name = name.to_owned();
            openers.add(stat, Opener { pid, name, writes });
        });
    }
    if openers.files.is_empty() && openers.devices.is_empty() && openers.generic.is_empty() {
        return Vec::new();
    }
    let of = |path: &'a Path| {
        let stat = root.stat(path).ok()?;
        let found = match stat.kind {
            FileKind::BlockDevice => openers.of_device(stat.node),
            FileKind::CharacterDevice => openers.of_generic(stat.node),
            _ => openers.of_file(&stat),
        };
        Some((path, found.first()?.clone()))
    };
    paths.into_iter().filter_map(of).collect()
}

fn processes(root: &SystemRoot) -> impl Iterator<Item = u32> {
    let names = root.list("/proc").unwrap_or_default();
    names.into_iter().filter_map(|name| name.parse().ok())
}

fn name_of(root: &SystemRoot, pid: u32) -> Option<String> {
    root.text(format!("/proc/{pid}/comm"))
}

/// Tells of all that one process has open. What ends or closes meanwhile is left out.
fn look_at(root: &SystemRoot, pid: u32, found: &mut dyn FnMut(&FileStat, bool, &str)) {
    let dir = format!("/proc/{pid}/fd");
    // A process of another user's, or one that has ended.
    let Ok(fds) = root.list(&dir) else { return };
    let name = name_of(root, pid).unwrap_or_default();
    for fd in fds {
        let path = format!("{dir}/{fd}");
        let Ok(stat) = root.stat(&path) else { continue };
        if !matches!(
            stat.kind,
            FileKind::Regular | FileKind::BlockDevice | FileKind::CharacterDevice
        ) {
            continue;
        }
        // The mode of the link says how it was opened (proc(5)): the owner's bits for reading and writing.
        let link = fs::symlink_metadata(root.at(Path::new(&path)));
        let writes = link.is_ok_and(|link| link.mode() & 0o200 != 0);
        found(&stat, writes, &name);
    }
}
