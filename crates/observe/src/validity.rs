//! What would make a run's numbers mean something else than the disk.
//!
//! Duty: look at the target before the load. Data in: the target and [`IoFacts`], the few things that matter
//! about the load. Data out: warnings, and requirements with what was seen. It must not know jobs, and it
//! changes nothing but this: where a file has data that was not yet given a place on the disk, it is flushed
//! first, else its extents could not be told.

mod content;
mod direct;

use crate::root::SystemRoot;
use fathom_core::run::{Requirement, TargetFile, TargetKind, Warning};
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// What the load will do to one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoFacts {
    /// Some of it reads.
    pub reads: bool,
    /// Some of it writes.
    pub writes: bool,
    /// It asks for direct I/O.
    pub direct: bool,
    /// The bytes of the target that it may touch.
    pub region: Range<u64>,
    /// Its smallest block.
    pub min_block_bytes: u64,
    /// What all its offsets are multiples of.
    pub alignment_bytes: u64,
}

/// Looks at a target that exists (after files were laid out, before the load).
///
/// Requirements: `written_extents` (when it reads: each byte of the region was written to the disk),
/// `cold_cache` (when it reads through the page cache: nothing of the region is in memory), `direct_io` (the
/// page cache takes no part), `disk_below` (the device is known, so its counters are). `met` is `None` where
/// it could not be told.
pub fn before(root: &SystemRoot, target: &TargetFile, facts: &IoFacts) -> (Vec<Warning>, Vec<Requirement>) {
    let mut found = Findings::default();
    if matches!(
        target.kind,
        TargetKind::Null | TargetKind::Modelled | TargetKind::Remote | TargetKind::CharacterDevice
    ) {
        return (found.warnings, found.requirements);
    }
    place(target, &mut found);
    let path = root.at(Path::new(&target.path));
    // O_NONBLOCK: a named pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match open(&path, flags, Mode::empty()).map(File::from) {
        Ok(file) => {
            if facts.reads {
                content::written(&file, target, facts, &mut found);
            }
            if facts.reads && !facts.direct {
                content::cached(&file, target, facts, &mut found);
            }
        }
        Err(error) => {
            let detail = format!("{} cannot be opened: {error}", target.path);
            if facts.reads {
                found.requirement("written_extents", None, detail.clone());
            }
            if facts.reads && !facts.direct {
                found.requirement("cold_cache", None, detail);
            }
        }
    }
    if facts.direct {
        direct::direct(&path, target, facts, &mut found);
    } else if !in_memory(target) {
        let path = &target.path;
        found.requirement("direct_io", Some(false), format!("{path}: not asked for"));
    }
    (found.warnings, found.requirements)
}

/// What can be told of a target before anything is made or touched: as [`before`], without what depends on the contents
/// of a file. Nothing is flushed; the target need not exist.
pub fn foresee(root: &SystemRoot, target: &TargetFile, facts: &IoFacts) -> Vec<Warning> {
    let mut found = Findings::default();
    if matches!(target.kind, TargetKind::File | TargetKind::BlockDevice) {
        place(target, &mut found);
        if facts.direct {
            direct::foresee(&root.at(Path::new(&target.path)), target, facts, &mut found);
        }
    }
    found.warnings
}

/// What is gathered on the way.
#[derive(Debug, Default)]
struct Findings {
    warnings: Vec<Warning>,
    requirements: Vec<Requirement>,
}

impl Findings {
    fn requirement(&mut self, name: &str, met: Option<bool>, detail: String) {
        self.requirements.push(Requirement {
            name: name.to_owned(),
            met,
            detail,
        });
    }
}

/// File systems that keep their data in memory.
fn in_memory(target: &TargetFile) -> bool {
    matches!(
        target.filesystem.as_deref(),
        Some("tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs")
    ) && target.kind == TargetKind::File
}

/// File systems that pass the I/O on to another one on this machine.
fn stacked(filesystem: &str) -> bool {
    matches!(filesystem, "overlay" | "ecryptfs" | "aufs" | "unionfs" | "fuse")
        || filesystem.starts_with("fuse.")
}

/// Warnings about where the target lies.
fn place(target: &TargetFile, found: &mut Findings) {
    let path = target.path.clone();
    if in_memory(target) {
        let filesystem = target.filesystem.clone().unwrap_or_default();
        found.requirement(
            "disk_below",
            Some(false),
            format!("{path} is on {filesystem}, in memory"),
        );
        found
            .warnings
            .push(Warning::MemoryFilesystem { path, filesystem });
        return;
    }
    if let Some(filesystem) = target.filesystem.clone().filter(|name| stacked(name))
        && target.kind == TargetKind::File
    {
        let path = path.clone();
        found
            .warnings
            .push(Warning::StackedFilesystem { path, filesystem });
    }
    if let Some(device) = &target.device {
        return found.requirement("disk_below", Some(true), format!("{path}: /dev/{}", device.name));
    }
    let reason = target.device_missing.clone();
    let reason = reason.unwrap_or_else(|| "no reason known".to_owned());
    found.requirement("disk_below", None, format!("{path}: {reason}"));
    found.warnings.push(Warning::DeviceUnknown { path, reason });
}

#[cfg(test)]
mod tests;
