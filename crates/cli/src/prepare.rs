//! Makes the files of a plan ready before the run, and tells how far that is.
//!
//! Data in: a permitted plan. Data out: the same plan, with nothing left to be done. It must not decide what may be
//! touched.

use crate::exit;
use crate::live::Live;
use crate::safety::Permitted;
use anyhow::anyhow;
use fathom_core::units::Bytes;
use fathom_engine::layout::{self, LayoutError, Watch};
use fathom_engine::plan::{FileAction, Plan};
use std::sync::atomic::AtomicBool;

/// What came of it.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// All files are ready.
    Ready {
        /// What was laid out, in words.
        laid_out: Vec<String>,
    },
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
    let mut watcher = Watcher { live, begun: false };
    let work: Vec<bool> = plan.files.iter().map(is_work).collect();
    let laid_out = |plan: &Plan| -> Vec<String> {
        let files = plan.files.iter().zip(&work);
        let done = files.filter(|(file, was_work)| **was_work && !is_work(file));
        done.map(|(file, _)| format!("{} ({})", file.path.display(), Bytes(file.size_needed)))
            .collect()
    };
    match layout::make_ready(plan, &permitted.permits, stop, &mut watcher) {
        Ok(()) => Ok(Prepared::Ready {
            laid_out: laid_out(plan),
        }),
        Err(LayoutError::Stopped) => Ok(Prepared::Interrupted),
        Err(LayoutError::Failed { path, source }) => {
            let path = path.display();
            let error = anyhow!("cannot make {path} ready: {source}{}", remedy(&source));
            let left = laid_out(plan);
            if !watcher.begun && left.is_empty() {
                return Err(error);
            }
            let undone = anyhow!("{error:#}. What was begun of it was undone");
            Err(exit::touched(&undone, left))
        }
    }
}

/// Whether something of a file is to be laid out.
fn is_work(file: &FileAction) -> bool {
    file.fill || file.changes_size()
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
    /// Whether anything was written.
    begun: bool,
}

impl Watch for Watcher<'_> {
    fn laying_out(&mut self, action: &FileAction, done_bytes: u64, total_bytes: u64) {
        self.begun = true;
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
