//! The command line of `fathom record`.
//!
//! Data in: what clap matched. Data out: what was typed. It must not know devices, nor how a command is run.

use super::evidence::{RECORD, streams};
use super::serve::ServeArgs;
use crate::terminal::Colour;
use clap::{Args, ValueEnum, ValueHint};
use fathom_core::units::Nanos;
use fathom_session::Streams;
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "\
Watches a device without any load of its own: every request that the kernel sends to it, the system's counters each \
second, and who ran while a request was slow. `fathom explain` then says what limits the device and where each spike \
came from. Ctrl-C ends it; a recording that was killed is read as it is.

With a command behind -- it watches while that command runs, and says what became of its time: how long it ran, what it read \
and wrote by the kernel's account, whose I/O at the device was its own (with all that it started, and what the kernel wrote \
for it) and whose was others', whether it was on a CPU, wanted one, or waited for I/O. Ctrl-C is passed on to the command, \
and the recording ends with it. The command reads what this program is given to read where that is no terminal and it runs \
once, else nothing.";

const EXAMPLES: &str = "\
Examples:
  fathom record --device /dev/nvme0n1 --duration 24h -o runs/production
  fathom record --device /var/lib/postgresql --record=counters
  fathom record -- tar -xf /backup/src.tar -C /mnt/disk
  fathom record --device /mnt/disk -o runs/restore -- pg_restore -d db dump
  fathom record --repeat 5 --warmup 1 --output-of-command null -- make -j8
  cold each time: the page cache is dropped before each run, and not timed
    fathom record --repeat 5 --sync -o runs/cold \\
      --prepare 'sync; echo 3 > /proc/sys/vm/drop_caches' \\
      --cleanup 'rm -rf /mnt/disk/src' -- tar -xf src.tar -C /mnt/disk
    fathom explain runs/cold/1";

/// What a device is watched by, unless something else is said.
const WATCHED: &str = "block,counters";

/// Watch a device, or a command: every request, counters, who ran
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    /// The device: its node, or a file or directory that lies on it [default with a command: of the current directory]
    #[arg(long, value_name = "DEVICE", value_hint = ValueHint::AnyPath, required_unless_present = "line")]
    pub device: Option<PathBuf>,
    /// How long, as 90s, 15m, 24h, 7d [default: until Ctrl-C, or the end of the command]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration, conflicts_with = "line")]
    pub duration: Option<Nanos>,
    /// Keep only some of: block, counters
    #[arg(long = "record", value_name = "STREAMS", long_help = RECORD, value_parser = streams)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = WATCHED)]
    #[arg(default_value = WATCHED, hide_default_value = true)]
    pub streams: Streams,
    /// What reports call it, before what the system says of it: the claim or the database that it is
    #[arg(long, value_name = "NAME")]
    pub called: Option<String>,
    /// Keep the recording here [default: fathom-runs/TIME-DEVICE]
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    /// No progress and no notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub serve: ServeArgs,
    #[command(flatten)]
    pub repeats: RepeatArgs,
    /// The command, with its arguments
    #[arg(last = true, id = "line", value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub line: Vec<OsString>,
    /// The command line, word by word, for the record.
    #[arg(skip)]
    pub words: Vec<String>,
}

/// How a command is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "With a command")]
pub(crate) struct RepeatArgs {
    /// Run it so many times, each recorded in a directory of its own
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        hide_default_value = true,
        requires = "line"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Run it so many times before, without looking
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        requires = "line"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub warmup: u32,
    /// A line for /bin/sh before each run, not timed
    #[arg(long, value_name = "LINE", requires = "line")]
    pub prepare: Option<String>,
    /// A line for /bin/sh after each run, not timed
    #[arg(long, value_name = "LINE", requires = "line")]
    pub cleanup: Option<String>,
    /// After each run, write out what it left in the page cache, and count whose that was; not part of its time
    #[arg(long, requires = "line")]
    pub sync: bool,
    /// Go on where the command ends with another exit code than 0, and do not take it for an error
    #[arg(short, long, requires = "line")]
    pub ignore_failure: bool,
    /// Where what it prints goes [default: inherit; with --json its stdout goes to stderr]
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "inherit",
        hide_default_value = true,
        requires = "line"
    )]
    pub output_of_command: OutputOfCommand,
    /// Print the results as one JSON document
    #[arg(long, requires = "line")]
    pub json: bool,
    /// Colours in the report [default: auto]
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    pub colour: Colour,
}

/// Where what a command prints goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputOfCommand {
    /// Where that of this program goes
    Inherit,
    /// Nowhere
    Null,
}
