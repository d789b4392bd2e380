//! The command line of `fathom report`.
//!
//! Data in: what clap matched. Data out: [`ReportArgs`].

use clap::{Args, ValueHint};
use std::path::PathBuf;

const ABOUT: &str = "\
Writes a report of a run or of a sweep, from its directory alone: a page with charts that needs no network (.html), tables and text (.md), \
or one table of data (.csv). Of a recorded run, it has what `fathom explain` finds.";

const EXAMPLES: &str = "\
Examples:
  fathom report runs/first -o first.html
  fathom report day -o day.html -o day.md -o day.csv
  fathom report day -o day.html --published azure-a2-2016";

/// Write a report of a run or a sweep: HTML with charts, Markdown, CSV
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// The directory of a run or of a sweep
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Where to: FILE.html, FILE.md or FILE.csv (repeatable)
    #[arg(short, long = "output", value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub outputs: Vec<PathBuf>,
    /// Put the published figures of this experiment beside a sweep's [default: those of the sweep's name]
    #[arg(long, value_name = "EXPERIMENT|DIR")]
    pub published: Option<String>,
    /// Leave out what fathom explain finds in a recorded run
    #[arg(long)]
    pub no_explain: bool,
    /// Replace files that are there (regular files only)
    #[arg(long)]
    pub force: bool,
    /// No notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
}
