//! Why an asynchronous engine could not be set up.
//!
//! Duty: turn an errno into its cause on this machine. Data in: the error, sysctls, this process's seccomp
//! mode and limits. Data out: [`Advice`]. It must not know the engine: only which call failed.

use crate::host;
use crate::root::SystemRoot;
use rustix::io::Errno;
use std::fmt;
use std::io;

/// What stood in the way, and the way around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What was found.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.what, self.remedy)
    }
}

const OTHER_ENGINE: &str = "use ioengine=libaio, which needs no permission";

/// Why `io_uring_setup` failed with `error`; `None` for errors that have nothing to do with permissions and
/// limits. Rules: Documentation/admin-guide/sysctl/kernel.rst (`io_uring_disabled`), `io_uring_setup(2)`.
pub fn io_uring_blocked(root: &SystemRoot, error: &io::Error) -> Option<Advice> {
    match Errno::from_io_error(error)? {
        Errno::PERM | Errno::ACCESS => Some(refused(root)),
        Errno::NOSYS => Some(absent(root)),
        Errno::NOMEM => Some(locked_memory(root)),
        Errno::MFILE | Errno::NFILE => Some(Advice {
            what: "io_uring_setup failed: too many open files".to_owned(),
            remedy: "Raise the limit (ulimit -n), or use fewer workers.".to_owned(),
        }),
        _ => None,
    }
}

/// Why `io_setup` failed with `error`; `None` for errors that have nothing to do with permissions and limits.
/// Rules: Documentation/admin-guide/sysctl/fs.rst (`aio-nr`, `aio-max-nr`), `io_setup(2)`.
pub fn aio_exhausted(root: &SystemRoot, error: &io::Error) -> Option<Advice> {
    match Errno::from_io_error(error)? {
        Errno::AGAIN => Some(aio_full(root)),
        Errno::NOMEM => Some(Advice {
            what: "io_setup failed: the kernel has no memory for the queue".to_owned(),
            remedy: "Use a smaller iodepth or fewer workers.".to_owned(),
        }),
        Errno::NOSYS | Errno::PERM => Some(Advice {
            what: match filter(root) {
                Some(filter) => format!("io_setup is not available: {filter} blocks it"),
                None => "io_setup is not available: the kernel is built without CONFIG_AIO".to_owned(),
            },
            remedy: "Use ioengine=io_uring, or ioengine=psync with more numjobs.".to_owned(),
        }),
        _ => None,
    }
}

/// `EPERM`: the sysctl, or a seccomp filter.
fn refused(root: &SystemRoot) -> Advice {
    let disabled = root.text("/proc/sys/kernel/io_uring_disabled");
    let what = match disabled.as_deref() {
        Some("2") => "io_uring is switched off: kernel.io_uring_disabled is 2".to_owned(),
        Some("1") => {
            let group = root.text("/proc/sys/kernel/io_uring_group");
            let group = match group.as_deref() {
                None | Some("-1") => "no group is named in kernel.io_uring_group".to_owned(),
                Some(group) => format!("this process is not in group {group} (kernel.io_uring_group)"),
            };
            format!(
                "io_uring is for privileged processes only: kernel.io_uring_disabled is 1, this process lacks \
                 CAP_SYS_ADMIN, and {group}"
            )
        }
        _ => match filter(root) {
            Some(filter) => {
                format!(
                    "io_uring is not allowed: {filter} blocks it, as the default ones of container runtimes do"
                )
            }
            None => "io_uring is not allowed, by a rule that is not visible from here (a security module?)"
                .to_owned(),
        },
    };
    let remedy = match disabled.as_deref() {
        Some("1" | "2") => format!("Run `sysctl kernel.io_uring_disabled=0` as root, or {OTHER_ENGINE}."),
        _ if filter(root).is_some() => format!(
            "Run the container with a seccomp profile that allows io_uring_setup, io_uring_enter and \
             io_uring_register (--security-opt seccomp=unconfined; in Kubernetes seccompProfile: Unconfined), or \
             {OTHER_ENGINE}."
        ),
        _ => format!("Run as root outside of the container, or {OTHER_ENGINE}."),
    };
    Advice { what, remedy }
}

