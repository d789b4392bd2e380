//! Permission to write: the only part of this crate that stops a run.
//!
//! Duty: make sure that no load overwrites what somebody needs. Data in: the paths that will be written to,
//! and what the user allowed by name. Data out: a [`Permission`] for each, or one [`Refusal`]. It must not
//! know the load, and it writes nothing but the mark on files that fathom made.
//!
//! - A block device is written to only if the user named it, and even so not while it, its disk, one of its
//!   partitions, or anything built on them is mounted, swapped to, held, or the backing of a loop device, nor
//!   where the kernel refuses to open it exclusively. If it carries a known signature, that needs a
//!   confirmation of its own.
//! - A regular file is written to only if fathom made it (it carries [`MARK`]) or the user named it, and
//!   never while it is swapped to or backs a loop device.
//! - A path where nothing is yet is free, but not in `/dev`, where it is a mistyped device.
//! - Where it cannot be told whether something is in use, the answer is no.

mod device;
mod made;
mod refusal;
pub mod signature;
mod usage;

pub use made::{MARK, is_made, mark_made};
pub use refusal::Refusal;
pub use signature::Signature;

use crate::mounts::{mount_of, mounts};
use crate::root::{FileKind, FileStat, SystemRoot};
use fathom_core::units::DevId;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the user allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allowed<'a> {
    /// Devices and files that may be overwritten (`--allow-overwrite`), by any path that leads to them.
    pub overwrite: &'a [PathBuf],
    /// Devices among them may be overwritten although they carry a file system or partition table
    /// (`--allow-overwrite-signature`).
    pub signature: bool,
}

/// One path that will be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteRequest<'a> {
    /// The path as the load will open it.
    pub path: &'a Path,
    /// As [`Allowed::overwrite`].
    pub allow_overwrite: &'a [PathBuf],
    /// As [`Allowed::signature`].
    pub allow_signature: bool,
    /// What becomes of a file that exists.
    pub change: Change,
}

/// What a run does to a file that exists: the refusal says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change {
    /// What it holds is written over.
    #[default]
    Overwrite,
    /// What it holds stays; it is made longer, to this many bytes.
    Extend(u64),
}

/// How a device is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grip {
    /// Held exclusively, for writing.
    Hold,
    /// Opened for reading, and let go again: not even the kernel's watchers of closed writers hear of it.
    Look,
}

/// One question, in full.
#[derive(Debug, Clone, Copy)]
struct Question<'a> {
    allowed: Allowed<'a>,
    change: Change,
    grip: Grip,
}

/// Why a path may be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Nothing is there yet. Create it with `create_new` and mark it with [`mark_made`].
    New,
    /// A file that fathom made.
    Made,
    /// A file that the user named.
    NamedFile,
    /// A device that the user named, with the signatures that will be lost.
    NamedDevice(Vec<Signature>),
    /// A device that keeps nothing: `/dev/null`, `/dev/zero`.
    Sink,
}

/// The permission to write to one path. Keep it for as long as is written: a block device is held open
/// exclusively by it, so that nobody can mount it meanwhile. (The same process may open it again, but without
/// `O_EXCL`.)
#[derive(Debug, Clone)]
pub struct Permission {
    /// The path as asked for.
    pub path: PathBuf,
    /// Why.
    pub basis: Basis,
    /// What was found there; `None` where nothing was.
    stat: Option<FileStat>,
    /// The device, open with `O_EXCL`.
    hold: Option<Arc<File>>,
}

impl Permission {
    /// Makes sure that what was opened for writing is what the permission is for. Between the check and the
    /// opening somebody may have put another file or a link in its place.
    ///
    /// # Errors
    /// [`Refusal::Changed`], or [`Refusal::CannotTell`] where `opened` cannot be looked at.
    pub fn confirm(&self, opened: &File) -> Result<(), Refusal> {
        let metadata = opened.metadata().map_err(|source| Refusal::CannotTell {
            path: self.path.clone(),
            what: "what was opened there".to_owned(),
            source,
        })?;
        let now = FileStat::from(&metadata);
        let same = match &self.stat {
            Some(then) => then.same_as(&now),
            None => now.kind == FileKind::Regular,
        };
        if same {
            Ok(())
        } else {
            Err(Refusal::Changed {
                path: self.path.clone(),
            })
        }
    }

    /// Whether a device is held exclusively by this permission.
    pub fn holds_device(&self) -> bool {
        self.hold.is_some()
    }
}

/// Whether one path may be written to. For several paths of one run use [`check_all`]: two names of one
/// device would stand in each other's way here.
///
/// # Errors
/// It may not; see [`Refusal`].
pub fn check(root: &SystemRoot, request: WriteRequest<'_>) -> Result<Permission, Refusal> {
    check_one(root, request.path, request.question(Grip::Hold), &[])
}

/// Whether [`check`] would permit, for a run that is only planned: nothing is held, and nothing opened for writing.
///
/// # Errors
/// It would not; the same [`Refusal`] as of [`check`].
pub fn foresee(root: &SystemRoot, request: WriteRequest<'_>) -> Result<Basis, Refusal> {
    check_one(root, request.path, request.question(Grip::Look), &[]).map(|permission| permission.basis)
}

