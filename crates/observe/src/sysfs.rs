//! Block devices as `/sys` describes them.
//!
//! Duty: find a device by number or name, and its neighbours: whole disk, partitions, slaves, holders. Data
//! in: `/sys` (layout: Documentation/ABI/stable/sysfs-block). Data out: [`Block`]. A device that `/sys` hides
//! is simply not there. It must not know why it is asked.

use crate::root::SystemRoot;
use fathom_core::units::DevId;
use std::path::{Path, PathBuf};

/// `/sys` counts in sectors of 512 bytes whatever the device's own are.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// In place of the number of a device that has none.
const NO_NUMBER: DevId = DevId { major: 0, minor: 0 };

/// How far a stack of devices is followed; deeper is a loop in a broken tree.
const DEPTH_MAX: usize = 16;

/// A whole disk or a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    root: &'a SystemRoot,
    /// Its directory, without links, as the system has it.
    dir: PathBuf,
    /// Kernel name as in `/dev` and `/proc/diskstats`: `vda1`, `cciss/c0d0`.
    pub(crate) name: String,
    pub(crate) id: DevId,
}

impl<'a> Block<'a> {
    /// The device with this number.
    pub(crate) fn by_id(root: &'a SystemRoot, id: DevId) -> Option<Self> {
        Self::at(root, Path::new(&format!("/sys/dev/block/{id}")))
    }

    /// The device with this kernel name.
    pub(crate) fn by_name(root: &'a SystemRoot, name: &str) -> Option<Self> {
        let name = name.replace('/', "!");
        Self::at(root, &Path::new("/sys/class/block").join(&name))
            .or_else(|| Self::at(root, &Path::new("/sys/block").join(&name)))
    }

    /// The device whose directory, or a link to it, is `path`.
    fn at(root: &'a SystemRoot, path: &Path) -> Option<Self> {
        let dir = root.canonical(path).ok()?;
        let id = match root.text(dir.join("dev")) {
            Some(text) => parse_id(&text)?,
            // A hidden disk (block/genhd.c, GENHD_FL_HIDDEN) has counters but no number to open it by.
            None if root.text(dir.join("hidden")).as_deref() == Some("1") => NO_NUMBER,
            None => return None,
        };
        // `/` cannot be in a file name: sysfs writes `!`.
        let name = dir.file_name()?.to_string_lossy().replace('!', "/");
        Some(Self { root, dir, name, id })
    }

    /// The disk that a generic character device stands for: `nvme0n1` for `ng0n1`, `sda` for `sg0`. `None`: `node` is no such device,
    /// or its disk is not there for the system (a namespace that it cannot use, a tape).
    pub(crate) fn behind_generic(root: &'a SystemRoot, node: DevId) -> Option<Self> {
        let dir = root.canonical(format!("/sys/dev/char/{node}")).ok()?;
        let class = root.canonical(dir.join("subsystem")).ok()?;
        match class.file_name()?.to_str()? {
            "scsi_generic" => {
                let disks = dir.join("device/block");
                let [name] = &root.list(&disks).ok()?[..] else {
                    return None;
                };
                Self::at(root, &disks.join(name))
            }
            "nvme-generic" => {
                // drivers/nvme/host/core.c, nvme_add_ns_cdev and nvme_mpath_set_disk_name: both have the numbers of one namespace,
                // and one parent.
                let name = dir.file_name()?.to_str()?.strip_prefix("ng")?;
                let disk = Self::by_name(root, &format!("nvme{name}"))?;
                (disk.dir.parent() == dir.parent()).then_some(disk)
            }
            _ => None,
        }
    }

    /// An attribute as text; `None` where it is missing or empty.
    pub(crate) fn text(&self, attribute: &str) -> Option<String> {
        self.root.text(self.dir.join(attribute))
    }