/// `ENOSYS`: an old kernel, one built without it, or a filter that answers so.
fn absent(root: &SystemRoot) -> Advice {
    let kernel = root.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let what = match filter(root) {
        // The sysctl exists (since 6.6) only where the kernel has io_uring.
        Some(filter) if root.exists("/proc/sys/kernel/io_uring_disabled") => {
            format!("the kernel has io_uring, and {filter} hides it")
        }
        Some(filter) => format!("io_uring is not there: kernel {kernel} lacks it, or {filter} hides it"),
        None => format!("kernel {kernel} has no io_uring (it needs Linux 5.1 and CONFIG_IO_URING)"),
    };
    Advice {
        what,
        remedy: format!("{}.", capitalised(OTHER_ENGINE)),
    }
}

/// `ENOMEM`: before Linux 5.12 the rings count against `RLIMIT_MEMLOCK`, and registered buffers do in every
/// version.
fn locked_memory(root: &SystemRoot) -> Advice {
    let limit = memlock_limit(root).unwrap_or_else(|| "not known".to_owned());
    Advice {
        what: format!("io_uring got no memory: the limit of locked memory (RLIMIT_MEMLOCK) is {limit}"),
        remedy: "Raise it (ulimit -l unlimited; LimitMEMLOCK=infinity in a systemd unit), or use a smaller iodepth."
            .to_owned(),
    }
}

fn aio_full(root: &SystemRoot) -> Advice {
    let number = |name: &str| root.text(name).and_then(|text| text.parse::<u64>().ok());
    let used = number("/proc/sys/fs/aio-nr");
    let max = number("/proc/sys/fs/aio-max-nr");
    let (Some(used), Some(max)) = (used, max) else {
        return Advice {
            what: "io_setup failed: the system's number of AIO requests is used up (fs.aio-max-nr)"
                .to_owned(),
            remedy: "Run `sysctl fs.aio-max-nr=1048576` as root, or use ioengine=io_uring.".to_owned(),
        };
    };
    // The kernel reserves more than asked for, to have some for each CPU (fs/aio.c, ioctx_alloc).
    let suggestion = max.saturating_mul(4).max(1 << 20);
    Advice {
        what: format!(
            "io_setup failed: {used} of the system's {max} AIO requests are in use (fs.aio-nr, fs.aio-max-nr), \
             and each queue takes at least four for every CPU, and twice its depth"
        ),
        remedy: format!(
            "Run `sysctl fs.aio-max-nr={suggestion}` as root, use a smaller iodepth or fewer workers, or use \
             ioengine=io_uring."
        ),
    }
}

/// The seccomp filter that this process is under, in words; `None` without one (proc(5), `Seccomp`).
fn filter(root: &SystemRoot) -> Option<String> {
    let status = root.text("/proc/self/status")?;
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"))?;
    if mode.trim() != "2" {
        return None;
    }
    Some(match host::container(root) {
        Some(name) => {
            format!("the seccomp filter of this container ({name})")
        }
        None => "a seccomp filter on this process".to_owned(),
    })
}

/// `8388608 bytes` or `unlimited`: the soft limit in the table of `/proc/self/limits`.
fn memlock_limit(root: &SystemRoot) -> Option<String> {
    let table = root.text("/proc/self/limits")?;
    let row = table
        .lines()
        .find_map(|line| line.strip_prefix("Max locked memory"))?;
    let soft = row.split_ascii_whitespace().next()?;
    Some(match soft.parse::<u64>() {
        Ok(bytes) => format!("{bytes} bytes"),
        Err(_) => soft.to_owned(),
    })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests;
