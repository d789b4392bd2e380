//! Asks for permission to write to each file and device of a plan.
//!
//! Data in: the plan, what the user allowed by name. Data out: permissions to be kept while the run goes on, or all
//! refusals. It must not decide: that is `observe::safety`'s.

use crate::args::Settings;
use fathom_engine::plan::{FileAction, Plan};
use fathom_observe::SystemRoot;
use fathom_observe::safety::{self, Allowed, Change, Permission, Refusal, WriteRequest};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Permissions for all that the plan writes to; they hold block devices exclusively until they are dropped.
///
/// # Errors
/// Every path that may not be written to, with the reason: the user should learn of all at once.
pub(crate) fn permit(
    system: &SystemRoot,
    plan: &Plan,
    settings: &Settings,
) -> Result<Vec<Permission>, Vec<Refusal>> {
    // One by one, and nothing held yet: two names of one device would stand in each other's way.
    let refusals = ask_all(plan, settings, |request| safety::check(system, request).err());
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let paths: Vec<PathBuf> = written(plan).map(|action| action.path.clone()).collect();
    // Each signature was confirmed above.
    let allowed = Allowed {
        overwrite: &settings.allow_overwrite,
        signature: true,
    };
    safety::check_all(system, &paths, allowed).map_err(|refusal| vec![refusal])
}

/// The refusals that [`permit`] would give, for a run that is only planned.
pub(crate) fn foresee(system: &SystemRoot, plan: &Plan, settings: &Settings) -> Vec<Refusal> {
    ask_all(plan, settings, |request| safety::foresee(system, request).err())
}

fn ask_all(
    plan: &Plan,
    settings: &Settings,
    ask: impl Fn(WriteRequest<'_>) -> Option<Refusal>,
) -> Vec<Refusal> {
    let confirmed = |path: &Path| settings.allow_signature.iter().any(|named| same(named, path));
    let of_action = |action: &FileAction| {
        ask(WriteRequest {
            path: &action.path,
            allow_overwrite: &settings.allow_overwrite,
            allow_signature: confirmed(&action.path),
            change: change(action),
        })
    };
    written(plan).filter_map(of_action).collect()
}

fn written(plan: &Plan) -> impl Iterator<Item = &FileAction> {
    plan.files.iter().filter(|action| action.touches())
}

/// A file that only has to grow keeps what it holds.
fn change(action: &FileAction) -> Change {
    if action.changes_size() && !action.writes {
        Change::Extend(action.size_needed)
    } else {
        Change::Overwrite
    }
}

/// Whether two paths lead to the same file, or to nodes of the same device.
fn same(a: &PathBuf, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) else {
        return false;
    };
    let is_device = |metadata: &std::fs::Metadata| metadata.rdev() != 0;
    if is_device(&a) && is_device(&b) {
        return a.rdev() == b.rdev() && a.file_type() == b.file_type();
    }
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(test)]
mod tests;