impl<'a> WriteRequest<'a> {
    fn question(&self, grip: Grip) -> Question<'a> {
        Question {
            allowed: Allowed {
                overwrite: self.allow_overwrite,
                signature: self.allow_signature,
            },
            change: self.change,
            grip,
        }
    }
}

/// Whether all paths may be written to: a permission for each, in their order. Paths that lead to the same
/// device share one hold.
///
/// # Errors
/// The first refusal.
pub fn check_all(
    root: &SystemRoot,
    paths: &[PathBuf],
    allowed: Allowed<'_>,
) -> Result<Vec<Permission>, Refusal> {
    let question = Question {
        allowed,
        change: Change::default(),
        grip: Grip::Hold,
    };
    let mut permissions: Vec<Permission> = Vec::new();
    for path in paths {
        let permission = check_one(root, path, question, &permissions)?;
        permissions.push(permission);
    }
    Ok(permissions)
}

fn check_one(
    root: &SystemRoot,
    path: &Path,
    question: Question<'_>,
    before: &[Permission],
) -> Result<Permission, Refusal> {
    let stat = match root.stat(path) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return new_file(root, path),
        Err(source) => return Err(cannot_tell(path, "what is there", source)),
    };
    let known = before
        .iter()
        .find(|p| p.stat.is_some_and(|known| known.same_as(&stat)));
    if let Some(known) = known {
        let path = path.to_path_buf();
        return Ok(Permission {
            path,
            ..known.clone()
        });
    }
    let (basis, hold) = match stat.kind {
        FileKind::BlockDevice => device::check(root, path, &stat, question)?,
        FileKind::Regular => (regular_file(root, path, &stat, question)?, None),
        // Documentation/admin-guide/devices.txt: 1:3 is /dev/null, 1:5 /dev/zero.
        FileKind::CharacterDevice if stat.node.major == 1 && matches!(stat.node.minor, 3 | 5) => {
            (Basis::Sink, None)
        }
        kind => {
            return Err(Refusal::WrongKind {
                path: path.to_path_buf(),
                kind: kind.in_words(),
            });
        }
    };
    Ok(Permission {
        path: path.to_path_buf(),
        basis,
        stat: Some(stat),
        hold,
    })
}

/// Nothing is there: free, but a new file in `/dev` is a device's name mistyped, and would fill the memory.
fn new_file(root: &SystemRoot, path: &Path) -> Result<Permission, Refusal> {
    let destination = root.destination(path);
    let destination = destination.map_err(|source| cannot_tell(path, "where it leads", source))?;
    let parent = destination.parent().unwrap_or(Path::new("/"));
    let place = root.canonical(parent).unwrap_or_else(|_| parent.to_path_buf());
    let table =
        mounts(root).map_err(|source| cannot_tell(path, "what it is on (/proc/self/mountinfo)", source))?;
    // No file is on device 0:0: the path alone decides.
    let mount = mount_of(&table, &place, DevId { major: 0, minor: 0 });
    let in_dev =
        mount.is_some_and(|mount| mount.filesystem == "devtmpfs" || mount.point == Path::new("/dev"));
    if in_dev || place == Path::new("/dev") {
        return Err(Refusal::NoSuchDevice {
            path: path.to_path_buf(),
        });
    }
    Ok(Permission {
        path: path.to_path_buf(),
        basis: Basis::New,
        stat: None,
        hold: None,
    })
}

fn regular_file(
    root: &SystemRoot,
    path: &Path,
    stat: &FileStat,
    question: Question<'_>,
) -> Result<Basis, Refusal> {
    usage::file_in_use(root, path, stat)?;
    if named(root, stat, question.allowed.overwrite) {
        return Ok(Basis::NamedFile);
    }
    // O_NONBLOCK: should it have become a pipe meanwhile, this must not hang.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(root.at(path));
    let made = opened.and_then(|file| is_made(&file));
    match made {
        Ok(true) => Ok(Basis::Made),
        Ok(false) => Err(match question.change {
            Change::Overwrite => Refusal::NotMade {
                path: path.to_path_buf(),
                size_bytes: stat.size_bytes,
            },
            Change::Extend(need_bytes) => Refusal::NotMadeTooSmall {
                path: path.to_path_buf(),
                size_bytes: stat.size_bytes,
                need_bytes,
            },
        }),
        Err(source) => Err(cannot_tell(path, "whether fathom made it", source)),
    }
}

/// Whether one of the paths that the user named leads to this file or device.
fn named(root: &SystemRoot, stat: &FileStat, allow_overwrite: &[PathBuf]) -> bool {
    let mut named = allow_overwrite.iter().filter_map(|path| root.stat(path).ok());
    named.any(|other| other.same_as(stat))
}

fn cannot_tell(path: &Path, what: &str, source: io::Error) -> Refusal {
    Refusal::CannotTell {
        path: path.to_path_buf(),
        what: what.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
