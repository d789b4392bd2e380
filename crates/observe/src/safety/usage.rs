//! What is in use: mounts, swap, holders, loop devices.

use super::{Refusal, cannot_tell};
use crate::mounts::{Mount, mounts, swap_areas};
use crate::root::{FileKind, FileStat, SystemRoot};
use crate::sysfs::Block;
use crate::target::dm_kind;
use fathom_core::units::DevId;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many loop devices may stand on each other.
const LOOPS_MAX: u32 = 8;

/// A thing that must not be in use.
struct Question<'r> {
    root: &'r SystemRoot,
    /// The path asked for, which refusals name.
    path: &'r Path,
    swaps: Vec<PathBuf>,
    /// Loop devices that have a file, and the file.
    loops: Vec<(String, PathBuf)>,
}

/// Refuses a regular file that is swapped to or backs a loop device.
pub(super) fn file_in_use(root: &SystemRoot, path: &Path, stat: &FileStat) -> Result<(), Refusal> {
    Question::new(root, path)?.file(stat, "it", None)
}

/// Refuses a block device that is in use in any way that the system shows. The most telling use is named: a
/// mount before swap before a holder. A loop device is in use also where the file or device below it is, by
/// something else.
pub(super) fn device_in_use(root: &SystemRoot, path: &Path, block: &Block<'_>) -> Result<(), Refusal> {
    let question = Question::new(root, path)?;
    question.device(block, None)?;
    let mut upper = block.clone().disk();
    for _ in 0..LOOPS_MAX {
        let Some(file) = upper.backing_file() else { break };
        // A file that is not visible here was judged where it is: by whoever set the loop device up.
        let Ok(stat) = root.stat(&file) else { break };
        let except = dev_name(&upper);
        if stat.kind != FileKind::BlockDevice {
            return question.file(&stat, &file.display().to_string(), Some(&except));
        }
        let Some(lower) = Block::by_id(root, stat.node) else {
            break;
        };
        question.device(&lower, Some(&except))?;
        upper = lower.disk();
    }
    Ok(())
}

impl<'r> Question<'r> {
    fn new(root: &'r SystemRoot, path: &'r Path) -> Result<Self, Refusal> {
        Ok(Self {
            root,
            path,
            swaps: swap_areas(root)
                .map_err(|source| cannot_tell(path, "whether it is swap space (/proc/swaps)", source))?,
            loops: loops(root, path)?,
        })
    }

    /// The loop devices but `except`.
    fn loops(&self, except: Option<&str>) -> impl Iterator<Item = &(String, PathBuf)> {
        self.loops
            .iter()
            .filter(move |(name, _)| Some(name.as_str()) != except)
    }

    /// `member`: what the file is called in the refusal.
    fn file(&self, stat: &FileStat, member: &str, except: Option<&str>) -> Result<(), Refusal> {
        let is_it = |path: &Path| self.root.stat(path).is_ok_and(|other| other.same_as(stat));
        if let Some(area) = self.swaps.iter().find(|area| is_it(area)) {
            return Err(self.swap(member.to_owned(), area));
        }
        match self.loops(except).find(|(_, backing)| is_it(backing)) {
            Some((loop_device, _)) => Err(self.loop_backing(member.to_owned(), loop_device)),
            None => Ok(()),
        }
    }

    fn device(&self, block: &Block<'_>, except: Option<&str>) -> Result<(), Refusal> {
        let family = family(block);
        let member = |id: DevId| family.iter().find(|member| member.id == id);
        let path = || self.path.to_path_buf();
        let table = mounts(self.root).map_err(|source| {
            cannot_tell(self.path, "whether it is mounted (/proc/self/mountinfo)", source)
        })?;
        for mount in &table {
            if let Some(block) = mounted_devices(self.root, mount).into_iter().find_map(&member) {
                return Err(Refusal::Mounted {
                    path: path(),
                    member: dev_name(block),
                    point: mount.point.clone(),
                });
            }
        }
        if let Some((block, uuid)) = in_btrfs(self.root, &family) {
            return Err(Refusal::Held {
                path: path(),
                member: dev_name(block),
                holder: format!("a mounted btrfs (UUID {uuid})"),
            });
        }
        for area in &self.swaps {
            if let Some(block) = node(self.root, area).and_then(&member) {
                return Err(self.swap(dev_name(block), area));
            }
        }
        for (loop_device, backing) in self.loops(except) {
            if let Some(block) = node(self.root, backing).and_then(&member) {
                return Err(self.loop_backing(dev_name(block), loop_device));
            }
        }
        for block in &family {
            if let Some(holder) = block.holders().first() {
                return Err(Refusal::Held {
                    path: path(),
                    member: dev_name(block),
                    holder: in_words(holder),
                });
            }
        }
        Ok(())
    }

