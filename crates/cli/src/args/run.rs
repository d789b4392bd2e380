//! The command line of `fathom run`, and what it shares with other commands.
//!
//! Data in: what clap matched. Data out: [`RunArgs`]. The options of jobs come from the dialect's table.

use super::evidence::{RECORD, streams};
use super::serve::ServeArgs;
use crate::exit;
use crate::terminal::Colour;
use clap::{Args, ValueHint};
use fathom_dialect::{Override, is_secret};
use fathom_session::{How, Output, Streams};
use std::ffi::OsString;
use std::path::PathBuf;

// No line is longer than 80 columns: wrapped ones would not be commands any more.
pub(super) const EXAMPLES: &str = "\
Examples:
  a job file as it is, and one section of it, on files in /mnt/disk
    fathom run jobs.fio
    fathom run jobs.fio --section randread --on /mnt/disk
  what it would do, with a shorter runtime
    fathom run jobs.fio --runtime 10s --dry-run
  no job file at all
    fathom run --rw randread --bs 4k --iodepth 32 --ioengine io_uring \\
               --direct 1 --size 1g --time_based --runtime 10s FILE
  a device: all that is on it is lost
    fathom run --rw randwrite --direct 1 --on /dev/nvme1n1 --runtime 60 \\
               --time_based --allow-overwrite /dev/nvme1n1
  a cloud disk, modelled: hours of it in seconds, nothing is touched
    fathom run jobs.fio --on model:azure/P15,vm=Standard_D8s_v5
  a run to be looked at again, and where its spikes came from
    fathom run jobs.fio --record -o runs/first && fathom explain runs/first
    fathom show runs/first";

const ABOUT: &str = "\
Runs job files, or a workload given by flags. Each option of a job file is a flag of the same name, which overrides it in \
all sections; `fathom options` lists them all with how far each is carried out.";

const PATHS: &str = "\
Job files (named *.fio, *.ini or *.job, or beginning with a [section]; - is stdin), and at most one target, as for --on. \
Sections of a second job file start when those of the first have ended.";

/// What there is to say of `--on`, of all commands that have it.
pub(super) const ON: &str = "\
What to measure, in place of what the job file names: a file or device (replaces filename), a directory (replaces \
directory, and filename is dropped), null: for no disk at all, which measures fathom itself, or a modelled disk, in \
virtual time: model:azure/P15, model:FILE.toml, or with more words, as model:azure/2xP15,vm=NAME. After [Nx]SKU may \
follow, each after a comma: vm=NAME cache=none|ro|rw cache_size=SIZE size=SIZE iops=N mbps=N \
burst=full|empty|on-demand chunk=SIZE ram=SIZE seed=N. `fathom catalog disks` and `fathom catalog vms` list the names.";

/// How a run is carried out and shown: all that is not the workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Print the workload only.
    pub dry_run: bool,
    /// JSON on stdout.
    pub json: bool,
    /// No progress and no notes.
    pub quiet: bool,
    /// Colours on stdout.
    pub colour: Colour,
    /// The run directory.
    pub output: Output,
    /// How it is carried out.
    pub how: How,
    /// Write the report to this file, not to stdout.
    pub report: Option<PathBuf>,
    /// Replace that file, where it is there.
    pub force: bool,
    /// Who may look while it goes on.
    pub serve: ServeArgs,
}

impl Settings {
    /// The same, watched by whom `serve` says.
    pub(crate) fn served(mut self, serve: &ServeArgs) -> Self {
        self.how.watched = serve.serve.is_some();
        self.serve = serve.clone();
        self
    }

    /// Whether a report on stdout has the warnings: each is said once.
    pub(crate) fn report_follows(&self) -> bool {
        !self.json && self.report.is_none()
    }
}

/// What may be overwritten.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Permissions {
    /// Allow to overwrite this device or file, although fathom did not make it (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Safety", value_hint = ValueHint::AnyPath)]
    allow_overwrite: Vec<PathBuf>,
    /// Allow that even though a file system or partition table is on it (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Safety", value_hint = ValueHint::AnyPath)]
    allow_overwrite_signature: Vec<PathBuf>,
    /// Allow jobs to run the commands and programs that they name
    #[arg(long = "allow-exec", help_heading = "Safety", hide_short_help = true)]
    exec: bool,
}

