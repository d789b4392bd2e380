//! Whether direct I/O is possible on a target, and for the load's blocks.

use super::{Findings, IoFacts};
use fathom_core::run::{TargetFile, TargetKind, Warning};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, statx};
use rustix::io::Errno;
use std::path::Path;

/// What the kernel says of direct I/O on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Support {
    /// Possible, at multiples of this many bytes in file and block size.
    Aligned(u64),
    /// Not possible.
    Refused(&'static str),
    /// The kernel does not say, and opening with `O_DIRECT` works.
    Accepted,
}

/// The requirement `direct_io`, and what to warn of.
pub(super) fn direct(path: &Path, target: &TargetFile, facts: &IoFacts, found: &mut Findings) {
    weigh(support(path), target, facts, found);
}

/// As [`direct`], of a file that may still have to be made: the sectors below it decide then.
pub(super) fn foresee(path: &Path, target: &TargetFile, facts: &IoFacts, found: &mut Findings) {
    let support = match support(path) {
        Err(Errno::NOENT) => Ok(Support::Accepted),
        other => other,
    };
    weigh(support, target, facts, found);
}

fn weigh(support: Result<Support, Errno>, target: &TargetFile, facts: &IoFacts, found: &mut Findings) {
    let name = target.path.clone();
    let device_block = target
        .device
        .as_ref()
        .and_then(|device| device.logical_block_bytes);
    let support = match support {
        Ok(support) => support,
        Err(error) => {
            return found.requirement("direct_io", None, format!("{name}: not known: {error}"));
        }
    };
    let need_bytes = match support {
        Support::Refused(reason) => {
            let reason = match &target.filesystem {
                Some(filesystem) => format!("{reason}, {filesystem}"),
                None => reason.to_owned(),
            };
            found.requirement("direct_io", Some(false), format!("{name}: {reason}"));
            return found.warnings.push(Warning::DirectRefused { path: name, reason });
        }
        Support::Aligned(bytes) => bytes,
        // Before Linux 6.1: the sector size is what a file system on a disk asks for (open(2), O_DIRECT).
        Support::Accepted => device_block.map_or(1, u64::from),
    };
    if let Some(block_bytes) = misfit(facts, need_bytes) {
        let detail = format!("{name}: needs multiples of {need_bytes} bytes, the load has {block_bytes}");
        found.requirement("direct_io", Some(false), detail);
        return found.warnings.push(Warning::DirectUnaligned {
            path: name,
            block_bytes,
            need_bytes,
        });
    }
    let (met, detail) = judged(target, support, need_bytes);
    found.requirement("direct_io", met, format!("{name}: {detail}"));
}

/// The first of the load's numbers that is not a multiple of `need_bytes`.
fn misfit(facts: &IoFacts, need_bytes: u64) -> Option<u64> {
    let numbers = [facts.min_block_bytes, facts.alignment_bytes, facts.region.start];
    numbers
        .into_iter()
        .find(|&bytes| need_bytes > 0 && bytes % need_bytes != 0)
}

/// Taking `O_DIRECT` is not honouring it: some file systems cache all the same.
fn judged(target: &TargetFile, support: Support, need_bytes: u64) -> (Option<bool>, String) {
    let filesystem = match target.kind {
        TargetKind::File => target.filesystem.as_deref().unwrap_or_default(),
        _ => "",
    };
    if filesystem == "zfs" {
        let words = "zfs before OpenZFS 2.3 takes O_DIRECT and caches all the same";
        return (None, words.to_owned());
    }
    if filesystem == "fuse" || filesystem.starts_with("fuse.") || matches!(filesystem, "9p" | "virtiofs") {
        let words = format!("{filesystem} takes O_DIRECT; whether its server caches is not known");
        return (None, words);
    }
    match support {
        Support::Aligned(bytes) => (Some(true), format!("possible at multiples of {bytes} bytes")),
        _ if need_bytes > 1 => (
            Some(true),
            format!("accepted; blocks fit sectors of {need_bytes} bytes"),
        ),
        _ => (
            None,
            "accepted; what it must be aligned to is not known".to_owned(),
        ),
    }
}

/// By `STATX_DIOALIGN` (Linux 6.1; statx(2)), else by opening with `O_DIRECT`.
fn support(path: &Path) -> Result<Support, Errno> {
    match statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN) {
        Ok(facts) if facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0 => {
            return Ok(match facts.stx_dio_offset_align {
                0 => Support::Refused("the file system has no direct I/O for this file"),
                bytes => Support::Aligned(u64::from(bytes)),
            });
        }
        // Not filled in, or no statx at all: a kernel before 4.11 or a filter.
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => {}
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match open(path, flags, Mode::empty()) {
        Ok(_) => Ok(Support::Accepted),
        Err(Errno::INVAL) => Ok(Support::Refused("opening with O_DIRECT gives EINVAL")),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