    fn swap(&self, member: String, area: &Path) -> Refusal {
        Refusal::Swap {
            path: self.path.to_path_buf(),
            member,
            area: area.to_path_buf(),
        }
    }

    fn loop_backing(&self, member: String, loop_device: &str) -> Refusal {
        Refusal::LoopBacking {
            path: self.path.to_path_buf(),
            member,
            loop_device: loop_device.to_owned(),
        }
    }
}

/// The device, the disk that it is a partition of, its partitions, and all that is built on any of these.
/// Partitions beside it are not among them.
fn family<'a>(block: &Block<'a>) -> Vec<Block<'a>> {
    let mut family = vec![block.clone()];
    family.extend(block.parent());
    // The disk's other partitions are no concern, but what holds the whole disk is.
    let mut queue: Vec<Block<'a>> = block.partitions();
    queue.extend(family.iter().flat_map(Block::holders));
    while let Some(next) = queue.pop() {
        if family.iter().any(|known| known.id == next.id) {
            continue;
        }
        queue.extend(next.partitions());
        queue.extend(next.holders());
        family.push(next);
    }
    family
}

/// The devices that a mount is known to use: its number, and its source where that is a device node (btrfs
/// has another number). bcachefs names several, with colons between them.
fn mounted_devices(root: &SystemRoot, mount: &Mount) -> Vec<DevId> {
    let mut found = Vec::new();
    if mount.device.major != 0 {
        found.push(mount.device);
    } else if mount.source.is_absolute() {
        let sources = mount.source.as_os_str().as_bytes().split(|&b| b == b':');
        found.extend(sources.filter_map(|source| node(root, Path::new(OsStr::from_bytes(source)))));
    }
    found
}

/// A member that belongs to a mounted btrfs of several devices, only one of which is the source of the mount.
fn in_btrfs<'f, 'a>(root: &SystemRoot, family: &'f [Block<'a>]) -> Option<(&'f Block<'a>, String)> {
    for uuid in root.list("/sys/fs/btrfs").unwrap_or_default() {
        let devices = Path::new("/sys/fs/btrfs").join(&uuid).join("devices");
        for name in root.list(devices).unwrap_or_default() {
            let name = name.replace('!', "/");
            if let Some(block) = family.iter().find(|block| block.name == name) {
                return Some((block, uuid));
            }
        }
    }
    None
}

/// The device that a node stands for.
fn node(root: &SystemRoot, path: &Path) -> Option<DevId> {
    let stat = root.stat(path).ok()?;
    (stat.kind == FileKind::BlockDevice).then_some(stat.node)
}

/// Each loop device with a file, and the file. A file in another mount namespace has a path that means
/// nothing here; a loop device does not hold its file exclusively either, so that one is not seen.
fn loops(root: &SystemRoot, path: &Path) -> Result<Vec<(String, PathBuf)>, Refusal> {
    let names = match root.list("/sys/block") {
        Ok(names) => names,
        // Some containers hide it: a kernel without block devices has no loop devices either.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => {
            return Err(cannot_tell(
                path,
                "whether a loop device stands on it (/sys/block)",
                source,
            ));
        }
    };
    let loops = names.iter().filter(|name| name.starts_with("loop"));
    let blocks = loops.filter_map(|name| Block::by_name(root, name));
    Ok(blocks
        .filter_map(|block| Some((dev_name(&block), block.backing_file()?)))
        .collect())
}

fn dev_name(block: &Block<'_>) -> String {
    format!("/dev/{}", block.name)
}

/// `/dev/dm-0 (LVM, vg-data)`.
fn in_words(block: &Block<'_>) -> String {
    let name = dev_name(block);
    if let Some(dm) = block.text("dm/name") {
        return format!("{name} ({}, {dm})", dm_kind(block));
    }
    match block.text("md/level") {
        Some(level) => format!("{name} (md {level})"),
        None => name,
    }
}
