//! Where the kernel's trace files are, mounted for this process alone where nobody has mounted them; and the end of what
//! dead processes left there.
//!
//! Duty: find or mount tracefs, tell the instances of living processes from those of dead ones, remove the latter. Data
//! in: the mounts, the names of instances, `/proc`. Data out: a [`Tracefs`]. It must not know what is traced.

use super::error::TraceUnavailable;
use crate::root::SystemRoot;
use fathom_door::own;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where tracefs is mounted since Linux 4.1.
const PLACE: &str = "/sys/kernel/tracing";
/// Where it is below debugfs, which mounts it there for all to see when somebody looks.
const BELOW_DEBUGFS: &str = "/sys/kernel/debug/tracing";
/// What the names of this program's instances begin with.
const PREFIX: &str = "fathom-";
/// An instance whose maker cannot be seen from here may be without an open file for so long: longer than it takes to make
/// one and open it.
const IN_THE_MAKING: Duration = Duration::from_secs(10);

/// A tracefs that can be used, for as long as this is there.
#[derive(Debug, Clone)]
pub(super) struct Tracefs {
    path: PathBuf,
    /// A mount that has no place in any directory: it is gone when the last of these is closed.
    mount: Option<Arc<OwnedFd>>,
}

impl Tracefs {
    /// The one at `path`.
    pub(super) fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            mount: None,
        }
    }

    /// The one that is mounted, or one for this process alone.
    ///
    /// # Errors
    /// What is missing and how to get it.
    pub(super) fn find(root: &SystemRoot) -> Result<Self, TraceUnavailable> {
        let mounts = crate::mounts::mounts(root).unwrap_or_default();
        let mounted = mounts
            .into_iter()
            .filter(|mount| mount.filesystem == "tracefs")
            .map(|mount| mount.point);
        let mut refusal = None;
        for place in std::iter::once(PathBuf::from(PLACE)).chain(mounted) {
            match has_instances(root, &place) {
                Ok(true) => return Ok(Self::at(place)),
                Ok(false) => {}
                Err(error) => refusal = refusal.or(Some((place, error))),
            }
        }
        let refused_mount = match Self::own(root) {
            Ok(Some(own)) => return Ok(own),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        if has_instances(root, Path::new(BELOW_DEBUGFS)).unwrap_or(false) {
            return Ok(Self::at(BELOW_DEBUGFS));
        }
        Err(match (refusal, refused_mount) {
            (Some((place, error)), _) => refused(root, place, error),
            (None, Some(error)) if error.kind() == io::ErrorKind::Unsupported => TraceUnavailable::NoTracefs,
            (None, error) => TraceUnavailable::NotMounted {
                looked_in: PLACE.into(),
                refused: error
                    .map(|error| format!(", and this process may not mount them for itself: {error}")),
            },
        })
    }

    /// One that nobody else sees; `None` where `root` is no running system.
    fn own(root: &SystemRoot) -> io::Result<Option<Self>> {
        if !root.is_running_system() {
            return Ok(None);
        }
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(|error| match error {
            rustix::io::Errno::NODEV => io::ErrorKind::Unsupported.into(),
            error => io::Error::from(error),
        })?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        if !has_instances(root, &path)? {
            return Err(io::Error::other("it has no directory `instances`"));
        }
        Ok(Some(Self {
            path,
            mount: Some(Arc::new(mount)),
        }))
    }

    /// Its root directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn instances(&self) -> PathBuf {
        self.path.join("instances")
    }

    /// A path in it, as it can be read by who does not have this process's files.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        match (&self.mount, path.strip_prefix(&self.path)) {
            (Some(_), Ok(rest)) => Path::new("tracefs").join(rest),
            _ => path.to_path_buf(),
        }
    }

    /// Removes the instances of dead processes of this program.
    pub(super) fn sweep(&self, root: &SystemRoot) {
        let instances = self.instances();
        for name in root.list(&instances).unwrap_or_default() {
            let Some(maker) = Maker::of(&name) else { continue };
            let dir = instances.join(&name);
            if maker.may_be_making(root, &dir) {
                continue;
            }
            // The kernel refuses while a file of it is open, and its maker has one open until its end: so nothing is lost
            // where a process lives that cannot be seen from here (another container).
            let _refused = own::remove_directory(&root.at(&dir));
        }
    }
}

