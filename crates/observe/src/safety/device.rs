//! Permission to write to a block device.

use super::scene::Scene;
use super::{Basis, Grip, Judged, Refusal, WriteRequest, cannot_tell, named, signature, usage};
use crate::root::{FileStat, SystemRoot};
use crate::sysfs::Block;
use fathom_core::units::Bytes;
use fathom_door::target;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, open};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// All rules for a device, the cheap and telling ones first; it is opened only when all others hold.
pub(super) fn check(
    scene: &Scene<'_>,
    request: WriteRequest<'_>,
    stat: &FileStat,
    grip: Grip,
) -> Result<Judged, Refusal> {
    let (root, path) = (scene.root, request.path);
    let block = Block::by_id(root, stat.node);
    let path_buf = || path.to_path_buf();
    if !named(root, stat, request.allow_overwrite) {
        let device = block.as_ref().map(words).unwrap_or_default();
        return Err(Refusal::DeviceNotNamed {
            path: path_buf(),
            device,
        });
    }
    let block = block.ok_or_else(|| {
        let what = format!("whether it is in use (/sys does not show device {})", stat.node);
        cannot_tell(path, &what, io::ErrorKind::NotFound.into())
    })?;
    judge(scene, request, (&block, path, stat), grip)
}

/// The rules for a device that the user named. `node`, of `stat`, is what it is opened by; the path asked for may be another.
pub(super) fn judge(
    scene: &Scene<'_>,
    request: WriteRequest<'_>,
    (block, node, stat): (&Block<'_>, &Path, &FileStat),
    grip: Grip,
) -> Result<Judged, Refusal> {
    let (root, path) = (scene.root, request.path);
    let path_buf = || path.to_path_buf();
    usage::device_in_use(scene, path, block)?;
    let disk_read_only = block.parent().and_then(|disk| disk.number("ro")) == Some(1);
    if disk_read_only || block.number("ro") == Some(1) {
        return Err(Refusal::ReadOnly { path: path_buf() });
    }
    let size_bytes = block
        .size_bytes()
        .ok_or_else(|| cannot_tell(path, "how large it is (/sys)", io::ErrorKind::NotFound.into()))?;
    if size_bytes == 0 {
        return Err(Refusal::NoMedium { path: path_buf() });
    }
    let device = open_exclusively(root, (path, node), grip)?;
    if root.is_running_system() {
        // What was opened is what was judged, or somebody has put another node in its place.
        let opened = device.metadata().map(|metadata| FileStat::from(&metadata));
        if !opened.is_ok_and(|opened| opened.same_as(stat)) {
            return Err(Refusal::Changed { path: path_buf() });
        }
    }
    let found = signature::probe(&device, size_bytes)
        .map_err(|source| cannot_tell(path, "what is on it (reading failed)", source))?;
    if !found.is_empty() && !request.allow_signature {
        return Err(Refusal::Signature {
            path: path_buf(),
            found,
        });
    }
    Ok(Judged {
        basis: Basis::NamedDevice(found),
        handle: Some(device),
        generic: None,
    })
}

/// As its only user; to be looked at only, it is not even opened for writing.
fn open_exclusively(root: &SystemRoot, (path, node): (&Path, &Path), grip: Grip) -> Result<File, Refusal> {
    let path_buf = path.to_path_buf();
    let node = root.at(node);
    let opened = match grip {
        Grip::Hold => target::claim(&node),
        Grip::Look => {
            let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
            accessat(CWD, &node, Access::WRITE_OK, AtFlags::EACCESS)
                .and_then(|()| open(&node, flags, Mode::empty()))
                .map(File::from)
        }
    };
    match opened {
        Ok(device) => Ok(device),
        Err(error @ Errno::BUSY) => Err(Refusal::Busy {
            path: path_buf,
            source: error.into(),
        }),
        Err(Errno::ROFS) => Err(Refusal::ReadOnly { path: path_buf }),
        Err(Errno::NOMEDIUM) => Err(Refusal::NoMedium { path: path_buf }),
        Err(error) => Err(Refusal::CannotOpen {
            path: path_buf,
            source: error.into(),
        }),
    }
}

/// ` (Amazon Elastic Block Store, 100 GiB, serial vol0123)`: enough to see whether it is the right one.
pub(super) fn words(block: &Block<'_>) -> String {
    let disk = block.clone().disk();
    let size = block.size_bytes().map(|bytes| Bytes(bytes).to_string());
    let serial = disk.text("device/serial").or_else(|| disk.text("serial"));
    let facts = [
        disk.text("device/model"),
        size,
        serial.map(|serial| format!("serial {serial}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() {
        return String::new();
    }
    format!(" ({})", facts.join(", "))
}
