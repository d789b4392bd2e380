//! Makes the files of a plan ready before the run, and tells how far that is.
//!
//! Data in: a permitted plan. Data out: the same plan, with nothing left to be done. It must not decide what may be
//! touched.

use crate::live::Live;
use crate::safety::Permitted;
use anyhow::anyhow;
use fathom_engine::layout::{self, LayoutError, Watch};
use fathom_engine::plan::{FileAction, Plan};
use std::sync::atomic::AtomicBool;

/// What came of it.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// All files are ready.
    Ready,
    /// Stopped by the user.
    Interrupted,
}

/// Lays out what is missing.
pub(crate) fn prepare(
    plan: &mut Plan,
    permitted: &Permitted,
    live: &mut Live,
    stop: &AtomicBool,
) -> anyhow::Result<Prepared> {
    let mut watcher = Watcher { live };
    match layout::make_ready(plan, &permitted.permits, stop, &mut watcher) {
        Ok(()) => Ok(Prepared::Ready),
        Err(LayoutError::Stopped) => Ok(Prepared::Interrupted),
        Err(LayoutError::Failed { path, source }) => {
            let path = path.display();
            Err(anyhow!("cannot make {path} ready: {source}{}", remedy(&source)))
        }
    }
}

/// Adds what one plan does to files to what others do.
pub(crate) fn merge(files: &mut Vec<FileAction>, more: Vec<FileAction>) {
    for action in more {
        match files.iter_mut().find(|known| known.path == action.path) {
            None => files.push(action),
            Some(known) => {
                known.size_needed = known.size_needed.max(action.size_needed);
                known.reads |= action.reads;
                known.writes |= action.writes;
                known.fill |= action.fill;
            }
        }
    }
}

/// Shows the layout.
struct Watcher<'a> {
    live: &'a mut Live,
}

impl Watch for Watcher<'_> {
    fn laying_out(&mut self, action: &FileAction, done_bytes: u64, total_bytes: u64) {
        self.live.laying_out(action, done_bytes, total_bytes);
    }
    fn laid_out(&mut self, _action: &FileAction) {
        self.live.laid_out();
    }
}

fn remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            ". Make room, give a smaller size=, or choose another directory"
        }
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            ". Choose a directory that you may write to"
        }
        std::io::ErrorKind::AlreadyExists => {
            ". It was made by somebody else after the run was planned: run again"
        }
        _ => "",
    }
}
