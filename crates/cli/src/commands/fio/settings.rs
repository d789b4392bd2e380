//! What fio is told about its outputs: the settings of a command line as resolved.
//!
//! Data in: settings as typed. Data out: [`Outputs`], or what fio would say of a wrong one. It must not know jobs.

use super::idle;
use fathom_core::units::Nanos;
use fathom_dialect::{FioCommand, Override, duration};
use fathom_report::fio::Formats;
use std::path::PathBuf;

/// When the line of a run under way is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Eta {
    /// On a terminal.
    #[default]
    Auto,
    Always,
    Never,
}

/// Where results go, and how they look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outputs {
    pub formats: Formats,
    /// `None`: stdout.
    pub to: Option<PathBuf>,
    pub eta: Eta,
    /// How often the line is drawn.
    pub eta_interval: Nanos,
    /// How often it gets a line of its own.
    pub eta_newline: Option<Nanos>,
    /// How often all results so far are told.
    pub status_interval: Option<Nanos>,
    /// What the names of logs of the whole bandwidth begin with.
    pub bandwidth_log: Option<String>,
    /// Whether it is told how idle the processors were.
    pub idle: Option<idle::Wanted>,
}

impl Default for Outputs {
    fn default() -> Self {
        Self {
            formats: Formats::default(),
            to: None,
            eta: Eta::Auto,
            eta_interval: Nanos::from_secs(1),
            eta_newline: None,
            status_interval: None,
            bandwidth_log: None,
            idle: None,
        }
    }
}

/// What the settings come to.
///
/// # Errors
/// What fio would say.
pub(super) fn outputs(command: &FioCommand) -> Result<Outputs, String> {
    let mut outputs = Outputs::default();
    for setting in &command.settings {
        take(&mut outputs, setting)?;
    }
    outputs.idle = idle::wanted(command)?;
    Ok(outputs)
}

fn take(outputs: &mut Outputs, setting: &Override) -> Result<(), String> {
    let value = setting.value.as_deref().unwrap_or_default();
    match setting.name.as_str() {
        "output-format" => outputs.formats.only(value).map_err(|unknown| {
            format!("fio: invalid output format {unknown}\nfio: failed parsing output-format")
        })?,
        "minimal" => {
            let mut formats = outputs.formats;
            (formats.normal, formats.terse, formats.json) = (false, true, false);
            outputs.formats = formats;
        }
        "append-terse" => outputs.formats.terse = true,
        "terse-version" => match value.parse() {
            Ok(version @ 2..=5) => outputs.formats.terse_version = version,
            _ => return Err(String::from("fio: bad terse version format")),
        },
        // What stands for stdout is stdout.
        "output" => outputs.to = Some(PathBuf::from(value)).filter(|path| path.as_os_str() != "/dev/stdout"),
        "eta" => match value {
            "auto" => outputs.eta = Eta::Auto,
            "always" => outputs.eta = Eta::Always,
            "never" => outputs.eta = Eta::Never,
            // fio takes any other word without one of its own.
            _ => {}
        },
        "eta-interval" => outputs.eta_interval = time(value)?.max(Nanos::from_millis(250)),
        "eta-newline" => outputs.eta_newline = Some(time(value)?),
        "status-interval" => outputs.status_interval = Some(time(value)?),
        "bandwidth-log" => {
            let prefix = if value.is_empty() { "agg" } else { value };
            outputs.bandwidth_log = Some(prefix.to_owned());
        }
        _ => {}
    }
    Ok(())
}

/// A time; a plain number is seconds.
fn time(text: &str) -> Result<Nanos, String> {
    duration(text).map_err(|_| format!("fio: failed parsing time {text}"))
}

/// What becomes of a setting of fio's that is not about outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is carried out, or changes nothing here.
    Accepted,
    /// It cannot be done; what to do instead.
    Refused(&'static str),
}

pub(super) fn fate(name: &str) -> Fate {
    match name {
        "trigger-remote" => Fate::Refused("leave it out: stop the client with Ctrl-C, and its servers end"),
        "remote-config" => Fate::Refused("it belongs to --client, which stands before it"),
        "merge-blktrace-only" => Fate::Refused("leave it out: traces are not merged"),
        "crctest" | "cpuclock-test" => Fate::Refused("leave it out: it tests nothing of fathom"),
        _ => Fate::Accepted,
    }
}

#[cfg(test)]
mod tests;
