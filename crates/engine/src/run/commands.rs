//! Commands of a shell before and after a job, where whoever runs it allows them; whether a job may run a program.
//!
//! Data in: a command. Data out: whether it succeeded. What it prints is not kept.

use super::{Options, RunError};
use fathom_core::workload::{EngineKind, Job};
use std::process::{Command, Stdio};

const NOT_ALLOWED: &str = "commands of job files need --allow-exec";

/// Runs what `job` asks for before it.
///
/// # Errors
/// It is not allowed, could not be started, or did not succeed.
pub(super) fn before(job: &Job, options: &Options) -> Result<(), RunError> {
    if job.engine.kind == EngineKind::Exec && !options.allow_exec {
        return Err(RunError::Command {
            job: job.name.clone(),
            command: job.program.path.clone(),
            how: String::from(NOT_ALLOWED),
        });
    }
    carry_out(job, job.commands.before.as_deref(), options)
}

/// Runs what `job` asks for after it.
///
/// # Errors
/// As [`before`].
pub(super) fn after(job: &Job, options: &Options) -> Result<(), RunError> {
    carry_out(job, job.commands.after.as_deref(), options)
}

fn carry_out(job: &Job, command: Option<&str>, options: &Options) -> Result<(), RunError> {
    let Some(command) = command else { return Ok(()) };
    let failed = |how: String| RunError::Command {
        job: job.name.clone(),
        command: command.to_owned(),
        how,
    };
    if !options.allow_exec {
        return Err(failed(String::from(NOT_ALLOWED)));
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}
