//! The command line: words in, a [`Command`] as typed out.
//!
//! Data in: the words. Data out: what was typed, sorted into commands, or help and usage errors, already
//! printed. It must not look at files or the environment: that comes with [`crate::request`]. All that it asks is how wide
//! its help may be.

pub(crate) mod catalog;
mod definition;
pub(crate) mod diskspd;
pub(crate) mod evidence;
mod hoisted;
mod options;
pub(crate) mod report;
mod reproduce;
pub(crate) mod sweep;

use crate::exit::Exit;
use crate::fio_command::FioArgs;
use crate::flags;
use crate::terminal::{self, Colour};
use clap::ArgMatches;
use clap::error::ErrorKind;
use clap_complete::Shell;
use fathom_dialect::{Diagnostic, Override};
use fathom_session::{How, Output, Streams};
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use definition::command;
pub(crate) use reproduce::ReproduceArgs;

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Command {
    /// `run`.
    Run(Box<RunArgs>),
    /// `diskspd`.
    Diskspd(diskspd::DiskspdArgs),
    /// `report`.
    Report(report::ReportArgs),
    /// `sweep`.
    Sweep(Box<sweep::SweepArgs>),
    /// `fio`.
    Fio(FioArgs),
    /// `show`.
    Show(ShowArgs),
    /// `record`.
    Record(evidence::RecordArgs),
    /// `explain`.
    Explain(evidence::ExplainArgs),
    /// `export`.
    Export(evidence::ExportArgs),
    /// `recover`, of which directory.
    Recover(PathBuf),
    /// `catalog`.
    Catalog(catalog::CatalogArgs),
    /// `reproduce`.
    Reproduce(ReproduceArgs),
    /// `options`, of which option.
    Options(Option<String>),
    /// `completions`, for which shell.
    Completions(Shell),
    /// `man`.
    Man(ManArgs),
}

/// How a run is carried out and shown: all that is not the workload.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Print the workload only.
    pub dry_run: bool,
    /// JSON on stdout.
    pub json: bool,
    /// No progress and no notes.
    pub quiet: bool,
    /// Colours on stdout.
    pub colour: Colour,
    /// The run directory.
    pub output: Output,
    /// How it is carried out.
    pub how: How,
    /// Write the report to this file, not to stdout.
    pub report: Option<PathBuf>,
    /// Replace that file, where it is there.
    pub force: bool,
}

impl Settings {
    /// Whether a report on stdout has the warnings: each is said once.
    pub(crate) fn report_follows(&self) -> bool {
        !self.json && self.report.is_none()
    }
}

/// `fathom run`.
#[derive(Debug)]
pub(crate) struct RunArgs {
    /// Job files, and at most one target.
    pub paths: Vec<PathBuf>,
    /// Options of the table, in the order typed.
    pub overrides: Vec<Override>,
    /// `--on`.
    pub on: Option<OsString>,
    /// `--catalog`.
    pub catalog: Option<PathBuf>,
    /// `--section`.
    pub sections: Vec<String>,
    /// The rest.
    pub settings: Settings,
}

/// `fathom show`.
#[derive(Debug)]
pub(crate) struct ShowArgs {
    /// The run directory.
    pub dir: PathBuf,
    /// JSON on stdout.
    pub json: bool,
    /// Colours on stdout.
    pub colour: Colour,
}

/// `fathom man`.
#[derive(Debug)]
pub(crate) struct ManArgs {
    /// The page; `None`: the program's.
    pub page: Option<String>,
    /// All pages, as files here.
    pub output: Option<PathBuf>,
    /// Replace files that are there.
    pub force: bool,
}

/// The help of one command.
pub(crate) fn help_of(name: &str) -> String {
    let mut whole = command(terminal::stdout_columns());
    whole.build();
    let found = whole.find_subcommand_mut(name);
    found
        .map(|command| command.render_long_help().to_string())
        .unwrap_or_default()
}

/// Reads the command line. Where there is nothing left to do (help, version, a usage error), that has been
/// printed and the exit is returned.
pub(crate) fn read(words: &[OsString]) -> Result<Command, Exit> {
    match parse(words) {
        Ok(command) => Ok(command),
        Err(Unread::Clap(error)) => Err(refuse(&error)),
        Err(Unread::Unknown(diagnostics)) => {
            for diagnostic in &diagnostics {
                terminal::say(&diagnostic.to_string());
            }
            Err(Exit::Wrong)
        }
    }
}

/// Why there is no command.
#[derive(Debug)]
enum Unread {
    /// Help or version, or what clap found wrong.
    Clap(clap::Error),
    /// Flags that nobody knows.
    Unknown(Vec<Diagnostic>),
}

impl From<clap::Error> for Unread {
    fn from(error: clap::Error) -> Self {
        Self::Clap(error)
    }
}

/// `help run` as `run --help`.
fn without_help(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") && words.get(2).is_none_or(|word| word != "--help") {
        words.remove(1);
        words.truncate(2);
        words.push(OsString::from("--help"));
    }
    words
}

/// Prints what clap has to say: help on stdout, errors on stderr.
fn refuse(error: &clap::Error) -> Exit {
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asked_for {
        return match terminal::print(&error.render().to_string()) {
            Ok(()) => Exit::Done,
            Err(_) => Exit::Wrong,
        };
    }
    terminal::say(error.render().to_string().trim_end());
    Exit::Wrong
}

