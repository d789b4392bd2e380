//! The command line of `fathom compare`.
//!
//! Data in: what clap matched. Data out: [`CompareArgs`]. It must not look at files.

use crate::terminal::Colour;
use clap::{Args, ValueEnum, ValueHint};
use fathom_analysis::compare::{Better, Field, Grade, Rule};
use std::path::PathBuf;

const ABOUT: &str = "\
Compares two sides, each of one or more runs, sweeps, recordings, recorded commands, or columns of numbers: of each figure the difference with its 95 % \
interval, and whether there is one, none was shown, or there are too few repeats to tell. A repeat (a run, a number) is the unit; \
five a side are a good beginning. What is no comparison is refused: another block size, pattern or depth, a cache on one side only.";

// No line is longer than 80 columns: wrapped ones would not be commands any more.
const EXAMPLES: &str = "\
Examples:
  five runs of each of two disks
    fathom compare old/1 old/2 old/3 old/4 old/5 --with new/1 new/2 new/3 \\
                   new/4 new/5
  all runs in two directories, on a page with charts
    fathom compare runs/old --with runs/new -o compared.html
  two storage classes of a fleet whose records are in object storage
    fathom compare s3://bench/fleet/class=fast --with s3://bench/fleet/class=slow
  two sweeps, point by point
    fathom compare sweep-a --with sweep-b
  a restore, five times on each of two disks
    fathom record --repeat 5 -o on-a -- ./restore.sh /mnt/a
    fathom record --repeat 5 -o on-b -- ./restore.sh /mnt/b
    fathom compare on-a --with on-b --fail-if 'time > +5%'
  times of something else: a number a line, or a column of a table
    fathom compare acs.txt --with disk.txt --unit s
    fathom compare times.csv:acs --with times.csv:disk --names ACS,disk
  in CI: fail if p99 is shown to have risen by more than 5 %
    fathom compare base/* --with new/* --fail-if 'p99 > +5%' \\
                   --fail-if 'read.iops < -3%' -o compared.xml -o compared.md
  with a host cache and without, where that is the question
    fathom compare plain --with cached --despite host-cache
  the verdicts, for programs
    fathom compare a --with b --json | jq -r '.figures[].text'";

/// Which way numbers are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BetterWord {
    Higher,
    Lower,
}

/// Compare two sides: what differs, by how much, how sure that is
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = "Examples: fathom compare --help", after_long_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Side A: directories of runs or sweeps, directories of such, runs in object storage (`s3://…/class=fast`), files of numbers
    /// (`FILE` or `FILE:COLUMN`)
    #[arg(value_name = "A", required = true, num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub a: Vec<PathBuf>,
    /// Side B, likewise
    #[arg(long = "with", value_name = "B", required = true, num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub b: Vec<PathBuf>,
    /// What the sides are called [default: A,B]
    #[arg(long, value_name = "A,B", value_parser = names)]
    pub names: Option<(String, String)>,
    /// The difference that matters: by it "none shown" and "too few repeats" are told apart [default: 10%]
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "10%", hide_default_value = true)]
    pub margin: f64,
    /// Compare although this differs, because it is the question (repeatable, or with commas): see what is refused
    #[arg(long, value_name = "CONDITION", value_parser = condition, value_delimiter = ',')]
    pub despite: Vec<Field>,
    /// Of files of numbers: their unit
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// Of files of numbers: which way is better [default: lower, where --unit is a time]
    #[arg(long, value_name = "WAY")]
    pub better: Option<BetterWord>,
    /// Exit with 1 if this is shown, as 'p99 > +5%' or 'read.iops < -3%' (repeatable). Figures: iops, mbps, mean, p50,
    /// p99, p99.9; of commands: time, `io_wait`, cpu, `read_bytes`, `written_bytes`
    #[arg(long, value_name = "RULE")]
    pub fail_if: Vec<Rule>,
    /// A --fail-if that nothing decides fails too
    #[arg(long, requires = "fail_if")]
    pub strict: bool,
    /// Write it as well: FILE.html, FILE.md, FILE.csv, or FILE.xml (`JUnit`) (repeatable)
    #[arg(short, long = "output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub outputs: Vec<PathBuf>,
    /// Print it as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Colours in the report [default: auto]
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    pub colour: Colour,
    /// Replace files that are there (regular files only)
    #[arg(long)]
    pub force: bool,
    /// No notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

impl CompareArgs {
    /// The same loads on two targets, by their names. What differs else are the targets, which is the question.
    pub(crate) fn of_targets(a: Vec<PathBuf>, b: Vec<PathBuf>, names: (String, String), quiet: bool) -> Self {
        Self {
            a,
            b,
            names: Some(names),
            margin: 0.1,
            despite: Field::ALL
                .into_iter()
                .filter(|field| field.grade() == Grade::Refused)
                .collect(),
            unit: None,
            better: None,
            fail_if: Vec::new(),
            strict: false,
            outputs: Vec::new(),
            json: false,
            colour: Colour::Auto,
            force: false,
            quiet,
        }
    }

    /// Two sides, and all else as it is unless something is said.
    pub(crate) fn of(a: Vec<PathBuf>, b: Vec<PathBuf>) -> Self {
        Self {
            a,
            b,
            names: None,
            margin: 0.1,
            despite: Vec::new(),
            unit: None,
            better: None,
            fail_if: Vec::new(),
            strict: false,
            outputs: Vec::new(),
            json: false,
            colour: Colour::Never,
            force: false,
            quiet: true,
        }
    }

    /// Which way plain numbers are better: a time that is shorter.
    pub(crate) fn better(&self) -> Better {
        match (self.better, self.unit.as_deref()) {
            (Some(BetterWord::Higher), _) => Better::Higher,
            (Some(BetterWord::Lower), _) | (None, Some("ns" | "us" | "µs" | "ms" | "s" | "min" | "h")) => {
                Better::Lower
            }
            (None, _) => Better::Unknown,
        }
    }
}

fn names(text: &str) -> Result<(String, String), String> {
    let (a, b) = text
        .split_once(',')
        .ok_or("give two names with a comma between them, as OLD,NEW")?;
    let (a, b) = (a.trim(), b.trim());
    let fine =
        |name: &str| !name.is_empty() && name.chars().count() <= 24 && !name.chars().any(char::is_control);
    if !fine(a) || !fine(b) || a == b || b.contains(',') {
        return Err(String::from(
            "give two different names of at most 24 letters, as OLD,NEW",
        ));
    }
    Ok((a.to_owned(), b.to_owned()))
}

/// A share of what is written in percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim();
    let share = number.parse::<f64>().ok().map(|percent| percent / 100.0);
    share
        .filter(|share| share.is_finite() && *share > 0.0 && *share <= 10.0)
        .ok_or_else(|| String::from("give a percentage above 0, as 5%"))
}

fn condition(text: &str) -> Result<Field, String> {
    let refused = |field: &Field| field.grade() == Grade::Refused;
    Field::from_name(text).filter(refused).ok_or_else(|| {
        let names: Vec<&str> = Field::ALL.into_iter().filter(refused).map(Field::name).collect();
        format!("conditions that are refused otherwise are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests;
