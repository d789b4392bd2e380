//! Makes the files of a plan ready before the run: laid out, marked as ours, out of the page cache.
//!
//! Data in: a permitted plan. Data out: the same plan, with nothing left to be done. It must not decide what may be
//! touched.
//!
//! The engine could lay files out itself; it is done here, so that the conditions (which extents were written, what is in
//! the page cache) can be looked at between the layout and the first I/O.

use crate::live::Live;
use anyhow::anyhow;
use fathom_core::workload::EngineKind;
use fathom_engine::layout;
use fathom_engine::plan::{FileAction, Kind, Plan};
use fathom_observe::safety;
use rustix::fs::Advice;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

/// What came of it.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// All files are ready; the paths of those that could not be marked as ours.
    Ready {
        /// New files on file systems without user attributes.
        unmarked: Vec<String>,
    },
    /// Stopped by the user.
    Interrupted,
}

/// Lays out what is missing. Each file that was finished is taken off the plan's list of work.
pub(crate) fn prepare(plan: &mut Plan, live: &mut Live, stop: &AtomicBool) -> anyhow::Result<Prepared> {
    let mut unmarked = Vec::new();
    for action in &mut plan.files {
        if action.kind != Kind::Regular || !(action.changes_size() || action.fill) {
            continue;
        }
        let name = action.path.display().to_string();
        let result = lay_out(action, live, stop, &mut unmarked);
        live.laid_out();
        match result {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted && stop.load(Ordering::Relaxed) => {
                return Ok(Prepared::Interrupted);
            }
            Err(error) => return Err(anyhow!("cannot make {name} ready: {error}{}", remedy(&error))),
        }
        action.size_now = Some(action.size_now.unwrap_or(0).max(action.size_needed));
        action.fill = false;
    }
    drop_caches(plan);
    Ok(Prepared::Ready { unmarked })
}

fn lay_out(
    action: &FileAction,
    live: &mut Live,
    stop: &AtomicBool,
    unmarked: &mut Vec<String>,
) -> std::io::Result<()> {
    let mut made = |file: &File| {
        if !safety::mark_made(file)? {
            unmarked.push(action.path.display().to_string());
        }
        Ok(())
    };
    let mut on_piece = |done, total| {
        live.laying_out(action, done, total);
        if stop.load(Ordering::Relaxed) {
            Err(layout::interrupted())
        } else {
            Ok(())
        }
    };
    layout::lay_out(action, &mut made, &mut on_piece)
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

/// Drops the cached pages of all files that their jobs would drop anyway (`invalidate`, fio's default), so that what is
/// then seen of the cache is what the first I/O finds.
fn drop_caches(plan: &Plan) {
    for job in &plan.jobs {
        let files = &job.job.files;
        if !files.invalidate || files.pre_read || job.job.engine.kind == EngineKind::Null {
            continue;
        }
        for file in job.workers.iter().flat_map(|worker| &worker.files) {
            // Advice: where it cannot be followed, the look at the cache will tell.
            if let Ok(open) = File::open(&file.path) {
                let _followed = rustix::fs::fadvise(&open, 0, None, Advice::DontNeed);
            }
        }
    }
}
