//! What is in use on this system, looked at once for all paths of a run.
//!
//! Data in: `/proc` and `/sys`. Data out: mounts, swap areas, loop devices with what is below them, and who has what open.
//! It must not judge: where something could not be looked at, that is kept, and told to whoever needs it.

use super::openers::{self, Openers};
use super::usage;
use super::{Refusal, cannot_tell};
use crate::mounts::{Mount, mount_of, mounts, swap_areas};
use crate::parents::Parents;
use crate::root::{FileStat, SystemRoot};
use fathom_core::units::DevId;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// One look.
pub(super) struct Scene<'r> {
    pub(super) root: &'r SystemRoot,
    mounts: OnceCell<io::Result<Vec<Mount>>>,
    swaps: OnceCell<io::Result<Vec<Area>>>,
    loops: OnceCell<io::Result<Vec<LoopDevice>>>,
    openers: OnceCell<Openers>,
    pub(super) parents: Parents<'r>,
    /// Directories, and whether a file made in them would be among the devices.
    in_dev: RefCell<HashMap<PathBuf, bool>>,
}

/// A swap area.
pub(super) struct Area {
    pub(super) path: PathBuf,
    pub(super) stat: Option<FileStat>,
}

/// A loop device that has a file.
pub(super) struct LoopDevice {
    /// `/dev/loop0`.
    pub(super) name: String,
    /// What is below it; `None`: it lies where this process does not see it.
    pub(super) stat: Option<FileStat>,
}

impl<'r> Scene<'r> {
    pub(super) fn look(root: &'r SystemRoot) -> Self {
        Self {
            root,
            mounts: OnceCell::new(),
            swaps: OnceCell::new(),
            loops: OnceCell::new(),
            openers: OnceCell::new(),
            parents: Parents::new(root),
            in_dev: RefCell::default(),
        }
    }

    /// For `path`, which a refusal names; `what` could not be told.
    pub(super) fn mounts(&self, path: &Path, what: &str) -> Result<&[Mount], Refusal> {
        let found = self.mounts.get_or_init(|| mounts(self.root));
        told(path, &format!("{what} (/proc/self/mountinfo)"), found)
    }

    /// Whether a file made in the directory `place` would be among the devices, where it would fill the memory.
    pub(super) fn is_in_dev(&self, path: &Path, place: &Path) -> Result<bool, Refusal> {
        if let Some(known) = self.in_dev.borrow().get(place) {
            return Ok(*known);
        }
        let table = self.mounts(path, "what it is on")?;
        // No file is on device 0:0: the path alone decides.
        let mount = mount_of(table, place, DevId { major: 0, minor: 0 });
        let in_dev = place == Path::new("/dev")
            || mount.is_some_and(|mount| mount.filesystem == "devtmpfs" || mount.point == Path::new("/dev"));
        self.in_dev.borrow_mut().insert(place.to_owned(), in_dev);
        Ok(in_dev)
    }

    pub(super) fn swaps(&self, path: &Path) -> Result<&[Area], Refusal> {
        let found = self.swaps.get_or_init(|| {
            let areas = swap_areas(self.root)?.into_iter();
            Ok(areas
                .map(|path| Area {
                    stat: self.root.stat(&path).ok(),
                    path,
                })
                .collect())
        });
        told(path, "whether it is swap space (/proc/swaps)", found)
    }

    pub(super) fn loops(&self, path: &Path) -> Result<&[LoopDevice], Refusal> {
        let found = self.loops.get_or_init(|| usage::loops(self.root));
        told(path, "whether a loop device stands on it (/sys/block)", found)
    }

    /// Who has what open; empty where that may not be seen.
    pub(super) fn openers(&self) -> &Openers {
        self.openers.get_or_init(|| openers::look(self.root))
    }
}

fn told<'a, T>(path: &Path, what: &str, found: &'a io::Result<Vec<T>>) -> Result<&'a [T], Refusal> {
    match found {
        Ok(found) => Ok(found),
        // The same words as the system's own.
        Err(error) => {
            let again = match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            Err(cannot_tell(path, what, again))
        }
    }
}
