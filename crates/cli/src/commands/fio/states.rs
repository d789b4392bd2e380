//! What fio leaves of each job that writes and verifies: how far its writes came.
//!
//! Data in: what each worker did. Data out: files, through the door; an earlier one of the same name is replaced, anything
//! else is not.

use crate::allowed::Allowed;
use crate::commands::fio::out;
use anyhow::Context;
use fathom_core::run::WorkerAccount;
use fathom_core::workload::Workload;
use fathom_dialect::state::{read_state, state_name, write_state};
use std::path::Path;

/// A state has at most so many bytes: a place for each I/O that may be under way.
const STATE_BYTES_MAX: u64 = 64 << 20;

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
        out::leave_known(&path, bytes, force, allowed, STATE_BYTES_MAX, &is_earlier)
            .context("the state of verification")?;
    }
    Ok(())
}

/// Whether these bytes are a whole state, and nothing else.
fn is_earlier(bytes: &[u8]) -> bool {
    read_state(bytes).is_ok()
}