    pub(crate) fn number(&self, attribute: &str) -> Option<u64> {
        self.text(attribute)?.parse().ok()
    }

    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.root.exists(self.dir.join(attribute))
    }

    pub(crate) fn size_bytes(&self) -> Option<u64> {
        self.number("size")
            .map(|sectors| sectors.saturating_mul(SECTOR_BYTES))
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.has("partition")
    }

    /// The whole disk that a partition is part of; `None` for a whole disk.
    pub(crate) fn parent(&self) -> Option<Self> {
        if !self.is_partition() {
            return None;
        }
        Self::at(self.root, self.dir.parent()?)
    }

    /// The whole disk: itself, or what it is a partition of.
    pub(crate) fn disk(self) -> Self {
        self.parent().unwrap_or(self)
    }

    /// Its partitions, by name.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        let names = self.root.list(&self.dir).unwrap_or_default();
        let inside = names
            .iter()
            .filter(|name| self.root.exists(self.dir.join(name).join("partition")));
        inside
            .filter_map(|name| Self::at(self.root, &self.dir.join(name)))
            .collect()
    }

    /// The devices that it is made of (device mapper, md, bcache), by name.
    pub(crate) fn slaves(&self) -> Vec<Self> {
        self.links("slaves")
    }

    /// The devices made of it.
    pub(crate) fn holders(&self) -> Vec<Self> {
        self.links("holders")
    }

    /// The file below a loop device, as the kernel names it.
    pub(crate) fn backing_file(&self) -> Option<PathBuf> {
        let text = self.text("loop/backing_file")?;
        Some(PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text)))
    }

    /// Whole disks below it, nearest first, itself not among them: slaves, the disk under a loop device's
    /// file, and the hidden paths of an `NVMe` multipath head; each once.
    pub(crate) fn below(&self) -> Vec<Self> {
        let mut found = Vec::new();
        self.collect_below(&mut found, 0);
        found
    }

    fn collect_below(&self, found: &mut Vec<Self>, depth: usize) {
        if depth == DEPTH_MAX {
            return;
        }
        let mut next: Vec<Self> = self.slaves().into_iter().map(Self::disk).collect();
        next.extend(self.disk_of_backing_file());
        next.extend(self.multipath_paths());
        for block in next {
            if block.name != self.name && !found.iter().any(|known| known.name == block.name) {
                found.push(block.clone());
                block.collect_below(found, depth + 1);
            }
        }
    }

    fn disk_of_backing_file(&self) -> Option<Self> {
        let stat = self.root.stat(self.backing_file()?).ok()?;
        let id = match stat.kind {
            crate::root::FileKind::BlockDevice => stat.node,
            _ => stat.device,
        };
        Self::by_id(self.root, id).map(Self::disk)
    }

    /// `nvme0c0n1`, `nvme0c1n1` for `nvme0n1`: the paths of `NVMe`'s own multipath, which are hidden
    /// (drivers/nvme/host/multipath.c, `nvme_mpath_set_disk_name`).
    fn multipath_paths(&self) -> Vec<Self> {
        let Some((controller, namespace)) = nvme_name(&self.name) else {
            return Vec::new();
        };
        let names = self.root.list("/sys/block").unwrap_or_default();
        let is_path = |name: &&String| {
            let rest = name
                .strip_prefix(controller)
                .and_then(|rest| rest.strip_prefix('c'));
            let path = rest.and_then(|rest| rest.strip_suffix(namespace));
            path.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        };
        let paths = names.iter().filter(is_path);
        paths.filter_map(|name| Self::by_name(self.root, name)).collect()
    }

    fn links(&self, directory: &str) -> Vec<Self> {
        let dir = self.dir.join(directory);
        let names = self.root.list(&dir).unwrap_or_default();
        let found = names.iter().filter_map(|name| {
            Self::at(self.root, &dir.join(name)).or_else(|| Self::by_name(self.root, name))
        });
        found.collect()
    }
}

/// `("nvme0", "n1")` for `nvme0n1`.
fn nvme_name(name: &str) -> Option<(&str, &str)> {
    let digits = name.strip_prefix("nvme")?;
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let (controller, namespace) = name.split_at("nvme".len() + end);
    let number = namespace.strip_prefix('n')?;
    let whole = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    whole.then_some((controller, namespace))
}

/// `254:1`.
pub(crate) fn parse_id(text: &str) -> Option<DevId> {
    let (major, minor) = text.trim().split_once(':')?;
    Some(DevId {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}
