//! Permission to write: the only part of this crate that stops a run.
//!
//! Duty: make sure that no load overwrites what somebody needs. Data in: the paths that will be written to,
//! and what the user allowed by name. Data out: a [`Permission`] for each, or all [`Refusal`]s. It must not
//! know the load, and it writes nothing: what is permitted is opened and made by `fathom-door` alone, by the
//! identity of what was judged here.
//!
//! - A block device is written to only if the user named it, and even so not while it, its disk, one of its
//!   partitions, or anything built on them is mounted, swapped to, held, the backing of a loop device or open for
//!   writing elsewhere, nor where the kernel refuses to open it exclusively. If it carries a known signature, that
//!   needs a confirmation of its own.
//! - A regular file is written to only if fathom made it and nobody else has written to it since (its mark says so,
//!   see [`fathom_door::mark`]) or the user named it; a named one with a known signature needs a confirmation of its
//!   own as well. Never while it is swapped to, backs a loop device, or is open for writing elsewhere.
//! - The generic character device of a disk (`/dev/ng0n1`, `/dev/sg0`), by which a load sends commands, is judged as the disk's
//!   block device, which is held meanwhile: who sends commands passes by all that would keep a write away.
//! - A path where nothing is yet is free, but not in `/dev`, where it is a mistyped device.
//! - Where it cannot be told whether something is in use, the answer is no.
//!
//! A path is looked at once: all that is judged of a file is judged on one open handle.

mod device;
mod file;
mod generic;
mod openers;
mod refusal;
mod scene;
pub mod signature;
mod usage;
mod watch;

pub use openers::{Opener, other_fathoms};
pub use refusal::Refusal;
pub use signature::Signature;
pub use watch::Watch;

use crate::parents::Plain;
use crate::root::{FileKind, FileStat, SystemRoot};
use fathom_core::units::DevId;
use fathom_door::{Permit, Refused, target};
use scene::Scene;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One path that will be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteRequest<'a> {
    /// The path as the load will open it.
    pub path: &'a Path,
    /// Devices and files that may be overwritten (`--allow-overwrite`), by any path that leads to them.
    pub allow_overwrite: &'a [PathBuf],
    /// It may be overwritten although it carries a file system or partition table
    /// (`--allow-overwrite-signature`).
    pub allow_signature: bool,
    /// What becomes of a file that exists.
    pub change: Change,
    /// The load sends commands to it: only then a generic device may be written to. Bytes written there would be taken for
    /// commands.
    pub commands: bool,
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

/// Why a path may be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Nothing is there yet.
    New,
    /// A file that fathom made, and that nobody else has written to.
    Made,
    /// A file that the user named, with the signatures that will be lost.
    NamedFile(Vec<Signature>),
    /// A device that the user named, with the signatures that will be lost.
    NamedDevice(Vec<Signature>),
    /// A device that keeps nothing: `/dev/null`, `/dev/zero`.
    Sink,
}

/// The permission to write to one path. Keep it for as long as is written: a block device is held open
/// exclusively by it, so that nobody can mount it meanwhile, and a file locked.
#[derive(Debug, Clone)]
pub struct Permission {
    /// The path as asked for.
    pub path: PathBuf,
    /// Why.
    pub basis: Basis,
    /// What to write through; shared by all paths that lead to the same.
    pub permit: Arc<Permit>,
}

/// What was judged, and the handle that it was judged on.
struct Judged {
    basis: Basis,
    handle: Option<File>,
    /// Of a generic device: that itself, where the handle is its disk's.
    generic: Option<File>,
}

/// Whether one path may be written to.
///
/// # Errors
/// It may not; see [`Refusal`].
pub fn check(root: &SystemRoot, request: WriteRequest<'_>) -> Result<Permission, Refusal> {
    let mut all = check_all(root, &[request]).map_err(|mut refusals| refusals.swap_remove(0))?;
    Ok(all.swap_remove(0))
}

/// Whether [`check`] would permit, for a run that is only planned: nothing is held, and nothing opened for writing.
///
/// # Errors
/// It would not; the same [`Refusal`] as of [`check`].
pub fn foresee(root: &SystemRoot, request: WriteRequest<'_>) -> Result<Basis, Refusal> {
    let mut all = foresee_all(root, &[request]).map_err(|mut refusals| refusals.swap_remove(0))?;
    Ok(all.swap_remove(0))
}