/// Removes what dead processes of this program left among the kernel's trace files, where those can be reached.
pub fn sweep_left_over(root: &SystemRoot) {
    if let Ok(tracefs) = Tracefs::find(root) {
        tracefs.sweep(root);
    }
}

/// Who made an instance, as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Maker {
    pid: u32,
    /// In clock ticks after the machine's start: tells processes of one number apart.
    started: u64,
    /// The number of the namespace that `pid` is of; 0 where it is not known.
    namespace: u64,
}

impl Maker {
    fn this(root: &SystemRoot) -> Self {
        Self {
            pid: std::process::id(),
            started: started(root, "self").unwrap_or(0),
            namespace: namespace(root).unwrap_or(0),
        }
    }

    /// `None`: no instance of this program.
    fn of(name: &str) -> Option<Self> {
        let mut words = name.strip_prefix(PREFIX)?.split('-');
        let pid = words.next()?.parse().ok()?;
        let mut number = || words.next().and_then(|word| word.parse().ok());
        let (started, namespace) = (number(), number());
        Some(Self {
            pid,
            started: started.unwrap_or(0),
            namespace: namespace.unwrap_or(0),
        })
    }

    /// Whether it may be that this process lives and has not opened a file of its instance `dir` yet.
    fn may_be_making(self, root: &SystemRoot, dir: &Path) -> bool {
        if self.namespace != 0 && Some(self.namespace) == namespace(root) {
            return started(root, &self.pid.to_string()) == Some(self.started);
        }
        let made = fs::metadata(root.at(dir)).and_then(|metadata| metadata.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        age.is_none_or(|age| age < IN_THE_MAKING)
    }
}

/// The name of this process's instance number `number`.
pub(super) fn name_of_instance(root: &SystemRoot, number: u32) -> String {
    let maker = Maker::this(root);
    format!(
        "{PREFIX}{}-{}-{}-{number}",
        maker.pid, maker.started, maker.namespace
    )
}

/// When a process started: field 22 of its `stat`, whose second one may hold anything.
fn started(root: &SystemRoot, process: &str) -> Option<u64> {
    let stat = root.text(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

/// Whether the kernel's events number tasks as this process sees them: they do outside containers that number their own.
/// Where that is not known, they are taken to.
pub fn numbers_tasks_as_here(root: &SystemRoot) -> bool {
    // PROC_PID_INIT_INO of include/linux/proc_ns.h.
    const FIRST: u64 = 0xEFFF_FFFC;
    namespace(root).is_none_or(|number| number == FIRST)
}

/// The namespace of process numbers that this process is in.
fn namespace(root: &SystemRoot) -> Option<u64> {
    let link = fs::read_link(root.at(Path::new("/proc/self/ns/pid"))).ok()?;
    let link = link.to_string_lossy().into_owned();
    link.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Whether a directory is a tracefs; one to mount it on is none.
fn has_instances(root: &SystemRoot, place: &Path) -> io::Result<bool> {
    match root.list(place) {
        Ok(names) => Ok(names.iter().any(|name| name == "instances")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A refusal, with what would help.
pub(super) fn refused(root: &SystemRoot, path: PathBuf, error: io::Error) -> TraceUnavailable {
    let lockdown = root.text("/sys/kernel/security/lockdown");
    let locked_down = lockdown.is_some_and(|text| text.contains("[confidentiality]"));
    TraceUnavailable::of(path, error, locked_down)
}

#[cfg(test)]
mod tests;
