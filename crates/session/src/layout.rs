//! Makes the files of a plan ready before the run, and tells how far that is.
//!
//! Data in: a permitted plan. Data out: the same plan, with nothing left to be done. It must not decide what may be
//! touched.

use crate::event::{Event, Observer};
use crate::permit::Permitted;
use crate::touched::touched;
use anyhow::anyhow;
use fathom_core::units::Bytes;
use fathom_engine::layout::{self, LayoutError, Watch};
use fathom_engine::plan::{FileAction, Kind, Plan};
use std::sync::atomic::AtomicBool;

/// Lays out what is missing: what that was, in words; `None`: stopped by the user.
pub(crate) fn make_ready(
    plan: &mut Plan,
    permitted: &Permitted,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> anyhow::Result<Option<Vec<String>>> {
    if plan.files.iter().all(|file| file.kind == Kind::Modelled) {
        return Ok(Some(Vec::new()));
    }
    let mut watcher = Watcher {
        observer,
        begun: false,
    };
    let work: Vec<bool> = plan.files.iter().map(is_work).collect();
    let laid_out = |plan: &Plan| -> Vec<String> {
        let files = plan.files.iter().zip(&work);
        let done = files.filter(|(file, was_work)| **was_work && !is_work(file));
        done.map(|(file, _)| format!("{} ({})", file.path.display(), Bytes(file.size_needed)))
            .collect()
    };
    match layout::make_ready(plan, &permitted.permits, stop, &mut watcher) {
        Ok(()) => Ok(Some(laid_out(plan))),
        Err(LayoutError::Stopped) => Ok(None),
        Err(LayoutError::Failed { path, source }) => {
            let path = path.display();
            let error = anyhow!("cannot make {path} ready: {source}{}", remedy(&source));
            let left = laid_out(plan);
            if !watcher.begun && left.is_empty() {
                return Err(error);
            }
            let undone = anyhow!("{error:#}. What was begun of it was undone");
            Err(touched(&undone, left))
        }
    }
}

/// Whether something of a file is to be laid out.
fn is_work(file: &FileAction) -> bool {
    file.fill || file.changes_size()
}

/// Tells of the layout.
struct Watcher<'a> {
    observer: &'a mut dyn Observer,
    /// Whether anything was written.
    begun: bool,
}

impl Watch for Watcher<'_> {
    fn laying_out(&mut self, file: &FileAction, done_bytes: u64, total_bytes: u64) {
        self.begun = true;
        self.observer.event(Event::LayingOut {
            file,
            done_bytes,
            total_bytes,
        });
    }
    fn laid_out(&mut self, _action: &FileAction) {
        self.observer.event(Event::LaidOut);
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
