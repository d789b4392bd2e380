//! The permits of a run, by the paths of its plan.
//!
//! Data in: permits. Data out: the one for a path; marks that are prolonged and sealed. It must not open anything.

use super::{FILES_A_PERIOD, PERIOD, Permit, Refused, SLACK};
use crate::{identity, mark};
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The permits of a run.
#[derive(Debug, Default)]
pub struct Permits {
    by_path: HashMap<PathBuf, Arc<Permit>>,
    prolonged: Mutex<Option<Instant>>,
}

impl Permits {
    /// Of paths with the permit of each; several paths may share one.
    pub fn new(permits: impl IntoIterator<Item = (PathBuf, Arc<Permit>)>) -> Self {
        Self {
            by_path: permits.into_iter().collect(),
            prolonged: Mutex::default(),
        }
    }

    /// For whatever is at these paths now, or nothing yet. Nobody was asked: this is for tests of what only writes.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn unasked<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Self, Refused> {
        let permit = |path: &Path| -> Result<Permit, Refused> {
            let Some(held) = identity::hold(path, true)? else {
                return Ok(Permit::new_file(path));
            };
            let file = held.open(OFlags::RDONLY | OFlags::NONBLOCK)?;
            if held.identity.is_regular() {
                Permit::file(path, &file, mark::standing(&file)? == mark::Standing::Made)
            } else {
                Permit::device(path, file, false)
            }
        };
        let permits = paths
            .into_iter()
            .map(|path| Ok((path.to_path_buf(), Arc::new(permit(path)?))));
        Ok(Self::new(permits.collect::<Result<Vec<_>, Refused>>()?))
    }

    /// The permit for a path.
    ///
    /// # Errors
    /// There is none, and nothing may be written there.
    pub fn of(&self, path: &Path) -> io::Result<&Arc<Permit>> {
        self.by_path.get(path).ok_or_else(|| {
            let what = format!(
                "{}: nobody asked whether it may be written to, a bug in fathom: please report it",
                path.display()
            );
            io::Error::other(what)
        })
    }

    /// All permits; one that several paths share as often.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Permit>> {
        self.by_path.values()
    }

    /// Prolongs the marks of what is written to, when it is time to. To be called ten times a second or so.
    pub fn prolong(&self) {
        let files = u32::try_from(self.by_path.len()).unwrap_or(u32::MAX);
        let period = PERIOD * (files / FILES_A_PERIOD).clamp(1, 1200);
        let mut last = self.prolonged.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= period) {
            *last = Some(Instant::now());
            self.iter().for_each(|permit| permit.prolong(period + SLACK));
        }
    }

    /// The load has ended: all marks say what the files are now. Returns those that could not be marked, and why: they
    /// will have to be named to be written to again.
    pub fn seal(&self) -> Vec<(PathBuf, io::Error)> {
        let seal = |permit: &Arc<Permit>| {
            let error = permit.seal().err()?;
            Some((permit.path().to_path_buf(), error))
        };
        self.iter().filter_map(seal).collect()
    }

    /// Files made on file systems that have no place for a mark, in order.
    pub fn unmarked(&self) -> Vec<PathBuf> {
        let made = self.iter().filter(|permit| {
            let state = permit.state();
            state.created && state.unmarkable
        });
        let mut paths: Vec<PathBuf> = made.map(|permit| permit.path().to_path_buf()).collect();
        paths.sort();
        paths
    }
}