fn parse(words: &[OsString]) -> Result<Command, Unread> {
    let mut words = without_help(words.to_vec());
    let foreign = words.get(1).and_then(|word| word.to_str());
    if let Some(name) = foreign.filter(|name| matches!(*name, "fio" | "diskspd")) {
        words = hoisted::to_the_front(&words, &definition::own_flags_of(name));
    }
    // Options come before their command nowhere but in `--help`: the command is the first word.
    let own = match words.get(1).and_then(|word| word.to_str()) {
        Some("run") => Some(definition::own_flags_of_run()),
        Some("sweep") => Some(sweep::own_flags()),
        _ => None,
    };
    if let Some(own) = own {
        let rest = flags::canonical(&words[2..], &own).map_err(Unread::Unknown)?;
        words.truncate(2);
        words.extend(rest);
    }
    let matches = command(terminal::stdout_columns()).try_get_matches_from(&words)?;
    let recorded: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    Ok(match matches.subcommand() {
        Some(("run", matches)) => Command::Run(Box::new(run(matches, recorded))),
        Some(("fio", matches)) => Command::Fio(FioArgs {
            words: matches
                .get_many::<String>("words")
                .unwrap_or_default()
                .cloned()
                .collect(),
            on: matches.get_one::<OsString>("on").cloned(),
            catalog: matches.get_one::<PathBuf>("catalog").cloned(),
            allow_overwrite: paths(matches, "allow-overwrite"),
            allow_signature: paths(matches, "allow-overwrite-signature"),
            force: matches.get_flag("force"),
            recorded,
        }),
        Some(("sweep", matches)) => Command::Sweep(Box::new(sweep::read(matches, recorded))),
        Some(("show", matches)) => Command::Show(ShowArgs {
            dir: path(matches, "dir"),
            json: matches.get_flag("json"),
            colour: colour(matches),
        }),
        Some(("record", matches)) => Command::Record(evidence::read_record(matches, recorded)),
        Some(("explain", matches)) => Command::Explain(evidence::read_explain(matches)),
        Some(("export", matches)) => Command::Export(evidence::read_export(matches)),
        Some(("recover", matches)) => Command::Recover(path(matches, "dir")),
        Some(("catalog", matches)) => Command::Catalog(catalog::read(matches)),
        Some(("diskspd", matches)) => Command::Diskspd(diskspd::read(matches, recorded)),
        Some(("report", matches)) => Command::Report(report::read(matches)),
        Some(("reproduce", matches)) => Command::Reproduce(reproduce::read(matches)),
        Some(("options", matches)) => Command::Options(matches.get_one::<String>("option").cloned()),
        Some(("completions", matches)) => {
            let shell = matches.get_one::<Shell>("shell").copied();
            Command::Completions(shell.unwrap_or(Shell::Bash))
        }
        Some(("man", matches)) => Command::Man(ManArgs {
            page: matches.get_one::<String>("page").cloned(),
            output: matches.get_one::<PathBuf>("directory").cloned(),
            force: matches.get_flag("force"),
        }),
        _ => {
            let message = "give a command: see fathom --help";
            let error = command(terminal::PLAIN_COLUMNS).error(ErrorKind::MissingSubcommand, message);
            return Err(error.into());
        }
    })
}

fn run(matches: &ArgMatches, words: Vec<String>) -> RunArgs {
    RunArgs {
        paths: paths(matches, "paths"),
        overrides: options::overrides(matches),
        on: matches.get_one::<OsString>("on").cloned(),
        catalog: matches.get_one::<PathBuf>("catalog").cloned(),
        sections: matches
            .get_many::<String>("section")
            .unwrap_or_default()
            .cloned()
            .collect(),
        settings: Settings {
            dry_run: matches.get_flag("dry-run"),
            json: matches.get_flag("json"),
            quiet: matches.get_flag("quiet"),
            colour: colour(matches),
            output: output(matches),
            how: how(matches, evidence::streams_of(matches), words),
            report: None,
            force: false,
        },
    }
}

/// How a measurement is carried out; `words`: the command line.
fn how(matches: &ArgMatches, streams: Streams, words: Vec<String>) -> How {
    How {
        streams,
        allow_overwrite: paths(matches, "allow-overwrite"),
        allow_signature: paths(matches, "allow-overwrite-signature"),
        command: words,
    }
}

fn output(matches: &ArgMatches) -> Output {
    if matches.get_flag("no-record") {
        return Output::None;
    }
    output_of(matches)
}

/// `-o`.
fn output_of(matches: &ArgMatches) -> Output {
    match matches.get_one::<PathBuf>("output") {
        Some(dir) if dir.as_os_str() == "none" => Output::None,
        Some(dir) => Output::Directory(dir.clone()),
        None => Output::Default,
    }
}

fn colour(matches: &ArgMatches) -> Colour {
    match matches.get_one::<String>("color").map(String::as_str) {
        Some("always") => Colour::Always,
        Some("never") => Colour::Never,
        _ => Colour::Auto,
    }
}

/// A required path.
fn path(matches: &ArgMatches, name: &str) -> PathBuf {
    matches.get_one::<PathBuf>(name).cloned().unwrap_or_default()
}

fn paths(matches: &ArgMatches, name: &str) -> Vec<PathBuf> {
    matches
        .get_many::<PathBuf>(name)
        .unwrap_or_default()
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests;