/// The command line for the record: what is secret in it is left out.
fn without_secrets(mut command: Vec<String>) -> Vec<String> {
    let mut hides_next = false;
    for word in &mut command {
        if std::mem::take(&mut hides_next) {
            *word = String::from("…");
        }
        let Some(flag) = word.strip_prefix("--") else {
            continue;
        };
        match flag.split_once('=') {
            Some((name, _)) if is_secret(name) => *word = format!("--{name}=…"),
            None => hides_next = is_secret(flag),
            Some(_) => {}
        }
    }
    command
}

impl Permissions {
    /// A measurement with these; `command`: the command line.
    pub(crate) fn how(&self, streams: Streams, command: Vec<String>) -> How {
        How {
            streams,
            allow_overwrite: self.allow_overwrite.clone(),
            allow_signature: self.allow_overwrite_signature.clone(),
            allow_exec: self.exec,
            command: without_secrets(command),
            called: None,
            watched: false,
        }
    }
}

/// Run job files, or a workload given by flags
#[derive(Debug, Args)]
#[group(skip)]
#[command(
    next_line_help = false,
    long_about = ABOUT,
    after_help = "All flags: fathom run --help. One option: fathom options NAME.",
    after_long_help = format!("{}\n\n{}", EXAMPLES, exit::sentence()),
    override_usage = "fathom run [FLAGS] [JOBFILE]... [TARGET]"
)]
pub(crate) struct RunArgs {
    /// Job files, and at most one target: a file, a directory or a device
    #[arg(value_name = "JOBFILE|TARGET", long_help = PATHS, num_args = 0.., value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// Options of the table, in the order typed.
    #[arg(skip)]
    pub overrides: Vec<Override>,
    /// What to measure: a file, a directory, a device, null: or model:NAME
    #[arg(long, value_name = "TARGET", long_help = ON, value_hint = ValueHint::AnyPath)]
    pub on: Option<OsString>,
    /// Take modelled disks from this catalogue, not the built-in one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub catalog: Option<PathBuf>,
    /// Run only this section (repeatable)
    #[arg(long = "section", value_name = "NAME")]
    pub sections: Vec<String>,
    /// Show what would be done, and whether it would be refused; touch nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the results as one JSON document
    #[arg(long)]
    json: bool,
    /// Keep the run here [default: fathom-runs/TIME-JOB]; none: nowhere
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Use libaio in the place of `io_uring` where the kernel lets nobody have that, as in many containers; it is said and recorded
    #[arg(long, hide_short_help = true)]
    pub libaio_if_blocked: bool,
    /// Keep no run directory, as -o none
    #[arg(long, conflicts_with_all = ["output", "record"], hide_short_help = true)]
    no_record: bool,
    /// Keep every I/O, every request, counters, for fathom explain
    #[arg(long, value_name = "STREAMS", long_help = RECORD, value_parser = streams)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "io,block,counters")]
    record: Option<Streams>,
    #[command(flatten)]
    permissions: Permissions,
    #[command(flatten)]
    serve: ServeArgs,
    /// Colours in the report [default: auto]
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_short_help = true
    )]
    colour: Colour,
    /// No progress and no notes on stderr
    #[arg(short, long)]
    quiet: bool,
    /// What all that comes to.
    #[arg(skip)]
    pub settings: Settings,
}

impl RunArgs {
    /// Makes the settings of what was typed; `words`: the command line.
    pub(super) fn settle(&mut self, words: Vec<String>) {
        self.settings = Settings {
            dry_run: self.dry_run,
            json: self.json,
            quiet: self.quiet,
            colour: self.colour,
            output: if self.no_record {
                Output::None
            } else {
                output(self.output.take())
            },
            how: self.permissions.how(self.record.unwrap_or_default(), words),
            ..Settings::default()
        }
        .served(&self.serve);
    }
}

/// What `-o` says.
pub(super) fn output(typed: Option<PathBuf>) -> Output {
    match typed {
        Some(dir) if dir.as_os_str() == "none" => Output::None,
        Some(dir) => Output::Directory(dir),
        None => Output::Default,
    }
}
