//! The command line of `fathom sweep`.
//!
//! Data in: matched words. Data out: [`SweepArgs`]. Its own words come from the dialect's table of them, the others are the
//! options of jobs. It must not know what they mean.

use super::definition::{self, switch};
use super::{Settings, options};
use crate::exit;
use crate::flags::OwnFlags;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
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
  what it found, again, and as a page to look at
    fathom show day && fathom report day -o day.html";

/// `fathom sweep`.
#[derive(Debug)]
pub(crate) struct SweepArgs {
    /// A TOML file and at most one target.
    pub paths: Vec<PathBuf>,
    /// The sweep's own words and options of jobs.
    pub flags: Vec<Override>,
    /// `--on`.
    pub on: Option<OsString>,
    /// `--catalog`.
    pub catalog: Option<PathBuf>,
    /// `--resume`.
    pub resume: Option<PathBuf>,
    /// The rest.
    pub settings: Settings,
}

/// Its definition.
pub(super) fn command() -> Command {
    let paths = Arg::new("paths")
        .value_name("SWEEP.toml|TARGET")
        .help("A sweep as a TOML file, and at most one target: a file, a directory or a device")
        .num_args(0..)
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::AnyPath);
    Command::new("sweep")
        .next_line_help(false)
        .about("Measure a matrix of loads, and say what it shows")
        .long_about(ABOUT)
        .after_help("All flags: fathom sweep --help. One option: fathom options NAME.")
        .after_long_help(format!("{EXAMPLES}\n\n{}", exit::sentence()))
        .override_usage("fathom sweep [FLAGS] [SWEEP.toml] [TARGET]\n       fathom sweep --resume DIR")
        .arg(paths)
        .args(own_words())
        .args(own_arguments())
        .args(options::arguments().filter(|arg| !is_word(arg.get_id().as_str())))
}

/// The flags that are not in the table of job options: name, and whether a value follows.
pub(super) fn own_flags() -> OwnFlags {
    let mut own: OwnFlags = [own_arguments(), own_words().collect()]
        .concat()
        .iter()
        .filter_map(definition::own_flag)
        .collect();
    own.insert(String::from("help"), false);
    // What means the same as an option of jobs is rewritten as one, and then found by its alias.
    own.retain(|name, _| find_exact(&name.replace('-', "_")).is_none());
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
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(bare),
            None => arg.num_args(1),
        }
    })
}

fn own_arguments() -> Vec<Arg> {
    let common = [
        "on",
        "catalog",
        "allow-overwrite",
        "allow-overwrite-signature",
        "color",
        "quiet",
    ];
    let mut arguments: Vec<Arg> = definition::own_arguments_of_run()
        .into_iter()
        .filter(|arg| common.contains(&arg.get_id().as_str()))
        .collect();
    arguments.extend([
        Arg::new("resume")
            .long("resume")
            .value_name("DIR")
            .help("Go on with the sweep in this directory, at the first point that is not complete")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath)
            .conflicts_with_all(["paths", "on", "catalog", "output", "dry-run"]),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("DIR")
            .help("Keep the sweep here [default: fathom-runs/TIME-NAME]")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath),
        switch(
            "dry-run",
            "Say how many points, how long and how much is written; touch nothing",
        ),
        switch("json", "Print plan, results and conclusions as one JSON document"),
    ]);
    arguments
}

/// What was typed.
pub(super) fn read(matches: &ArgMatches, words: Vec<String>) -> SweepArgs {
    let mut flags = options::overrides_but(matches, is_word);
    for word in listed() {
        if let Some(value) = matches.get_many::<String>(word.name).and_then(Iterator::last) {
            flags.push(Override::new(word.name, value));
        }
    }
    SweepArgs {
        paths: super::paths(matches, "paths"),
        flags,
        on: matches.get_one::<OsString>("on").cloned(),
        catalog: matches.get_one::<PathBuf>("catalog").cloned(),
        resume: matches.get_one::<PathBuf>("resume").cloned(),
        settings: Settings {
            dry_run: matches.get_flag("dry-run"),
            json: matches.get_flag("json"),
            quiet: matches.get_flag("quiet"),
            colour: super::colour(matches),
            output: super::output_of(matches),
            how: super::how(matches, Streams::default(), words),
            report: None,
            force: false,
        },
    }
}
