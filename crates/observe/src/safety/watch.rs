//! What may come to stand on a target while it is written to.
//!
//! Data in: the targets of a run, again and again. Data out: a [`Refusal`] once a loop device or a swap area was set up on one
//! of them: neither holds what is below it, and no lock keeps it away. (A mount is kept away from a device by the hold on
//! it, and comes to a file by a loop device.) It must not end the run.

use super::scene::Scene;
use super::{Refusal, usage};
use crate::root::{FileKind, FileStat, SystemRoot};
use crate::sysfs::Block;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often is looked: it reads a file for each loop device.
const PERIOD: Duration = Duration::from_secs(1);

/// Looks at the targets of a run.
#[derive(Debug)]
pub struct Watch {
    root: SystemRoot,
    paths: Vec<PathBuf>,
    last: Instant,
}

impl Watch {
    /// Of the files and devices that are written to.
    pub fn new(root: &SystemRoot, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            root: root.clone(),
            paths: paths.into_iter().collect(),
            last: Instant::now(),
        }
    }

    /// What was set up on a target since, where it is time for a look.
    pub fn look(&mut self) -> Option<Refusal> {
        if self.last.elapsed() < PERIOD {
            return None;
        }
        self.last = Instant::now();
        self.look_now()
    }

    /// What was set up on a target.
    pub fn look_now(&self) -> Option<Refusal> {
        let scene = Scene::look(&self.root);
        let none = PathBuf::new();
        let nothing_set_up =
            scene.loops(&none).is_ok_and(<[_]>::is_empty) && scene.swaps(&none).is_ok_and(<[_]>::is_empty);
        if nothing_set_up {
            return None;
        }
        self.paths.iter().find_map(|path| {
            // What cannot be looked at any more is not what is written to.
            let stat = self.root.stat(path).ok()?;
            self.of(&scene, path, &stat)
        })
    }

    fn of(&self, scene: &Scene<'_>, path: &std::path::Path, stat: &FileStat) -> Option<Refusal> {
        match stat.kind {
            FileKind::Regular => usage::file_set_up(scene, path, stat).err(),
            FileKind::BlockDevice => {
                let block = Block::by_id(&self.root, stat.node)?;
                usage::device_set_up(scene, path, &block).err()
            }
            FileKind::CharacterDevice => {
                let block = Block::behind_generic(&self.root, stat.node)?;
                usage::device_set_up(scene, path, &block).err()
            }
            _ => None,
        }
    }
}
