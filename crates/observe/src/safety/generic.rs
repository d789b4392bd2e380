//! Permission to send commands that write to a disk, by its generic character device.
//!
//! Neither a mount nor an exclusive open keeps commands away: so all that holds for the disk's block device has to hold here, and
//! that device is held as for a load that writes to it.

use super::scene::Scene;
use super::{Grip, Judged, Refusal, WriteRequest, cannot_tell, device, named, usage};
use crate::root::{FileKind, FileStat};
use crate::sysfs::Block;
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io;
use std::path::Path;

pub(super) fn check(
    scene: &Scene<'_>,
    request: WriteRequest<'_>,
    stat: &FileStat,
    grip: Grip,
) -> Result<Judged, Refusal> {
    let (root, path) = (scene.root, request.path);
    let unknown = |what: &str| cannot_tell(path, what, io::ErrorKind::NotFound.into());
    let block = Block::behind_generic(root, stat.node)
        .ok_or_else(|| unknown("which disk it sends commands to (/sys shows no block device of its)"))?;
    if !named(root, stat, request.allow_overwrite) {
        return Err(Refusal::GenericNotNamed {
            path: path.to_path_buf(),
            disk: format!("/dev/{}{}", block.name, device::words(&block)),
        });
    }
    usage::generic_in_use(scene, path, stat.node)?;
    let node = format!("/dev/{}", block.name);
    let node = Path::new(&node);
    let missing = || {
        unknown(&format!(
            "whether its disk is in use (there is no node {})",
            node.display()
        ))
    };
    let disk = root.stat(node).map_err(|_| missing())?;
    if disk.kind != FileKind::BlockDevice || disk.node != block.id {
        return Err(missing());
    }
    let judged = device::judge(scene, request, (&block, node, &disk), grip)?;
    // It can neither be read nor written through, and nothing is sent by it.
    let generic = open(root.at(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let generic = generic
        .map(File::from)
        .map_err(|error| cannot_tell(path, "what is there", error.into()))?;
    if root.is_running_system() {
        let opened = generic.metadata().map(|metadata| FileStat::from(&metadata));
        if !opened.is_ok_and(|opened| opened.same_as(stat)) {
            return Err(Refusal::Changed {
                path: path.to_path_buf(),
            });
        }
    }
    Ok(Judged {
        generic: Some(generic),
        ..judged
    })
}
