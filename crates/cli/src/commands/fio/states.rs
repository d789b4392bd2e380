//! What fio leaves of each job that writes and verifies: how far its writes came.
//!
//! Data in: what each worker did. Data out: files, through the door; an earlier one of the same name is replaced, anything
//! else is not.

use crate::allowed::Allowed;
use crate::commands::fio::out;
use anyhow::Context;
use fathom_core::run::WorkerAccount;
use fathom_core::workload::Workload;
use fathom_dialect::state::{is_state, state_name, write_state};
use fathom_door::output;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The state files of a run: their names, and what they hold.
pub(super) fn of(workload: &Workload, accounts: &[WorkerAccount]) -> Vec<(String, Vec<u8>)> {
    let mut first = 0;
    let mut firsts = Vec::new();
    for job in &workload.jobs {
        firsts.push(first);
        first += job.numjobs as usize;
    }
    let state = |account: &WorkerAccount| {
        let written = account.written.as_ref()?;
        let section = account.job as usize;
        let job = workload.jobs.get(section)?;
        let files = job.files.nrfiles.max(job.files.names.len() as u32).max(1);
        let name = state_name(&job.name, firsts[section] + account.worker as usize);
        Some((name, write_state(written, &job.name, files)))
    };
    accounts.iter().filter_map(state).collect()
}

/// Leaves them in `directory`.
///
/// # Errors
/// One cannot be written, or something else has its name.
pub(super) fn leave(
    states: &[(String, Vec<u8>)],
    directory: &Path,
    force: bool,
    allowed: &Allowed,
) -> anyhow::Result<()> {
    for (name, bytes) in states {
        let path = directory.join(name);
        let replaces = force || allowed.covers(&path) || out::is_one(&path, |_| false) || is_earlier(&path);
        output::leave(&path, bytes, replaces).context("the state of verification")?;
    }
    Ok(())
}

/// Whether a state file is there.
fn is_earlier(path: &Path) -> bool {
    let mut head = Vec::new();
    let found = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let mut read = || File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut head));
    found && read().is_ok() && is_state(&head)
}
