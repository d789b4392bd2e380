//! Permission to write to a regular file, or to make one.

use super::scene::Scene;
use super::{Basis, Change, Judged, Refusal, WriteRequest, cannot_tell, named, signature, usage};
use crate::parents::Plain;
use crate::root::{FileKind, FileStat};
use fathom_door::mark::{self, Standing};
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::path::Path;

/// All rules for a file that is there, judged on one handle.
pub(super) fn check(scene: &Scene<'_>, request: WriteRequest<'_>, stat: FileStat) -> Result<Judged, Refusal> {
    let path = request.path;
    let path_buf = || path.to_path_buf();
    // O_NONBLOCK: should it have become a pipe meanwhile, this must not hang.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open(scene.root.at(path), flags, Mode::empty());
    let opened = opened.map_err(|error| cannot_tell(path, "whether fathom made it", error.into()))?;
    let file = File::from(opened);
    let stat = if scene.root.is_running_system() {
        let metadata = file.metadata();
        FileStat::from(&metadata.map_err(|source| cannot_tell(path, "what is there", source))?)
    } else {
        stat
    };
    if stat.kind != FileKind::Regular {
        return Err(Refusal::Changed { path: path_buf() });
    }
    usage::file_in_use(scene, path, &stat)?;
    if named(scene.root, &stat, request.allow_overwrite) {
        let found = match request.change {
            Change::Overwrite => signature::probe(&file, file_size(&file, &stat))
                .map_err(|source| cannot_tell(path, "what is in it (reading failed)", source))?,
            // What it holds stays.
            Change::Extend(_) => Vec::new(),
        };
        if !found.is_empty() && !request.allow_signature {
            return Err(Refusal::Signature {
                path: path_buf(),
                found,
            });
        }
        return Ok(judged(Basis::NamedFile(found), file));
    }
    let standing =
        mark::standing(&file).map_err(|source| cannot_tell(path, "whether fathom made it", source))?;
    match (standing, request.change) {
        (Standing::Made, _) => Ok(judged(Basis::Made, file)),
        (Standing::Changed, _) => Err(Refusal::NotOursAnyMore {
            path: path_buf(),
            size_bytes: stat.size_bytes,
        }),
        (Standing::Unmarked, Change::Overwrite) => Err(Refusal::NotMade {
            path: path_buf(),
            size_bytes: stat.size_bytes,
        }),
        (Standing::NoMarks, Change::Overwrite) => Err(Refusal::NoMarks {
            path: path_buf(),
            size_bytes: stat.size_bytes,
        }),
        (Standing::Unmarked | Standing::NoMarks, Change::Extend(need_bytes)) => {
            Err(Refusal::NotMadeTooSmall {
                path: path_buf(),
                size_bytes: stat.size_bytes,
                need_bytes,
            })
        }
    }
}

/// As the handle has it: of a recorded system, the recorded number may be another.
fn file_size(file: &File, stat: &FileStat) -> u64 {
    file.metadata().map_or(stat.size_bytes, |metadata| metadata.len())
}

fn judged(basis: Basis, file: File) -> Judged {
    Judged {
        basis,
        handle: Some(file),
        generic: None,
    }
}

/// Nothing is there: free, but a new file in `/dev` is a device's name mistyped, and would fill the memory.
pub(super) fn new(scene: &Scene<'_>, path: &Path) -> Result<Judged, Refusal> {
    let place = if let Some(Plain::Missing(place)) = scene.parents.plain(path) {
        place.parent().map(Path::to_path_buf).unwrap_or_default()
    } else {
        let destination = scene.root.destination(path);
        let destination = destination.map_err(|source| cannot_tell(path, "where it leads", source))?;
        let parent = destination.parent().unwrap_or(Path::new("/"));
        let real = scene.root.canonical(parent);
        real.unwrap_or_else(|_| parent.to_path_buf())
    };
    if scene.is_in_dev(path, &place)? {
        return Err(Refusal::NoSuchDevice {
            path: path.to_path_buf(),
        });
    }
    Ok(Judged {
        basis: Basis::New,
        handle: None,
        generic: None,
    })
}
