//! The command line of `fathom reproduce`.
//!
//! Data in: what clap matched. Data out: [`ReproduceArgs`]. It must not know experiments.

use crate::terminal::Colour;
use clap::{Args, ValueHint};
use std::path::PathBuf;

const ABOUT: &str = "\
Carries published experiments out on modelled disks, in virtual time, and prints published against modelled, figure by figure, with the \
deviation and what in the model makes it.";

const EXAMPLES: &str = "\
Examples:
  fathom reproduce aks-2019
  fathom reproduce all --markdown reproduction.md --check
  fathom reproduce ./my-experiment         # experiment.toml, figures.csv, jobs";

/// Carry published experiments out on the disk model and compare
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// all, aks-2019, azure-a2-2016, premium-24h, raid0-2019, acs-2024, others (what others measured on three clouds), or a directory [default: all]
    #[arg(value_name = "EXPERIMENT|DIR", num_args = 0.., value_hint = ValueHint::DirPath)]
    pub names: Vec<String>,
    /// Write the comparison to this file as Markdown, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// Replace files that are there (regular files only)
    #[arg(long)]
    pub force: bool,
    /// Print the comparison as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Exit 1 where a figure is beyond its bound for no known reason
    #[arg(long)]
    pub check: bool,
    /// Colours in the report [default: auto]
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    pub colour: Colour,
    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,
}
