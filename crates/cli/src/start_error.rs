//! Why a run could not start, and what to do.
//!
//! Data in: the engine's error. Data out: one message with its remedy. It must not start anything.

use fathom_engine::StartFailure;
use fathom_engine::run::RunError;
use fathom_observe::SystemRoot;
use fathom_observe::limits::{aio_exhausted, io_uring_blocked};
use std::io::ErrorKind;

/// The message for `error`.
pub(crate) fn explain(system: &SystemRoot, error: &RunError) -> String {
    let remedy = match error {
        RunError::Start { failure, .. } => remedy(system, failure),
        RunError::Thread(_) => Some(String::from(
            "Use fewer workers (numjobs=), or raise the limit (ulimit -u)",
        )),
        _ => None,
    };
    match remedy {
        Some(remedy) => format!("{error}. {remedy}"),
        None => error.to_string(),
    }
}

fn remedy(system: &SystemRoot, failure: &StartFailure) -> Option<String> {
    let error = &failure.source;
    let advice = match failure.what {
        what if what.contains("uring") => io_uring_blocked(system, error),
        what if what.starts_with("io_setup") => aio_exhausted(system, error),
        _ => None,
    };
    if let Some(advice) = advice {
        return Some(advice.to_string());
    }
    let text = match (failure.what, error.kind()) {
        ("open with O_DIRECT", ErrorKind::InvalidInput) => {
            "The file system does no direct I/O (tmpfs and some FUSE and overlay file systems do not): use a \
             file on a disk, or direct=0, which measures the page cache too"
        }
        (_, ErrorKind::PermissionDenied) => "Run as a user who may open it, or choose another target",
        (_, ErrorKind::ReadOnlyFilesystem) => {
            "Choose a target that can be written to, or only read (rw=read)"
        }
        (what, _) if what.contains("affinity") => {
            "Give CPUs that are online and allowed for this process (cpus_allowed=; see lscpu)"
        }
        (what, _) if what.contains("priority") || what.contains("nice") => {
            "A higher priority needs the right to set it (root): leave nice= out"
        }
        (_, ErrorKind::OutOfMemory) => "Use a smaller iodepth, smaller blocks or fewer workers",
        _ => match error.raw_os_error() {
            // EMFILE, ENFILE
            Some(23 | 24) => "Raise the limit of open files (ulimit -n), or use fewer files or workers",
            _ => return None,
        },
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests;
