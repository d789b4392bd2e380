//! The command line of `fathom fio`: fathom's own flags, then fio's words as they are.
//!
//! Data in: what clap matched. Data out: [`FioArgs`]. It must not know fio's flags.

use super::run::{ON, Permissions};
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "\
Runs fio's own command line with fio's outputs, logs and exits, for the scripts and parsers that expect them: job files, or \
--name=NAME and the options of a job behind it, and fio's settings (--output-format, --minimal, --output, --section, \
--status-interval, --client, --server and so on). Called through a link of the name fio, the program is this command. It ends \
with the number of jobs that failed, 1 where nothing could be begun, 128 after a signal. No run directory is kept. What is \
refused for safety a script may allow: FATHOM_ALLOW_OVERWRITE=PATH:PATH names files, folders and devices.";

const EXAMPLES: &str = "\
Examples:
  fathom fio --name=a --rw=randread --bs=4k --size=1g --direct=1 --filename=F
  fathom fio --on model:azure/P15 --name=a --rw=randread --bs=4k --size=1g --direct=1
  ln -s \"$(command -v fathom)\" ~/bin/fio && fio --output-format=json jobs.fio
  fathom fio --server --key ~/.fio-key      on each machine, then on one:
  fathom fio --key ~/.fio-key --client=box1 jobs.fio --client=box2 jobs.fio";

/// Run fio's own command line
#[derive(Debug, Args)]
#[group(skip)]
#[command(
    long_about = ABOUT,
    after_help = EXAMPLES,
    override_usage = "fathom fio [--on TARGET] [--allow-overwrite PATH] [--force] FIO-ARGS...",
    disable_help_flag = true
)]
pub(crate) struct FioArgs {
    /// What to measure: a file, a directory, a device, null: or model:NAME
    #[arg(long, value_name = "TARGET", long_help = ON, value_hint = ValueHint::AnyPath)]
    pub on: Option<OsString>,
    /// Take modelled disks from this catalogue, not the built-in one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub catalog: Option<PathBuf>,
    #[command(flatten)]
    pub permissions: Permissions,
    /// Replace files that are there (regular files only)
    #[arg(long)]
    pub force: bool,
    /// The key that clients and servers share, for --client and --server [default: the environment's]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,
    /// As fio takes them
    #[arg(value_name = "FIO-ARGUMENTS", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// The whole command line, for the record.
    #[arg(skip)]
    pub recorded: Vec<String>,
    /// Whether the program was called by the name `fio`.
    #[arg(skip)]
    pub as_fio: bool,
}
