//! The command line of `fathom diskspd`: fathom's own flags, then diskspd's words as they are.
//!
//! Data in: what clap matched. Data out: [`DiskspdArgs`]. It must not know diskspd's flags.

use super::run::Permissions;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use fathom_dialect::diskspd::Dialect;
use std::path::PathBuf;

const ABOUT: &str = "\
Runs diskspd's command line and prints diskspd's results, as text or XML. fathom's own flags have two dashes. \
`fathom diskspd -?` lists diskspd's flags with how far each is carried out.";

const EXAMPLES: &str = "\
Examples:
  fathom diskspd -b8K -d60 -o32 -t4 -r -w20 -Sh -L -c1G /mnt/disk/data.bin
  fathom diskspd -b64K -d300 -W60 -L -D -Rxml /mnt/disk/data.bin > result.xml
  fathom diskspd --on model:azure/P15 -b8K -d86400 -h -L -o32 -c50G data.bin
  fathom diskspd --dialect linux -xk -Sd -b4K -d10 data.bin";

/// Run diskspd's own command line, with diskspd's results
#[derive(Debug, Args)]
#[group(skip)]
#[command(
    long_about = ABOUT,
    after_help = EXAMPLES,
    override_usage = "fathom diskspd [--FLAGS] DISKSPD-ARGUMENTS...",
    disable_help_flag = true
)]
pub(crate) struct DiskspdArgs {
    /// Whose command line it is: windows or linux [default: a form that only the Linux port has decides]
    #[arg(long, value_name = "WHOSE", value_parser = dialect(), default_value = "auto", hide_default_value = true)]
    pub dialect: Dialect,
    /// Put the targets into this directory, take this file or device in place of the only one, or run on a modelled disk
    /// (model:azure/P15), in virtual time
    #[arg(long, value_name = "TARGET")]
    pub on: Option<String>,
    /// Keep the run directory here, for fathom show and fathom report [default: nowhere]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub keep: Option<PathBuf>,
    /// No progress and no notes on stderr
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub permissions: Permissions,
    /// As diskspd takes them
    #[arg(value_name = "DISKSPD-ARGUMENTS", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// The whole command line, for the record.
    #[arg(skip)]
    pub recorded: Vec<String>,
}

fn dialect() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(["auto", "windows", "linux"]).map(|word| match word.as_str() {
        "windows" => Dialect::Windows,
        "linux" => Dialect::Linux,
        _ => Dialect::Auto,
    })
}

/// The command line without the place of the record, which is no part of it.
pub(super) fn without_keep(mut words: impl Iterator<Item = String>) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--keep" => drop(words.next()),
            word if word.starts_with("--keep=") => {}
            _ => told.push(word),
        }
    }
    told
}
