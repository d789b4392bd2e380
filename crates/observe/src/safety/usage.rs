//! What is in use: mounts, swap, holders, loop devices.

use super::Refusal;
use super::openers::Opener;
use super::scene::{LoopDevice, Scene};
use crate::mounts::Mount;
use crate::root::{FileKind, FileStat, SystemRoot};
use crate::sysfs::Block;
use crate::target::dm_kind;
use fathom_core::units::DevId;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How many loop devices may stand on each other.
const LOOPS_MAX: u32 = 8;

/// A thing that must not be in use.
#[derive(Clone, Copy)]
struct Question<'r> {
    scene: &'r Scene<'r>,
    /// The path asked for, which refusals name.
    path: &'r Path,
}

/// Refuses a regular file that is swapped to, backs a loop device, or is open elsewhere.
pub(super) fn file_in_use(scene: &Scene<'_>, path: &Path, stat: &FileStat) -> Result<(), Refusal> {
    file_set_up(scene, path, stat)?;
    let question = Question { scene, path };
    question.opened(scene.openers().of_file(stat), "it")
}

/// Refuses a regular file that is swapped to or backs a loop device.
pub(super) fn file_set_up(scene: &Scene<'_>, path: &Path, stat: &FileStat) -> Result<(), Refusal> {
    Question { scene, path }.file(stat, "it", None)
}

/// Refuses a generic device that somebody else may send commands by.
pub(super) fn generic_in_use(scene: &Scene<'_>, path: &Path, node: DevId) -> Result<(), Refusal> {
    Question { scene, path }.opened(scene.openers().of_generic(node), "it")
}

/// Refuses a block device that is swapped to or backs a loop device, or a part of it that is.
pub(super) fn device_set_up(scene: &Scene<'_>, path: &Path, block: &Block<'_>) -> Result<(), Refusal> {
    Question { scene, path }.set_up(&family(block), None)
}

/// Refuses a block device that is in use in any way that the system shows. The most telling use is named: a
/// mount before swap before a holder. A loop device is in use also where the file or device below it is, by
/// something else.
pub(super) fn device_in_use(scene: &Scene<'_>, path: &Path, block: &Block<'_>) -> Result<(), Refusal> {
    let question = Question { scene, path };
    question.device(block, None)?;
    let mut upper = block.clone().disk();
    for _ in 0..LOOPS_MAX {
        let Some(file) = upper.backing_file() else { break };
        // A file that is not visible here was judged where it is: by whoever set the loop device up.
        let Ok(stat) = scene.root.stat(&file) else { break };
        let except = dev_name(&upper);
        if stat.kind != FileKind::BlockDevice {
            return question.file(&stat, &file.display().to_string(), Some(&except));
        }
        let Some(lower) = Block::by_id(scene.root, stat.node) else {
            break;
        };
        question.device(&lower, Some(&except))?;
        upper = lower.disk();
    }
    Ok(())
}

impl<'r> Question<'r> {
    /// The loop devices but `except`.
    fn loops<'q>(
        self,
        except: Option<&'q str>,
    ) -> Result<impl Iterator<Item = &'r LoopDevice> + use<'q, 'r>, Refusal> {
        let loops = self.scene.loops(self.path)?.iter();
        Ok(loops.filter(move |device| Some(device.name.as_str()) != except))
    }

    /// `member`: what the file is called in the refusal.
    fn file(self, stat: &FileStat, member: &str, except: Option<&str>) -> Result<(), Refusal> {
        let is_it = |other: &Option<FileStat>| other.is_some_and(|other| other.same_as(stat));
        let mut swaps = self.scene.swaps(self.path)?.iter();
        if let Some(area) = swaps.find(|area| is_it(&area.stat)) {
            return Err(self.swap(member.to_owned(), &area.path));
        }
        match self.loops(except)?.find(|device| is_it(&device.stat)) {
            Some(device) => Err(self.loop_backing(member.to_owned(), &device.name)),
            None => Ok(()),
        }
    }

    fn device(self, block: &Block<'_>, except: Option<&str>) -> Result<(), Refusal> {
        let root = self.scene.root;
        let family = family(block);
        let member = |id: DevId| family.iter().find(|member| member.id == id);
        let path = || self.path.to_path_buf();
        for mount in self.scene.mounts(self.path, "whether it is mounted")? {
            if let Some(block) = mounted_devices(root, mount).into_iter().find_map(&member) {
                return Err(Refusal::Mounted {
                    path: path(),
                    member: dev_name(block),
                    point: mount.point.clone(),
                });
            }
        }
        if let Some((block, uuid)) = in_btrfs(root, &family) {
            return Err(Refusal::Held {
                path: path(),
                member: dev_name(block),
                holder: format!("a mounted btrfs (UUID {uuid})"),
            });
        }
        self.set_up(&family, except)?;
        for block in &family {
            if let Some(holder) = block.holders().first() {
                return Err(Refusal::Held {
                    path: path(),
                    member: dev_name(block),
                    holder: in_words(holder),
                });
            }
        }
        for block in &family {
            self.opened(self.scene.openers().of_device(block.id), &dev_name(block))?;
        }
        Ok(())
    }

    /// What neither a hold nor a lock keeps away.
    fn set_up(self, family: &[Block<'_>], except: Option<&str>) -> Result<(), Refusal> {
        let member = |stat: &Option<FileStat>| {
            let stat = stat.filter(|stat| stat.kind == FileKind::BlockDevice)?;
            family.iter().find(|member| member.id == stat.node)
        };
        for area in self.scene.swaps(self.path)? {
            if let Some(block) = member(&area.stat) {
                return Err(self.swap(dev_name(block), &area.path));
            }
        }
        for device in self.loops(except)? {
            if let Some(block) = member(&device.stat) {
                return Err(self.loop_backing(dev_name(block), &device.name));
            }
        }
        Ok(())
    }

    /// Refuses what somebody else may write to, or another fathom measures.
    fn opened(self, openers: &[Opener], member: &str) -> Result<(), Refusal> {
        match openers.iter().find(|opener| opener.writes || opener.is_fathom()) {
            None => Ok(()),
            Some(opener) => Err(Refusal::Opened {
                path: self.path.to_path_buf(),
                member: member.to_owned(),
                opener: opener.to_string(),
                how: if opener.writes {
                    "for writing"
                } else {
                    "for reading"
                },
            }),
        }
    }

    fn swap(self, member: String, area: &Path) -> Refusal {
        Refusal::Swap {
            path: self.path.to_path_buf(),
            member,
            area: area.to_path_buf(),
        }
    }

    fn loop_backing(self, member: String, loop_device: &str) -> Refusal {
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

/// Each loop device with a file. A file in another mount namespace has a path that means
/// nothing here; a loop device does not hold its file exclusively either, so that one is not seen.
pub(super) fn loops(root: &SystemRoot) -> io::Result<Vec<LoopDevice>> {
    let names = match root.list("/sys/block") {
        Ok(names) => names,
        // Some containers hide it: a kernel without block devices has no loop devices either.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let loops = names.iter().filter(|name| name.starts_with("loop"));
    let blocks = loops.filter_map(|name| Block::by_name(root, name));
    let with_file = blocks.filter_map(|block| {
        let backing = block.backing_file()?;
        Some(LoopDevice {
            name: dev_name(&block),
            stat: root.stat(backing).ok(),
        })
    });
    Ok(with_file.collect())
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
