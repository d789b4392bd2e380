//! Generic devices of disks: what they are, asked by the system's class first and then by commands.
//!
//! Data in: a path. Data out: the size of the disk, or why commands cannot be sent there. Nothing but a disk's generic device
//! is opened: to open another character device may already do something (a tape is wound back).

use super::PlanError;
use fathom_core::workload::{EngineKind, Job};
use rustix::fs::{major, minor};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// What an interface sends its commands to.
struct Wanted {
    /// As the system calls the class of such devices.
    class: &'static str,
    example: &'static str,
}

fn wanted(kind: EngineKind) -> Wanted {
    if kind == EngineKind::Sg {
        Wanted {
            class: "scsi_generic",
            example: "/dev/sg0",
        }
    } else {
        Wanted {
            class: "nvme-generic",
            example: "/dev/ng0n1",
        }
    }
}

/// The size of the disk that `job` sends commands to at `path`.
pub(super) fn size_bytes(job: &Job, path: &Path) -> Result<u64, PlanError> {
    let kind = job.engine.kind;
    let stat = |source| PlanError::Stat {
        job: job.name.clone(),
        path: path.to_owned(),
        source,
    };
    check_kind(job, path)?;
    let device = File::open(path).map_err(stat)?;
    if kind == EngineKind::Sg {
        return Ok(fathom_sys::sg::capacity(&device).map_err(stat)?.size_bytes());
    }
    let namespace = fathom_sys::nvme::namespace(&device).map_err(stat)?;
    if namespace.metadata_bytes > 0 {
        return Err(PlanError::MetadataBesideBlocks {
            job: job.name.clone(),
            path: path.to_owned(),
            metadata_bytes: namespace.metadata_bytes,
        });
    }
    Ok(namespace.size_bytes())
}

/// Whether it is a generic device of the right kind.
fn check_kind(job: &Job, path: &Path) -> Result<(), PlanError> {
    let Wanted { class, example } = wanted(job.engine.kind);
    let refused = |what: String| {
        Err(PlanError::NoCommands {
            job: job.name.clone(),
            engine: job.engine.kind.name(),
            example,
            path: path.to_owned(),
            what,
        })
    };
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return refused(String::from("not there"));
        }
        Err(source) => {
            return Err(PlanError::Stat {
                job: job.name.clone(),
                path: path.to_owned(),
                source,
            });
        }
    };
    let is = metadata.file_type();
    if is.is_block_device() {
        return refused(String::from("a block device"));
    }
    if !is.is_char_device() {
        return refused(String::from("no device"));
    }
    match class_of(metadata.rdev()) {
        Some(found) if found == class => Ok(()),
        Some(found) => refused(format!("a character device of another kind ({found})")),
        None => refused(String::from("a character device of which /sys says nothing")),
    }
}

/// The class of a character device (Documentation/ABI/stable/sysfs-dev).
fn class_of(node: u64) -> Option<String> {
    let link = format!("/sys/dev/char/{}:{}/subsystem", major(node), minor(node));
    let class = std::fs::read_link(link).ok()?;
    Some(class.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests;
