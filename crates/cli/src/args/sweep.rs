//! The command line of `fathom sweep`.
//!
//! Data in: what clap matched. Data out: [`SweepArgs`]. Its own words come from the dialect's table of them, the others are the
//! options of jobs. It must not know what they mean.

use super::flags::OwnFlags;
use super::run::{ON, output};
use super::serve::ServeArgs;
use super::shown::ShownArgs;
use super::{Permissions, Settings, options};
use crate::exit;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};
use fathom_dialect::{Override, SweepWord, find_exact, sweep_words};
use fathom_session::Streams;
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "\
Measures one load at every point of a matrix of orders, mixes, block sizes and depths, and says what the whole of it shows: maxima, limits, \
the I/O size at which the disk's accounting changes, the depth from which on more of it buys nothing.

Before it starts, it says how many points, how long and how much is written. Each point is a run directory of its own; a sweep that was \
killed goes on with --resume, at the first point that is not complete. On a modelled disk each point starts on a machine that has rested.";

const EXAMPLES: &str = "\
Examples:
  what it would do
    fathom sweep sweep.toml --on /mnt/disk/data --dry-run
  200 points in a day, and on after a reboot
    fathom sweep --rw randread,read --mix 0,20,50,80,100 \\
                 --bs 4k,8k,64k,256k,1m --iodepth 1,2,16,32 --threads 2 \\
                 --duration 300s --warmup 60s --cooldown 60s --size 1g \\
                 -o day /mnt/disk/data
    fathom sweep --resume day
  the same on a modelled disk, in seconds, without what can be inferred
    fathom sweep sweep.toml --on model:azure/P15 --adaptive
  two disks in turns, so that drift hits both, and what differs
    fathom sweep --on /mnt/old --on /mnt/new --repeat 5 --order interleaved \\
                 --rw randread,randwrite --bs 4k,64k --iodepth 1,16 \\
                 --duration 30s --size 1g -o both
  what it found, again, and as a page to look at
    fathom show day && fathom report day -o day.html";

/// Measure a matrix of loads, and say what it shows
#[derive(Debug, Args)]
#[group(skip)]
#[command(
    next_line_help = false,
    long_about = ABOUT,
    after_help = "All flags: fathom sweep --help. One option: fathom options NAME.",
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::sentence()),
    override_usage = "fathom sweep [FLAGS] [SWEEP.toml] [TARGET]\n       fathom sweep --resume DIR"
)]
pub(crate) struct SweepArgs {
    /// A sweep as a TOML file, and at most one target: a file, a directory or a device
    #[arg(value_name = "SWEEP.toml|TARGET", num_args = 0.., value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub flags: Flags,
    /// What to measure: a file, a directory, a device, null: or model:NAME; given twice or more, in turns, and compared
    #[arg(long, value_name = "TARGET", long_help = ON, value_hint = ValueHint::AnyPath)]
    pub on: Vec<OsString>,
    /// Take modelled disks from this catalogue, not the built-in one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub catalog: Option<PathBuf>,
    #[command(flatten)]
    permissions: Permissions,
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    shown: ShownArgs,
    /// Go on with the sweep in this directory, at the first point that is not complete
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with_all = ["paths", "on", "catalog", "output", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// Keep the sweep here [default: fathom-runs/TIME-NAME]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Say how many points, how long and how much is written; touch nothing
    #[arg(long)]
    dry_run: bool,
    /// Print plan, results and conclusions as one JSON document
    #[arg(long)]
    json: bool,
    /// What all that comes to.
    #[arg(skip)]
    pub settings: Settings,
}

impl SweepArgs {
    /// Makes the settings of what was typed; `words`: the command line.
    pub(super) fn settle(&mut self, words: Vec<String>) {
        self.settings = Settings {
            dry_run: self.dry_run,
            json: self.json,
            quiet: self.shown.quiet,
            colour: self.shown.colour,
            output: output(self.output.take()),
            how: self.permissions.how(Streams::default(), words),
            ..Settings::default()
        }
        .served(&self.serve);
    }
}

/// The sweep's own words and options of jobs.
#[derive(Debug)]
pub(crate) struct Flags(pub Vec<Override>);

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = options::overrides_but(matches, is_word);
        for word in listed() {
            if let Some(value) = matches.get_many::<String>(word.name).and_then(Iterator::last) {
                flags.push(Override::new(word.name, value));
            }
        }
        Ok(Self(flags))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        command.args(own_words())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The options of jobs that a sweep has as they are.
pub(super) fn job_options() -> impl Iterator<Item = Arg> {
    options::arguments().filter(|arg| !is_word(arg.get_id().as_str()))
}

/// The flags that are not in the table of job options: name, and whether a value follows.
pub(super) fn own_flags() -> OwnFlags {
    let mut own = super::own_flags::<SweepArgs>();
    // What means the same as an option of jobs is rewritten as one, and then found by its alias.
    own.retain(|name, _| {
        let name = name.replace('-', "_");
        let word = sweep_words().iter().find(|word| word.name == name);
        let is_of = |option: &str| word.is_none_or(|word| word.option.is_empty() || word.option == option);
        // The word comes first where it means another option than the one of that name: `threads` are `numjobs`.
        find_exact(&name).is_none_or(|row| !row.names().any(is_of))
    });
    own
}

/// The words of sweeps, but for the target, which all commands write alike.
fn listed() -> impl Iterator<Item = &'static SweepWord> {
    sweep_words().iter().filter(|word| word.name != "on")
}

/// Whether an option of jobs is replaced by a word.
fn is_word(option: &str) -> bool {
    let row = find_exact(option);
    let means =
        |word: &SweepWord| !word.option.is_empty() && row.is_some_and(|row| row.answers_to(word.option));
    sweep_words().iter().any(means)
}

fn own_words() -> impl Iterator<Item = Arg> {
    listed().map(|word| {
        let help = match word.default {
            "" => word.help.to_owned(),
            default => format!("{} [default: {default}]", word.help),
        };
        let arg = Arg::new(word.name)
            .long(word.name.replace('_', "-"))
            .help(help)
            .help_heading("The sweep")
            .value_name(word.value_name)
            .action(ArgAction::Append);
        let mut names: Vec<&'static str> =
            find_exact(word.option).map_or(Vec::new(), |row| row.names().collect());
        if word.name.contains('_') {
            names.push(word.name);
        }
        names.retain(|name| *name != word.name || word.name.contains('_'));
        let arg = arg.aliases(names);
        match word.bare {
            Some(bare) => arg
                .value_parser(move |text: &str| word.check(text).map(|()| text.to_owned()))
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(bare),
            None => arg.num_args(1),
        }
    })
}
