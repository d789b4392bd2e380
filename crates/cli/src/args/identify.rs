//! The command line of `fathom identify`.
//!
//! Data in: what clap matched. Data out: [`IdentifyArgs`]. It must not know the catalogue.

use super::run::Permissions;
use super::shown::ShownArgs;
use clap::{Args, ValueHint};
use fathom_core::units::Nanos;
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "\
Finds out what a disk is from few measurements: limits on IOPS and bytes, how they are released, how long I/Os take, whether the \
rates are on credit, and which product of the clouds' catalogues that is. With --claims it says whether the disk delivers what was \
promised. -o writes a model of it, for --on model:FILE.toml. It ends with a load that nothing was fitted to, on the disk and on \
the model, and says how far they are apart.";

// No line is longer than 80 columns: wrapped ones would not be commands any more.
const EXAMPLES: &str = "\
Examples:
  a modelled disk, in virtual time: nothing is touched
    fathom identify model:azure/P30,vm=Standard_D4s_v5
  what a directory's disk is: fathom makes a file of its own there
    fathom identify /mnt/data --size 8g
  whether a disk keeps what was paid for, without writing to it
    fathom identify /dev/nvme1n1 --readonly \\
                    --claims azure/P30,vm=Standard_D4s_v5
  a device that nobody needs any more: all that is on it is lost
    fathom identify /dev/nvme1n1 --allow-overwrite /dev/nvme1n1
  whether its rates are on credit, and how much: full load for 40 minutes
    fathom identify /mnt/data --size 8g --credit --time 40m
  a model of it, and a job file on that model
    fathom identify /mnt/data --size 8g -o mine.toml
    fathom run jobs.fio --on model:mine.toml
  the answer for programs
    fathom identify model:aws/gp3:500GiB --json | jq '.sku.target'";

/// Find out what a disk is: its limits, its model, its product
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = "Examples: fathom identify --help", after_long_help = EXAMPLES)]
pub(crate) struct IdentifyArgs {
    /// The disk: a file, a directory, a device, or model:NAME
    #[arg(value_name = "TARGET", value_hint = ValueHint::AnyPath)]
    pub target: OsString,
    /// What was promised, as azure/P30 or azure/P30,vm=NAME
    #[arg(long, value_name = "LAYOUT")]
    pub claims: Option<String>,
    /// The machine that the disk is attached to, as m6i.xlarge [default: that of --claims, or any]
    #[arg(long, value_name = "NAME")]
    pub vm: Option<String>,
    /// Time for all measurements together [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time: Option<Nanos>,
    /// Find out whether the rates are on credit: full load for all that is left of --time, or until they fall
    #[arg(long)]
    pub credit: bool,
    /// Write nothing to the disk
    #[arg(long)]
    pub readonly: bool,
    /// The size of the file that fathom makes, where there is none: 8g
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Write the model to this file, for --on model:FILE.toml
    #[arg(short, long, value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace that file, where it is there (regular files only)
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Keep the measurements here [default: fathom-runs/TIME-identify]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub keep: Option<PathBuf>,
    /// Compare with this catalogue too, in place of the built-in one of its cloud
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub catalog: Option<PathBuf>,
    #[command(flatten)]
    pub permissions: Permissions,
    /// Print the answer as one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub shown: ShownArgs,
    /// The command line, for the records.
    #[arg(skip)]
    pub words: Vec<String>,
}

/// Less is too little for the measurements that are always made.
const SECONDS_MIN: u64 = 60;

fn time(text: &str) -> Result<Nanos, String> {
    let time = fathom_dialect::duration(text)?;
    if time < Nanos::from_secs(SECONDS_MIN) {
        return Err(format!("at least {SECONDS_MIN}s go here, as in 5m"));
    }
    Ok(time)
}
