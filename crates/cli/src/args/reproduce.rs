//! The command line of `fathom reproduce`.
//!
//! Data in: matched words. Data out: [`ReproduceArgs`]. It must not know experiments.

use super::definition::{colour as colour_flag, force, switch};
use crate::terminal::Colour;
use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use std::path::PathBuf;

const ABOUT: &str = "\
Carries published experiments out on modelled disks, in virtual time, and prints published against modelled, figure by figure, with the \
deviation and what in the model makes it.";

const EXAMPLES: &str = "\
Examples:
  fathom reproduce aks-2019
  fathom reproduce all --markdown reproduction.md --check
  fathom reproduce ./my-experiment         # experiment.toml, figures.csv, jobs";

/// `fathom reproduce`.
#[derive(Debug)]
pub(crate) struct ReproduceArgs {
    /// Experiments by name, or directories; none: all that are built in.
    pub names: Vec<String>,
    /// Write Markdown to this file, too.
    pub markdown: Option<PathBuf>,
    /// Replace it, where it is there.
    pub force: bool,
    /// JSON on stdout.
    pub json: bool,
    /// Exit 1 where a figure is not within its bound.
    pub check: bool,
    /// No progress.
    pub quiet: bool,
    /// Colours on stdout.
    pub colour: Colour,
}

/// Its definition.
pub(super) fn command() -> Command {
    Command::new("reproduce")
        .about("Carry published experiments out on the disk model and compare")
        .long_about(ABOUT)
        .after_help(EXAMPLES)
        .arg(
            Arg::new("names")
                .value_name("EXPERIMENT|DIR")
                .help("all, aks-2019, azure-a2-2016, premium-24h, raid0-2019, acs-2024, or a directory [default: all]")
                .num_args(0..)
                .value_hint(ValueHint::DirPath),
        )
        .arg(
            Arg::new("markdown")
                .long("markdown")
                .value_name("FILE")
                .help("Write the comparison to this file as Markdown, too")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath),
        )
        .arg(force())
        .arg(switch("json", "Print the comparison as one JSON document"))
        .arg(switch("check", "Exit 1 where a figure is beyond its bound for no known reason"))
        .arg(colour_flag())
        .arg(switch("quiet", "No progress on stderr").short('q'))
}

/// What was typed.
pub(super) fn read(matches: &ArgMatches) -> ReproduceArgs {
    ReproduceArgs {
        names: matches
            .get_many::<String>("names")
            .unwrap_or_default()
            .cloned()
            .collect(),
        markdown: matches.get_one::<PathBuf>("markdown").cloned(),
        force: matches.get_flag("force"),
        json: matches.get_flag("json"),
        check: matches.get_flag("check"),
        quiet: matches.get_flag("quiet"),
        colour: super::colour(matches),
    }
}
