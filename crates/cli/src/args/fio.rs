//! The command line of `fathom fio`: fathom's own flags, then fio's words as they are.
//!
//! Data in: what clap matched. Data out: [`FioArgs`]. It must not know fio's flags.

use super::Permissions;
use super::run::ON;
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "\
Runs fio's own command line: job files, or --name=NAME and the options of a job behind it, and the settings of fio that \
make sense here (--section, --output, --parse-only, --readonly, --eta=never, --warnings-fatal, --cmdhelp). The report is \
fathom's; no run directory is kept.";

const EXAMPLES: &str = "\
Examples:
  fathom fio --name=a --rw=randread --bs=4k --size=1g --direct=1 --filename=F
  fathom fio --on model:azure/P15 --name=a --rw=randread --bs=4k --size=1g --direct=1";

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
    /// The key that clients and servers share, for --client and --server [default: $FATHOM_FIO_KEY]
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
