//! A run in fio's own output formats, for the scripts and parsers that read those: normal text, terse lines, JSON.
//!
//! Data in: what each worker did ([`WorkerAccount`]), the workload, how its options were written. Data out: text as fio
//! 3.33 would have printed it. It must not parse options, know the time of day or the machine: the caller says all of that.
//!
//! Where fio's statistics are no statistics (minima and means of a group are sums of its jobs'), they are told as fio tells
//! them; fathom's own report has the true ones.

mod bins;
mod entry;
pub mod eta;
mod json;
pub mod logs;
mod normal;
mod scale;
mod terse;

use entry::Entry;
use fathom_core::run::{DiskSummary, WorkerAccount};
use fathom_core::workload::Workload;

pub use normal::{HeaderJob, capped, laying_out, start_lines};
pub use scale::{Scaled, in_words as scaled};

/// The version of fio whose outputs these are.
pub const VERSION: &str = "fio-3.33";

/// One of fio's formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Normal,
    Terse,
    Json,
    /// JSON with the buckets of the histograms.
    JsonPlus,
}

impl OutputFormat {
    /// The format that fio calls so.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "normal" => Some(Self::Normal),
            "terse" | "minimal" | "csv" => Some(Self::Terse),
            "json" => Some(Self::Json),
            "json+" => Some(Self::JsonPlus),
            _ => None,
        }
    }
}

/// Which formats, in the one order in which fio prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    pub normal: bool,
    pub terse: bool,
    pub json: bool,
    /// Whether JSON has the buckets of the histograms.
    pub json_plus: bool,
    /// Version of terse lines: 2 to 5.
    pub terse_version: u8,
}

impl Default for Formats {
    fn default() -> Self {
        Self {
            normal: true,
            terse: false,
            json: false,
            json_plus: false,
            terse_version: 3,
        }
    }
}

impl Formats {
    /// None but those of a list.
    ///
    /// # Errors
    /// One of them is no format of fio's: its name.
    pub fn only(&mut self, list: &str) -> Result<(), String> {
        let mut chosen = Self {
            normal: false,
            terse_version: self.terse_version,
            ..Self::default()
        };
        for name in list.split(',').filter(|name| !name.is_empty()) {
            match OutputFormat::from_name(name).ok_or_else(|| name.to_owned())? {
                OutputFormat::Normal => chosen.normal = true,
                OutputFormat::Terse => chosen.terse = true,
                OutputFormat::Json => chosen.json = true,
                OutputFormat::JsonPlus => (chosen.json, chosen.json_plus) = (true, true),
            }
        }
        *self = chosen;
        Ok(())
    }
}

/// An option as a job file has it: its canonical name and its value; `None` for a bare one.
pub type WrittenOption = (String, Option<String>);

/// How idle the processors were, where that was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Idleness {
    /// The mean of all; `None`: the run was too short to tell.
    pub system_percent: Option<f64>,
    /// Each by its number, where each was asked for.
    pub cpus: Vec<(u32, f64)>,
    /// How long a fixed piece of work takes, in microseconds.
    pub unit_us_mean: f64,
    pub unit_us_stddev: f64,
}

impl Idleness {
    /// How long the fixed piece of work takes, alone.
    pub fn unit_work(&self) -> String {
        normal::unit_work(self)
    }
}

/// A run, or how far one is.
#[derive(Debug, Clone, Copy)]
pub struct FioRun<'a> {
    pub workload: &'a Workload,
    /// Options for all jobs, in order.
    pub global_options: &'a [WrittenOption],
    /// Those of each job section, in the order of the workload.
    pub job_options: &'a [Vec<WrittenOption>],
    /// Every worker, in the order of sections and workers.
    pub accounts: &'a [WorkerAccount],
    /// What the disks below the targets counted.
    pub disks: &'a [DiskSummary],
    pub idleness: Option<&'a Idleness>,
    /// When this is told: milliseconds since 1970.
    pub now_unix_ms: u64,
    /// The same as `ctime(3)` writes it, without the end of the line.
    pub now_in_words: &'a str,
    /// Since the program began, in nanoseconds.
    pub elapsed_ns: u64,
    /// Seconds left of a run that goes on; `None`: it has ended.
    pub eta_s: Option<u64>,
    /// Whether a client tells it, of its servers.
    pub of_client: bool,
}

impl FioRun<'_> {
    /// All that was asked for, in fio's order: terse lines, JSON, text.
    pub fn render(&self, formats: &Formats) -> String {
        let entries = entry::entries(self);
        let mut text = String::new();
        if formats.terse {
            text += &terse::lines(self, &entries, formats.terse_version);
        }
        if formats.json {
            text += &json::document(self, &entries, formats.json_plus);
        }
        if formats.normal {
            text += &normal::text(self, &entries);
        }
        text
    }

    /// The JSON document of what several machines did: the entries of each with its host, then those of this run, which is
    /// all of them together, where that is more than one.
    pub fn render_clients(&self, clients: &[ClientPart<'_>], formats: &Formats) -> String {
        json::clients(self, clients, formats.json_plus)
    }

    /// The same of text and terse lines: what all machines did together.
    pub fn render_total(&self, formats: &Formats) -> String {
        let entries = entry::entries(self);
        let mut text = String::new();
        if formats.terse {
            text += &terse::lines(self, &entries, formats.terse_version);
        }
        if formats.normal {
            text += &normal::total(self, &entries);
        }
        text
    }

    /// Seconds since the program began, rounded up.
    fn elapsed_s(&self) -> u64 {
        self.elapsed_ns.div_ceil(1_000_000_000)
    }

    /// Whether the counters of disks are to be told: one job that wants them is enough.
    fn tells_disks(&self) -> bool {
        self.workload.jobs.iter().any(|job| job.reporting.disk_util)
    }

    /// The jobs that workers did without failing are none of these.
    pub fn failed_jobs(&self) -> usize {
        self.accounts.iter().filter(|account| account.failed).count()
    }
}

/// What one of several machines did.
#[derive(Debug, Clone, Copy)]
pub struct ClientPart<'a> {
    pub run: FioRun<'a>,
    /// As the user named it.
    pub hostname: &'a str,
    pub port: u16,
}

/// The entries of a run, made once.
type Entries<'a> = [Entry<'a>];

#[cfg(test)]
mod tests;
