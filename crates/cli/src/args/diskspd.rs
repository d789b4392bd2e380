//! The command line of `fathom diskspd`: fathom's own flags, then diskspd's words as they are.
//!
//! Data in: matched words. Data out: [`DiskspdArgs`]. It must not know diskspd's flags.

use super::definition::{allow_overwrite, allow_signature, switch};
use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
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

/// `fathom diskspd`.
#[derive(Debug)]
pub(crate) struct DiskspdArgs {
    /// diskspd's words.
    pub words: Vec<String>,
    /// Whose they are.
    pub dialect: Dialect,
    /// A modelled disk to run on.
    pub on: Option<String>,
    /// Keep the runs here.
    pub keep: Option<PathBuf>,
    /// `--allow-overwrite`.
    pub allow_overwrite: Vec<PathBuf>,
    /// `--allow-overwrite-signature`.
    pub allow_signature: Vec<PathBuf>,
    /// No progress and no notes.
    pub quiet: bool,
    /// The whole command line, for the record.
    pub recorded: Vec<String>,
}

/// Its definition.
pub(super) fn command() -> Command {
    Command::new("diskspd")
        .about("Run diskspd's own command line, with diskspd's results")
        .long_about(ABOUT)
        .after_help(EXAMPLES)
        .override_usage("fathom diskspd [--FLAGS] DISKSPD-ARGUMENTS...")
        .disable_help_flag(true)
        .arg(
            Arg::new("dialect")
                .long("dialect")
                .value_name("WHOSE")
                .help("Whose command line it is: windows or linux [default: a form that only the Linux port has decides]")
                .value_parser(["auto", "windows", "linux"]),
        )
        .arg(
            Arg::new("on")
                .long("on")
                .value_name("TARGET")
                .help(
                    "Put the targets into this directory, take this file or device in place of the only one, or run on a \
                     modelled disk (model:azure/P15), in virtual time",
                ),
        )
        .arg(
            Arg::new("keep")
                .long("keep")
                .value_name("DIR")
                .help("Keep the run directory here, for fathom show and fathom report [default: nowhere]")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::DirPath),
        )
        .arg(switch("quiet", "No progress and no notes on stderr"))
        .arg(allow_overwrite())
        .arg(allow_signature())
        .arg(
            Arg::new("words")
                .value_name("DISKSPD-ARGUMENTS")
                .help("As diskspd takes them")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true),
        )
}

/// The command line without the place of the record, which is no part of it.
fn without_keep(words: Vec<String>) -> Vec<String> {
    let mut told = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--keep" => drop(words.next()),
            word if word.starts_with("--keep=") => {}
            _ => told.push(word),
        }
    }
    told
}

/// What was typed.
pub(super) fn read(matches: &ArgMatches, recorded: Vec<String>) -> DiskspdArgs {
    DiskspdArgs {
        words: matches
            .get_many::<String>("words")
            .unwrap_or_default()
            .cloned()
            .collect(),
        dialect: match matches.get_one::<String>("dialect").map(String::as_str) {
            Some("windows") => Dialect::Windows,
            Some("linux") => Dialect::Linux,
            _ => Dialect::Auto,
        },
        on: matches.get_one::<String>("on").cloned(),
        keep: matches.get_one::<PathBuf>("keep").cloned(),
        allow_overwrite: super::paths(matches, "allow-overwrite"),
        allow_signature: super::paths(matches, "allow-overwrite-signature"),
        quiet: matches.get_flag("quiet"),
        recorded: without_keep(recorded),
    }
}
