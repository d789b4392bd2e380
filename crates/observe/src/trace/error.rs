//! Why there is no trace, and how to get one.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why the kernel's events cannot be had. No run fails for it: it is what a report says of the part that is missing.
#[derive(Debug, Error)]
pub enum TraceUnavailable {
    #[error(
        "the kernel's trace files are not there (looked in {}){}: run as root, or mount them with `mount -t tracefs \
         nodev /sys/kernel/tracing`; in Kubernetes give the pod the host's /sys/kernel/tracing as a hostPath volume, \
         writable",
        .looked_in.display(), .refused.as_deref().unwrap_or_default()
    )]
    NotMounted {
        /// The first place that was looked at.
        looked_in: PathBuf,
        /// Why this process could not mount them for itself, where it tried.
        refused: Option<String>,
    },
    /// The kernel cannot trace.
    #[error("this kernel has no trace files: it was built without CONFIG_TRACING")]
    NoTracefs,
    /// It may not be used.
    #[error(
        "{} may not be used ({source}): run as root; in a container also make it writable and lift AppArmor's \
         profile (`appArmorProfile: Unconfined`), which keeps writers out of /sys/kernel",
        .path.display()
    )]
    NotPermitted {
        /// What was refused.
        path: PathBuf,
        /// By the system.
        source: io::Error,
    },
    /// The kernel's lockdown closes it.
    #[error(
        "the kernel is locked down to `confidentiality`, which closes its trace files: only a boot with \
         `lockdown=integrity` or without lockdown opens them"
    )]
    LockedDown,
    /// The kernel has no such events.
    #[error("this kernel has no event {event}: it was built without {option}")]
    NoEvents {
        /// One that is needed.
        event: &'static str,
        /// The option of the kernel's configuration that makes it.
        option: &'static str,
    },
    /// No device of those asked for can be traced.
    #[error("there is no block device to trace")]
    NoDevice,
    /// The kernel does not stamp its events with the clock that everything else here uses.
    #[error(
        "the kernel cannot stamp its events with the monotonic clock (trace_clock has {offered}): it is older than 4.2"
    )]
    NoClock { offered: String },
    /// The kernel describes its buffers or events in a way that is not known.
    #[error("{}: {reason}", .path.display())]
    NotUnderstood {
        /// Which description.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Something else failed.
    #[error("{}: {source}: the kernel's trace could not be set up there", .path.display())]
    Setup { path: PathBuf, source: io::Error },
}

impl TraceUnavailable {
    /// The refusal of `path`, sorted by what would help.
    pub(super) fn of(path: PathBuf, source: io::Error, locked_down: bool) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied if locked_down => Self::LockedDown,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotPermitted { path, source }
            }
            _ => Self::Setup { path, source },
        }
    }
}
