//! The device below a file system whose files carry no device number, and what `/sys` says of a device.

use crate::mounts::{Mount, mount_of};
use crate::root::{FileKind, SystemRoot};
use crate::sysfs::Block;
use fathom_core::run::DeviceInfo;
use std::path::Path;

/// A device, or the reason why there is none to name.
pub(super) type Below = Result<DeviceInfo, String>;

/// How many file systems may lie on each other.
const DEPTH_MAX: u32 = 8;

/// All that `/sys` tells of a whole disk. Some of it is absent for many kinds (bio-based devices have no
/// scheduler): that is no error.
pub(super) fn info(block: &Block<'_>) -> DeviceInfo {
    let (slaves, slave_ids) = block
        .below()
        .into_iter()
        .map(|below| (below.name, below.id))
        .unzip();
    DeviceInfo {
        name: block.name.clone(),
        id: block.id,
        model: block.text("device/model").or_else(|| stack_name(block)),
        rotational: block.number("queue/rotational").map(|n| n != 0),
        scheduler: block.text("queue/scheduler").map(|text| chosen(&text)),
        nr_requests: block.number("queue/nr_requests").and_then(|n| n.try_into().ok()),
        logical_block_bytes: block
            .number("queue/logical_block_size")
            .and_then(|n| n.try_into().ok()),
        size_bytes: block.size_bytes(),
        slaves,
        slave_ids,
    }
}

/// What a stacked device calls itself: the name in device mapper, the RAID level, the file of a loop device.
fn stack_name(block: &Block<'_>) -> Option<String> {
    if let Some(name) = block.text("dm/name") {
        return Some(format!("{} {name}", dm_kind(block)));
    }
    if let Some(level) = block.text("md/level") {
        return Some(format!("md {level}"));
    }
    let file = block.backing_file()?;
    Some(format!("loop on {}", file.display()))
}

/// Which subsystem made a device-mapper device: the first word of its UUID (`LVM-…`, `CRYPT-LUKS2-…`,
/// `mpath-…`).
pub(crate) fn dm_kind(block: &Block<'_>) -> &'static str {
    let uuid = block.text("dm/uuid").unwrap_or_default();
    match uuid.split('-').next() {
        Some("LVM") => "LVM",
        Some("CRYPT") => "dm-crypt",
        Some("mpath") => "multipath",
        _ => "device mapper",
    }
}

/// `mq-deadline` of `none [mq-deadline] kyber`.
fn chosen(schedulers: &str) -> String {
    let bracketed = schedulers
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(schedulers, |(name, _)| name).to_owned()
}

/// The device below a file system without a device number of its own.
pub(super) fn below_file_system(root: &SystemRoot, mount: &Mount, table: &[Mount]) -> Below {
    resolve(root, mount, table, 0)
}

fn resolve(root: &SystemRoot, mount: &Mount, table: &[Mount], depth: u32) -> Below {
    let source = mount.source.display();
    match mount.filesystem.as_str() {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs" => {
            Err(format!("{} keeps its data in memory", mount.filesystem))
        }
        "overlay" => overlay(root, mount, table, depth),
        "btrfs" => btrfs(root, mount),
        "zfs" => Err(format!("zfs does not tell which devices hold {source}")),
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "glusterfs" => Err(format!(
            "{} from {source}: the disks are on the server",
            mount.filesystem
        )),
        "9p" | "virtiofs" => Err(format!(
            "{} from {source}: the disks are on the host of this machine",
            mount.filesystem
        )),
        name if name == "fuse" || name.starts_with("fuse.") => Err(format!(
            "{name} ({source}): a process serves it, not a block device"
        )),
        _ => device_node(root, &mount.source).ok_or_else(|| {
            format!(
                "{} names {source} as its source, which is no block device here",
                mount.filesystem
            )
        }),
    }
}

/// New data goes to the upper directory: its device is the one that a load meets.
fn overlay(root: &SystemRoot, mount: &Mount, table: &[Mount], depth: u32) -> Below {
    let Some(upper) = mount.option("upperdir") else {
        return Err("the overlay has no upper directory: it is read-only".to_owned());
    };
    let hidden = || {
        format!(
            "the overlay's upper directory {} is not visible from here",
            upper.display()
        )
    };
    let stat = root.stat(&upper).map_err(|_| hidden())?;
    if stat.device.major != 0 {
        let block = Block::by_id(root, stat.device).ok_or_else(hidden)?;
        return Ok(info(&block.disk()));
    }
    let place = root.canonical(&upper).map_err(|_| hidden())?;
    match mount_of(table, &place, stat.device) {
        Some(below) if depth < DEPTH_MAX => resolve(root, below, table, depth + 1),
        _ => Err(hidden()),
    }
}

/// `/sys/fs/btrfs/UUID/devices` lists a mounted file system's devices (fs/btrfs/sysfs.c); the mount's source
/// is one of them.
fn btrfs(root: &SystemRoot, mount: &Mount) -> Below {
    let first = device_node(root, &mount.source).ok_or_else(|| {
        format!(
            "btrfs names {} as its source, which is no block device here",
            mount.source.display()
        )
    })?;
    let mut first = first;
    for name in btrfs_devices(root, first.id) {
        let Some(block) = Block::by_name(root, &name).map(Block::disk) else {
            continue;
        };
        let below = block.below();
        for member in std::iter::once(block).chain(below) {
            if member.id != first.id && !first.slaves.contains(&member.name) {
                first.slaves.push(member.name);
                first.slave_ids.push(member.id);
            }
        }
    }
    Ok(first)
}

/// The kernel names of all devices of the btrfs that has a device on disk `id`; one disk may carry two such
/// file systems, then both are named: the counters are the disk's anyway.
fn btrfs_devices(root: &SystemRoot, id: fathom_core::units::DevId) -> Vec<String> {
    let mut found = Vec::new();
    for uuid in root.list("/sys/fs/btrfs").unwrap_or_default() {
        let devices = Path::new("/sys/fs/btrfs").join(uuid).join("devices");
        let names = root.list(devices).unwrap_or_default();
        let on_disk = |name: &String| Block::by_name(root, name).is_some_and(|block| block.disk().id == id);
        if names.iter().any(on_disk) {
            found.extend(names);
        }
    }
    found
}

/// The whole disk of a device node.
fn device_node(root: &SystemRoot, path: &Path) -> Option<DeviceInfo> {
    if !path.is_absolute() {
        return None;
    }
    let stat = root.stat(path).ok()?;
    if stat.kind != FileKind::BlockDevice {
        return None;
    }
    Some(info(&Block::by_id(root, stat.node)?.disk()))
}
