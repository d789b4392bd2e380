//! `--trigger`, `--trigger-file`, `--trigger-timeout`: what ends a run, and what is run once it has ended.
//!
//! Data in: settings, the time. Data out: that the moment has come, and the exit of a command. It must not end anything.

use anyhow::{Context, anyhow, bail};
use fathom_core::units::Nanos;
use fathom_dialect::{FioCommand, duration};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// When a run is to be ended, and what comes then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Trigger {
    /// This long after its start.
    after: Option<Nanos>,
    /// Once this file is there.
    file: Option<PathBuf>,
    /// A command for the shell, once the run has ended and its states are kept.
    pub(super) command: Option<String>,
    /// Its moment has come.
    pub(super) fired: bool,
}

impl Trigger {
    /// What the settings ask for; `None`: nothing.
    ///
    /// # Errors
    /// The time is none, or it is for other machines.
    pub(super) fn read(command: &FioCommand) -> anyhow::Result<Option<Self>> {
        let text = |name: &str| command.setting(name).flatten().map(str::to_owned);
        let after = text("trigger-timeout").map(|text| {
            let wrong = |_| anyhow!("--trigger-timeout={text}: write a time, such as 30s");
            duration(&text).map_err(wrong)
        });
        let trigger = Self {
            after: after.transpose()?.filter(|after| !after.is_zero()),
            file: text("trigger-file").map(PathBuf::from),
            command: text("trigger"),
            fired: false,
        };
        let any = trigger != Self::default();
        if any && !command.clients.is_empty() {
            bail!("triggers end runs on this machine: leave them out, and stop the client with Ctrl-C");
        }
        Ok(any.then_some(trigger))
    }

    /// Whether its moment has come, `elapsed` after the start.
    pub(super) fn is_due(&mut self, elapsed: Nanos) -> bool {
        let by_time = self.after.is_some_and(|after| elapsed >= after);
        self.fired |= by_time || self.file.as_deref().is_some_and(Path::exists);
        self.fired
    }

    /// The run that it ended has ended: the file goes, and the command is run.
    ///
    /// # Errors
    /// The file is not empty, or stays; the command could not be started.
    pub(super) fn carry_out(&self) -> anyhow::Result<()> {
        if !self.fired {
            return Ok(());
        }
        if let Some(path) = self.file.as_deref().filter(|path| path.exists()) {
            let empty = path
                .symlink_metadata()
                .is_ok_and(|found| found.is_file() && found.len() == 0);
            if !empty {
                bail!("--trigger-file: {} is no empty file, and stays", path.display());
            }
            fathom_door::own::remove(path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        let Some(command) = &self.command else {
            return Ok(());
        };
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).stdin(Stdio::null());
        shell
            .status()
            .with_context(|| format!("--trigger: `{command}`"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
