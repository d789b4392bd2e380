//! Which devices' events belong to a target.
//!
//! Duty: the device of a target and all below it, as a trace of the block layer names them. Data in: a [`TargetFile`],
//! `/sys`. Data out: [`TraceDevice`], and why there is none where there is none. It must not know how a trace is taken.

use super::inspect;
use crate::root::SystemRoot;
use crate::sysfs::Block;
use fathom_core::run::{TargetFile, TargetKind};
use fathom_core::units::DevId;
use std::path::Path;

/// A whole disk, for a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceDevice {
    /// Kernel name: `vda`, `dm-0`.
    pub name: String,
    /// Its number as events have it (`dev_t` of the kernel): `major << 20 | minor`.
    pub dev: u32,
    /// Whether it has requests (`block_rq_issue`, `block_rq_complete`). One without (device mapper, md, zram, `NVMe`
    /// multipath) has `block_bio_queue` and `block_bio_complete` alone.
    pub request_based: bool,
    /// Numbers of its partitions: I/O of a partition is queued under the partition's number and issued under the disk's.
    pub partition_devs: Vec<u32>,
}

/// The devices that an I/O of `target` goes through, the upper first, each once: its device, the members of a stack, the
/// disks below a loop device's file. Beside them the reasons why a part of the way cannot be traced; none for targets
/// that have no device by their nature (the null engine, a modelled disk).
pub fn trace_devices(root: &SystemRoot, target: &TargetFile) -> (Vec<TraceDevice>, Vec<String>) {
    let mut way = Way {
        root,
        seen: Vec::new(),
        devices: Vec::new(),
        reasons: Vec::new(),
    };
    if !matches!(
        target.kind,
        TargetKind::Null | TargetKind::Modelled | TargetKind::Remote
    ) {
        way.follow(target, &target.path);
    }
    (way.devices, way.reasons)
}

/// What was found on the way down.
struct Way<'a> {
    root: &'a SystemRoot,
    seen: Vec<String>,
    devices: Vec<TraceDevice>,
    reasons: Vec<String>,
}

impl Way<'_> {
    /// Takes the devices of a target; `what` names it where it has none.
    fn follow(&mut self, target: &TargetFile, what: &str) {
        let Some(device) = &target.device else {
            let why = target.device_missing.as_deref().unwrap_or("no device is known");
            self.reasons
                .push(format!("block trace of {what}: not available, because {why}"));
            return;
        };
        self.take(&device.name);
        for name in &device.slaves {
            self.take(name);
        }
    }

    /// Takes one whole disk, and what is below it if it is a loop device.
    fn take(&mut self, name: &str) {
        // A broken tree may go in a circle.
        if self.seen.iter().any(|seen| seen == name) {
            return;
        }
        self.seen.push(name.to_owned());
        let refuse = |why: &str| format!("block trace of {name}: not available, because {why}");
        let Some(block) = Block::by_name(self.root, name) else {
            self.reasons.push(refuse("/sys does not show it any more"));
            return;
        };
        match dev_t(block.id) {
            Some(dev) => self.devices.push(TraceDevice {
                name: name.to_owned(),
                dev,
                request_based: request_based(&block),
                partition_devs: block
                    .partitions()
                    .iter()
                    .filter_map(|part| dev_t(part.id))
                    .collect(),
            }),
            None => self.reasons.push(refuse(
                "it is a hidden path of a multipath device and has no number to know its events by",
            )),
        }
        if let Some(file) = block.backing_file() {
            self.backing_file(name, &file);
        }
    }

    /// What is below a loop device's file, whatever file system it is on.
    fn backing_file(&mut self, name: &str, file: &Path) {
        let shown = file.display();
        // Without this look a file that is out of sight would be taken for one yet to be made.
        if self.root.stat(file).is_err() {
            self.reasons.push(format!(
                "block trace of what is below {name}: not available, because its file {shown} is not visible from \
                 here (set up in another container or mount namespace, or deleted)"
            ));
            return;
        }
        let target = inspect(self.root, file);
        self.follow(&target, &format!("what is below {name} ({shown})"));
    }
}

/// A device's number as events have it; `None` for a device without one.
fn dev_t(id: DevId) -> Option<u32> {
    let fits = id.major > 0 && id.major < 1 << 12 && id.minor < 1 << 20;
    fits.then(|| id.number())
}

/// Whether a disk has requests: since Linux 5.0 those that do have a directory `mq` (block/blk-mq-sysfs.c); before, a disk
/// without it may have an I/O scheduler, which bios alone cannot have.
fn request_based(block: &Block<'_>) -> bool {
    let scheduled = |text: String| !text.contains("[none]") && text.contains('[');
    block.has("mq") || block.text("queue/scheduler").is_some_and(scheduled)
}

#[cfg(test)]
mod tests;
