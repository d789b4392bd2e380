//! Asks for permission to write to each file and device of a plan, and keeps an eye on them while a load writes.
//!
//! Data in: the plan, what the user allowed by name. Data out: permits to be kept while the run goes on, or all
//! refusals. It must not decide: that is `observe::safety`'s.

use crate::event::{Event, Observer};
use crate::request::How;
use fathom_core::nbd::Uri;
use fathom_door::Permits;
use fathom_engine::backends::nbd::Reader;
use fathom_engine::plan::{FileAction, Kind, Plan};
use fathom_observe::SystemRoot;
use fathom_observe::safety::{self, Change, Refusal, Signature, Watch, WriteRequest, signature};
use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why nothing may be touched: every path that may not be written to, each with its reason.
#[derive(Debug)]
pub struct Refused(pub Vec<Refusal>);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<String> = self
            .0
            .iter()
            .map(|refusal| format!("refused: {refusal}"))
            .collect();
        f.write_str(&reasons.join("; "))
    }
}

impl std::error::Error for Refused {}

/// What may be written to.
#[derive(Debug, Default)]
pub(crate) struct Permitted {
    /// What to write through; devices are held exclusively and files locked until the last of it is dropped.
    pub permits: Arc<Permits>,
    /// The targets that are written to.
    targets: Vec<PathBuf>,
}

/// Permits for all that the plan writes to.
///
/// # Errors
/// Every path that may not be written to, with the reason: the user should learn of all at once.
pub(crate) fn permit(
    system: &SystemRoot,
    plan: &Plan,
    how: &How,
    observer: &mut dyn Observer,
) -> Result<Permitted, Refused> {
    let refusals = refused_of_servers(plan, how);
    let permissions = match (
        safety::check_all(system, &requests(plan, how)),
        refusals.is_empty(),
    ) {
        (Ok(permissions), true) => permissions,
        (Ok(_), false) => return Err(Refused(refusals)),
        (Err(more), _) => return Err(Refused(refusals.into_iter().chain(more).collect())),
    };
    tell_others(system, plan, observer);
    tell_kept(plan, observer);
    let targets = permissions
        .iter()
        .map(|permission| permission.path.clone())
        .collect();
    let by_path = permissions
        .into_iter()
        .map(|permission| (permission.path, permission.permit));
    Ok(Permitted {
        permits: Arc::new(Permits::new(by_path)),
        targets,
    })
}

/// The refusals that [`permit`] would give, for a run that is only planned.
pub(crate) fn foresee(system: &SystemRoot, plan: &Plan, how: &How) -> Result<(), Refused> {
    let mut refusals = refused_of_servers(plan, how);
    if let Err(more) = safety::foresee_all(system, &requests(plan, how)) {
        refusals.extend(more);
    }
    if refusals.is_empty() {
        Ok(())
    } else {
        Err(Refused(refusals))
    }
}

/// What of servers may not be written to: as a block device, it has to be named, and once more where it carries something.
/// Whether somebody else uses it nobody can see from here.
fn refused_of_servers(plan: &Plan, how: &How) -> Vec<Refusal> {
    let named = |list: &[PathBuf], path: &PathBuf| list.contains(path);
    let refused = |action: &FileAction| {
        let path = &action.path;
        if !named(&how.allow_overwrite, path) {
            let uri = path.display().to_string();
            return Some(Refusal::RemoteNotNamed { uri });
        }
        // Objects carry nothing that a disk would.
        if named(&how.allow_signature, path) || action.size_now.is_none() {
            return None;
        }
        match signatures(action) {
            Ok(found) if found.is_empty() => None,
            Ok(found) => Some(Refusal::Signature {
                path: path.clone(),
                found,
            }),
            Err(source) => Some(Refusal::CannotTell {
                path: path.clone(),
                what: String::from("what is on it (reading failed)"),
                source,
            }),
        }
    };
    let remote = written(plan).filter(|action| action.kind == Kind::Remote);
    remote.filter_map(refused).collect()
}

/// What an export carries.
fn signatures(action: &FileAction) -> io::Result<Vec<Signature>> {
    let uri = Uri::parse(&action.path.to_string_lossy()).map_err(io::Error::other)?;
    let mut reader = Reader::connect(&uri)?;
    let size_bytes = action.size_now.unwrap_or(0);
    signature::probe_by(size_bytes, &mut |bytes, offset| {
        reader.read_exact_at(bytes, offset)
    })
}

fn requests<'a>(plan: &'a Plan, how: &'a How) -> Vec<WriteRequest<'a>> {
    let confirmed = |path: &Path| how.allow_signature.iter().any(|named| same(named, path));
    let request = |action: &'a FileAction| WriteRequest {
        path: &action.path,
        allow_overwrite: &how.allow_overwrite,
        allow_signature: confirmed(&action.path),
        change: change(action),
        commands: action.kind == Kind::Commands,
    };
    let local = written(plan).filter(|action| action.kind != Kind::Remote);
    local.map(request).collect()
}

fn written(plan: &Plan) -> impl Iterator<Item = &FileAction> {
    plan.files.iter().filter(|action| action.touches())
}

/// Says of what is only read that another fathom measures it as well: neither's numbers are its own.
fn tell_others(system: &SystemRoot, plan: &Plan, observer: &mut dyn Observer) {
    let read = plan.files.iter().filter(|action| {
        !action.touches() && matches!(action.kind, Kind::Regular | Kind::Block | Kind::Commands)
    });
    for (path, opener) in safety::other_fathoms(system, read.map(|action| action.path.as_path())) {
        observer.event(Event::Shared {
            path,
            pid: opener.pid,
        });
    }
}

/// Says of files that `unlink` names and that are there already that they stay.
fn tell_kept(plan: &Plan, observer: &mut dyn Observer) {
    let unlinked = plan.jobs.iter().filter(|job| job.job.files.unlink);
    let mut paths: Vec<&Path> = unlinked
        .flat_map(|job| job.workers.iter().flat_map(|worker| &worker.files))
        .filter(|file| file.kind == Kind::Regular)
        .map(|file| file.path.as_path())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let there = |path: &Path| {
        let at = plan
            .files
            .binary_search_by(|action| action.path.as_path().cmp(path));
        at.is_ok_and(|at| plan.files[at].size_now.is_some())
    };
    for path in paths.into_iter().filter(|path| there(path)) {
        observer.event(Event::Stays { path });
    }
}

impl Permitted {
    /// An eye on the targets while they are written to.
    pub(crate) fn watch(&self, system: &SystemRoot) -> Watch {
        Watch::new(system, self.targets.iter().cloned())
    }

    /// Files that could not be marked as fathom's.
    pub(crate) fn unmarked(&self) -> Vec<PathBuf> {
        self.permits.unmarked()
    }
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
