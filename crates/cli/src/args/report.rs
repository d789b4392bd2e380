//! The command line of `fathom report`.
//!
//! Data in: matched words. Data out: [`ReportArgs`].

use super::definition::{directory, force, switch};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use std::path::PathBuf;

const ABOUT: &str = "\
Writes a report of a run or of a sweep, from its directory alone: a page with charts that needs no network (.html), tables and text (.md), \
or one table of data (.csv). Of a recorded run, it has what `fathom explain` finds.";

const EXAMPLES: &str = "\
Examples:
  fathom report runs/first -o first.html
  fathom report day -o day.html -o day.md -o day.csv
  fathom report day -o day.html --published azure-a2-2016";

/// `fathom report`.
#[derive(Debug)]
pub(crate) struct ReportArgs {
    /// The directory of a run or of a sweep.
    pub dir: PathBuf,
    /// The files to write.
    pub outputs: Vec<PathBuf>,
    /// The experiment whose published figures go beside a sweep's.
    pub published: Option<String>,
    /// No explanation, which reads the whole record.
    pub no_explain: bool,
    /// Replace files that are there.
    pub force: bool,
    /// No notes on stderr.
    pub quiet: bool,
}

/// Its definition.
pub(super) fn command() -> Command {
    Command::new("report")
        .about("Write a report of a run or a sweep: HTML with charts, Markdown, CSV")
        .long_about(ABOUT)
        .after_help(EXAMPLES)
        .arg(directory("The directory of a run or of a sweep"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .help("Where to: FILE.html, FILE.md or FILE.csv (repeatable)")
                .required(true)
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath),
        )
        .arg(
            Arg::new("published")
                .long("published")
                .value_name("EXPERIMENT|DIR")
                .help("Put the published figures of this experiment beside a sweep's [default: those of the sweep's name]"),
        )
        .arg(switch("no-explain", "Leave out what fathom explain finds in a recorded run"))
        .arg(force())
        .arg(switch("quiet", "No notes on stderr").short('q'))
}

/// What was typed.
pub(super) fn read(matches: &ArgMatches) -> ReportArgs {
    ReportArgs {
        dir: super::path(matches, "dir"),
        outputs: super::paths(matches, "output"),
        published: matches.get_one::<String>("published").cloned(),
        no_explain: matches.get_flag("no-explain"),
        force: matches.get_flag("force"),
        quiet: matches.get_flag("quiet"),
    }
}
