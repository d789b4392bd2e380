//! How far earlier runs came that wrote what is to be verified (`verify_state_load`).
//!
//! Data in: jobs as resolved. Data out: the same jobs with what the state files say. It must not know what is done with it.

use anyhow::{Context, bail};
use fathom_core::workload::Workload;
use fathom_dialect::state::{STATE_BYTES_MAX, read_state, state_name};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads the state files in `directory` that the jobs ask for.
///
/// # Errors
/// One cannot be read, is none, or is of an order that fathom does not repeat.
pub(crate) fn attach(workload: &mut Workload, directory: &Path) -> anyhow::Result<()> {
    let mut index = 0;
    for job in &mut workload.jobs {
        let first = index;
        index += job.numjobs as usize;
        let Some(verify) = job.verify.as_mut().filter(|verify| verify.loads_state) else {
            continue;
        };
        verify.written.clear();
        for worker in first..index {
            let path = directory.join(state_name(&job.name, worker));
            let shown = path.display();
            let mut bytes = Vec::new();
            File::open(&path)
                .and_then(|file| file.take(STATE_BYTES_MAX).read_to_end(&mut bytes))
                .with_context(|| {
                    format!(
                        "{}: verify_state_load: cannot read {shown}: it is left by the run that wrote (fathom fio, in \
                         its working directory or --aux-path), for a job of the same name and number",
                        job.name
                    )
                })?;
            let state = read_state(&bytes);
            let state = state
                .map_err(|wrong| anyhow::anyhow!("{}: verify_state_load: {shown}: {wrong}", job.name))?;
            if state.is_of_random_order && job.pattern.random {
                bail!(
                    "{}: verify_state_load: {shown} was written by fio, of a random order that fathom does not repeat: \
                     verify it with fio, or write in sequence",
                    job.name
                );
            }
            verify.written.push(state.written);
        }
    }
    Ok(())
}