/// Whether all paths may be written to: a permission for each, in their order. Paths that lead to the same file or
/// device share one permit.
///
/// # Errors
/// All refusals: the user should learn of all at once. Nothing is held then.
pub fn check_all(root: &SystemRoot, requests: &[WriteRequest<'_>]) -> Result<Vec<Permission>, Vec<Refusal>> {
    let scene = Scene::look(root);
    let mut permits: HashMap<Key, (Basis, Arc<Permit>)> = HashMap::new();
    each(requests, |request| {
        let key = Key::of(&scene, request.path)?;
        if let Some((basis, permit)) = permits.get(&key) {
            return Ok(permission(request, basis.clone(), Arc::clone(permit)));
        }
        let judged = judge(&scene, *request, Grip::Hold)?;
        let basis = judged.basis.clone();
        let permit = Arc::new(permit(root, request.path, judged)?);
        permits.insert(key, (basis.clone(), Arc::clone(&permit)));
        Ok(permission(request, basis, permit))
    })
}

/// As [`foresee`], for all paths of a run.
///
/// # Errors
/// All refusals.
pub fn foresee_all(root: &SystemRoot, requests: &[WriteRequest<'_>]) -> Result<Vec<Basis>, Vec<Refusal>> {
    let scene = Scene::look(root);
    each(requests, |request| {
        let judged = judge(&scene, *request, Grip::Look)?;
        if let (Some(handle), Basis::Made | Basis::NamedFile(_)) = (&judged.handle, &judged.basis) {
            target::is_locked(handle).map_err(|error| refused(request.path, error))?;
        }
        Ok(judged.basis)
    })
}

fn each<T>(
    requests: &[WriteRequest<'_>],
    mut ask: impl FnMut(&WriteRequest<'_>) -> Result<T, Refusal>,
) -> Result<Vec<T>, Vec<Refusal>> {
    let (mut granted, mut refusals) = (Vec::with_capacity(requests.len()), Vec::new());
    for request in requests {
        match ask(request) {
            Ok(one) => granted.push(one),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if refusals.is_empty() {
        Ok(granted)
    } else {
        Err(refusals)
    }
}

fn permission(request: &WriteRequest<'_>, basis: Basis, permit: Arc<Permit>) -> Permission {
    Permission {
        path: request.path.to_path_buf(),
        basis,
        permit,
    }
}

/// What tells one target from another.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A device, by its number.
    Node(bool, DevId),
    /// A file, by where it is stored.
    File(DevId, u64),
    /// A file that is to be made here.
    New(PathBuf),
}

impl Key {
    fn of(scene: &Scene<'_>, path: &Path) -> Result<Self, Refusal> {
        if let Some(Plain::Missing(place)) = scene.parents.plain(path) {
            return Ok(Self::New(place));
        }
        let root = scene.root;
        match root.stat(path) {
            Ok(stat) if matches!(stat.kind, FileKind::BlockDevice | FileKind::CharacterDevice) => {
                Ok(Self::Node(stat.kind == FileKind::BlockDevice, stat.node))
            }
            Ok(stat) => Ok(Self::File(stat.device, stat.inode)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let place = root.destination(path);
                let place = place.map_err(|source| cannot_tell(path, "where it leads", source))?;
                let parent = place.parent().unwrap_or(Path::new("/"));
                let parent = root.canonical(parent).unwrap_or_else(|_| parent.to_path_buf());
                Ok(Self::New(parent.join(place.file_name().unwrap_or_default())))
            }
            Err(source) => Err(cannot_tell(path, "what is there", source)),
        }
    }
}

fn judge(scene: &Scene<'_>, request: WriteRequest<'_>, grip: Grip) -> Result<Judged, Refusal> {
    let path = request.path;
    let stat = match scene.root.stat(path) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return file::new(scene, path),
        Err(source) => return Err(cannot_tell(path, "what is there", source)),
    };
    match stat.kind {
        FileKind::BlockDevice => device::check(scene, request, &stat, grip),
        FileKind::Regular => file::check(scene, request, stat),
        // Documentation/admin-guide/devices.txt: 1:3 is /dev/null, 1:5 /dev/zero.
        FileKind::CharacterDevice if stat.node.major == 1 && matches!(stat.node.minor, 3 | 5) => Ok(Judged {
            basis: Basis::Sink,
            handle: None,
            generic: None,
        }),
        FileKind::CharacterDevice if request.commands => generic::check(scene, request, &stat, grip),
        kind => Err(Refusal::WrongKind {
            path: path.to_path_buf(),
            kind: kind.in_words(),
        }),
    }
}

/// Leave to write to what was judged, held.
fn permit(root: &SystemRoot, path: &Path, judged: Judged) -> Result<Permit, Refusal> {
    let place = root.at(path);
    let permit = match (judged.basis, judged.handle) {
        (Basis::NamedDevice(_), Some(hold)) => match judged.generic {
            Some(generic) => Permit::generic_device(&place, &generic, hold),
            None => Permit::device(&place, hold, true),
        },
        (Basis::Made, Some(file)) => Permit::file(&place, &file, true),
        (Basis::NamedFile(_), Some(file)) => Permit::file(&place, &file, false),
        (Basis::Sink, _) => match File::open(&place) {
            Ok(sink) => Permit::device(&place, sink, false),
            // A recorded system has no such node.
            Err(_) if !root.is_running_system() => Ok(Permit::new_file(&place)),
            Err(error) => Err(error.into()),
        },
        _ => Ok(Permit::new_file(&place)),
    };
    permit.map_err(|error| refused(path, error))
}

fn refused(path: &Path, error: Refused) -> Refusal {
    let path = path.to_path_buf();
    match error {
        Refused::Locked => Refusal::Locked { path },
        Refused::Io(source) => Refusal::CannotOpen { path, source },
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
