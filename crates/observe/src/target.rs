//! What a target is: its file system and the device below it.
//!
//! Duty: describe a path. Data in: the path, `/proc/self/mountinfo`, `/sys`. Data out: [`TargetFile`], the
//! names of the disks that count its I/O, the devices to trace, and a line of text. It must not know what will be done with the
//! target.
//!
//! Only what lies below the path asked for is looked at, and nothing here fails: a device that is hidden, has
//! no node, or lies on another machine gives a [`TargetFile`] that says so.

mod device;
mod traced;
mod words;

pub(crate) use device::dm_kind;
pub use traced::{TraceDevice, trace_devices};
pub use words::describe;

use crate::mounts::{Mount, mount_of, mounts};
use crate::parents::{Parents, Plain};
use crate::root::{FileKind, FileStat, SystemRoot};
use crate::sysfs::Block;
use device::{Below, below_file_system, info};
use fathom_core::run::{TargetFile, TargetKind};
use fathom_core::units::DevId;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Describes the file or device at `path`, following symbolic links. Of a path that does not exist yet, the
/// file system it would be created on. Never fails: what cannot be learned is `None`, with the reason in
/// `device_missing`.
///
/// `device` is the whole disk, also where the target is a partition or lies on one; its `slaves` are all
/// whole disks below it, recursively (striping, LVM, crypt, the disk under a loop device's file, `NVMe`
/// multipath paths), and for a btrfs of several devices the other ones.
pub fn inspect(root: &SystemRoot, path: &Path) -> TargetFile {
    Inspector::new(root).inspect(path)
}

/// Describes many files: what they have in common is looked at once.
pub struct Inspector<'r> {
    root: &'r SystemRoot,
    parents: Parents<'r>,
    mounts: Vec<Mount>,
    /// Of a directory and the device that its files are on: the file system, and what is below it.
    below: HashMap<(PathBuf, DevId), (Option<String>, Below)>,
}

impl<'r> Inspector<'r> {
    /// Of files of this system.
    pub fn new(root: &'r SystemRoot) -> Self {
        Self {
            root,
            parents: Parents::new(root),
            mounts: mounts(root).unwrap_or_default(),
            below: HashMap::new(),
        }
    }

    /// As [`inspect`].
    pub fn inspect(&mut self, path: &Path) -> TargetFile {
        let mut target = empty(path);
        match existing(self.root, &self.parents, path) {
            Err(error) => target.device_missing = Some(format!("it cannot be looked at: {error}")),
            Ok((place, stat)) => match stat.kind {
                FileKind::BlockDevice => inspect_device(self.root, &stat, &mut target),
                FileKind::CharacterDevice => {
                    target.kind = TargetKind::CharacterDevice;
                    let disk = Block::behind_generic(self.root, stat.node);
                    if let Some(disk) = &disk {
                        target.size_bytes = disk.size_bytes().unwrap_or(0);
                    }
                    target.device_missing = Some(match disk {
                        Some(disk) => {
                            format!("commands go to {} past the block layer", disk.name)
                        }
                        None => String::from("a character device: the block layer does not see it"),
                    });
                }
                FileKind::Fifo | FileKind::Socket => {
                    target.device_missing = Some(format!("{}: nothing is stored", stat.kind.in_words()));
                }
                FileKind::Regular | FileKind::Directory => self.inspect_file(&place, &stat, &mut target),
            },
        }
        target
    }

    fn inspect_file(&mut self, place: &Path, stat: &FileStat, target: &mut TargetFile) {
        if stat.kind == FileKind::Regular {
            target.size_bytes = stat.size_bytes;
        }
        let (root, mounts) = (self.root, &self.mounts);
        let look = || {
            let mount = mount_of(mounts, place, stat.device);
            (
                mount.map(|mount| mount.filesystem.clone()),
                below(root, mount, stat, mounts),
            )
        };
        let directory = match stat.kind {
            FileKind::Directory => Some(place),
            // Something may be mounted on the file itself.
            _ if mounts.iter().any(|mount| mount.point == place) => None,
            _ => place.parent(),
        };
        let (filesystem, below) = match directory {
            Some(directory) => self
                .below
                .entry((directory.to_owned(), stat.device))
                .or_insert_with(look)
                .clone(),
            None => look(),
        };
        target.filesystem = filesystem;
        match below {
            Ok(device) => target.device = Some(device),
            Err(reason) => target.device_missing = Some(reason),
        }
    }
}

fn empty(path: &Path) -> TargetFile {
    TargetFile {
        path: path.to_string_lossy().into_owned(),
        kind: TargetKind::File,
        size_bytes: 0,
        filesystem: None,
        device: None,
        device_missing: None,
    }
}

/// The kernel names whose rows in `/proc/diskstats` count the target's I/O: the device, then what is below
/// it, nearest first. The rows of a stack count the same I/O at several levels: they must not be added up.
/// Empty where the device is not known.
pub fn whole_disk(target: &TargetFile) -> Vec<String> {
    let Some(device) = &target.device else {
        return Vec::new();
    };
    let mut names = vec![device.name.clone()];
    names.extend(device.slaves.iter().cloned());
    names
}

/// The path, or the nearest directory above where it would be made that exists, absolute and without links,
/// and what it is.
fn existing(root: &SystemRoot, parents: &Parents<'_>, path: &Path) -> io::Result<(PathBuf, FileStat)> {
    let mut place = match parents.plain(path) {
        Some(Plain::There(place)) => return root.stat(path).map(|stat| (place, stat)),
        Some(Plain::Missing(mut place)) => {
            // Its directory is there, and without links.
            place.pop();
            return parents.stat(&place).map(|stat| (place, stat));
        }
        None => root.destination(path)?,
    };
    loop {
        match root.stat(&place) {
            Ok(stat) => return Ok((root.canonical(&place)?, stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && place.pop() => {}
            Err(error) => return Err(error),
        }
    }
}

fn inspect_device(root: &SystemRoot, stat: &FileStat, target: &mut TargetFile) {
    target.kind = TargetKind::BlockDevice;
    let Some(block) = Block::by_id(root, stat.node) else {
        target.device_missing = Some(format!("/sys does not show block device {}", stat.node));
        return;
    };
    target.size_bytes = block.size_bytes().unwrap_or(0);
    target.device = Some(info(&block.disk()));
}

/// The device below a file, or why there is none.
fn below(root: &SystemRoot, mount: Option<&Mount>, stat: &FileStat, table: &[Mount]) -> Below {
    if stat.device.major != 0 {
        let block = Block::by_id(root, stat.device);
        let block = block.ok_or_else(|| format!("/sys does not show block device {}", stat.device))?;
        return Ok(info(&block.disk()));
    }
    match mount {
        Some(mount) => below_file_system(root, mount, table),
        None => Err(format!(
            "it is on device {}, which /proc/self/mountinfo does not list",
            stat.device
        )),
    }
}

#[cfg(test)]
mod tests;
