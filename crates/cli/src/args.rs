//! The command line: words in, a [`Command`] as typed out.
//!
//! The commands and their arguments are what help, completions, man pages and parsing come from: the first paragraph above
//! each is its help.
//!
//! Data in: the words. Data out: what was typed, sorted into commands, or help and usage errors, already
//! printed. It must not look at files or the environment: that comes with [`crate::request`]. All that it asks is how wide
//! its help may be.

pub(crate) mod browse;
pub(crate) mod catalog;
pub(crate) mod compare;
pub(crate) mod dashboards;
pub(crate) mod disk;
pub(crate) mod diskspd;
pub(crate) mod evidence;
mod fio;
mod flags;
mod hoisted;
pub(crate) mod identify;
pub(crate) mod k8s;
mod options;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
mod reproduce;
mod run;
pub(crate) mod serve;
mod shown;
pub(crate) mod sweep;
pub(crate) mod tls;

use crate::exit::{self, Exit};
use crate::terminal::{self, Colour, tell};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use fathom_dialect::Diagnostic;
use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(test)]
use fathom_session::Output;
pub(crate) use fio::FioArgs;
use flags::OwnFlags;
pub(crate) use reproduce::ReproduceArgs;
use run::EXAMPLES;
pub(crate) use run::{Permissions, RunArgs, Settings};

/// Measures a disk and explains what it saw.
///
/// fathom runs fio job files, or a workload given by flags, on a file, a directory or a block device, and
/// reports what came out: rates, latencies, what the disk and the CPU did meanwhile, and what to know before
/// trusting the numbers. Results go to stdout, progress and warnings to stderr.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, disable_help_subcommand = true)]
#[command(after_long_help = format!("{}\n\n{EXAMPLES}", exit::sentence()))]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// What was asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArgs>),
    Sweep(Box<sweep::SweepArgs>),
    Fio(FioArgs),
    Diskspd(diskspd::DiskspdArgs),
    Record(Box<record::RecordArgs>),
    Replay(Box<replay::ReplayArgs>),
    Show(ShowArgs),
    Explain(evidence::ExplainArgs),
    Export(evidence::ExportArgs),
    /// Complete the directory of a run that was killed
    Recover {
        /// The run directory
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        dir: PathBuf,
    },
    Report(report::ReportArgs),
    Compare(Box<compare::CompareArgs>),
    Browse(browse::BrowseArgs),
    Dashboards(dashboards::DashboardsArgs),
    K8s(Box<k8s::K8sArgs>),
    Catalog(catalog::CatalogArgs),
    Plan(Box<plan::PlanArgs>),
    Identify(Box<identify::IdentifyArgs>),
    Disk(disk::DiskArgs),
    Reproduce(ReproduceArgs),
    /// List the job options and how far each is carried out
    Options {
        /// Only this option, in full
        #[arg(value_name = "NAME")]
        option: Option<String>,
    },
    /// Print a completion script for a shell
    #[command(after_help = "For bash: source <(fathom completions bash)")]
    Completions {
        /// Which shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    Man(ManArgs),
}

/// Print the report of a run again, from its directory
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A run directory
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Print the results as one JSON document
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
}

/// Print a man page, or write all of them
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The page of this command, as run, or disk serve [default: of fathom itself]
    #[arg(value_name = "COMMAND")]
    pub page: Vec<String>,
    /// Write all pages into this directory
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "page")]
    pub output: Option<PathBuf>,
    /// Replace files that are there (regular files only)
    #[arg(long)]
    pub force: bool,
}

/// The whole command line, its help for a terminal of so many columns.
pub(crate) fn command(columns: usize) -> clap::Command {
    let mut whole = Program::command().term_width(columns);
    for command in whole.get_subcommands_mut() {
        let bare = std::mem::take(command);
        *command = match bare.get_name() {
            "run" => bare.args(options::arguments()),
            "sweep" => bare.args(sweep::job_options()),
            _ => bare,
        };
    }
    whole.subcommand(help())
}

/// Read before clap: `help run` is `run --help`, whatever a command's own help looks like.
fn help() -> clap::Command {
    let of = Arg::new("command").value_name("COMMAND");
    clap::Command::new("help")
        .about("Print the help of a command")
        .arg(of.help("Which [default: fathom itself]"))
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
            tell::findings(&diagnostics, false);
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

/// Called through a link of this name, the program is fio.
fn is_called_fio(words: &[OsString]) -> bool {
    let program = words.first().map(std::path::Path::new);
    program
        .and_then(std::path::Path::file_name)
        .is_some_and(|name| name == "fio")
}

fn parse(words: &[OsString]) -> Result<Command, Unread> {
    let as_fio = is_called_fio(words);
    let mut words = words.to_vec();
    if as_fio {
        words.insert(1, OsString::from("fio"));
    } else {
        words = without_help(words);
    }
    // Options come before their command nowhere but in `--help`: the command is the first word.
    match words.get(1).and_then(|word| word.to_str()) {
        Some("run") => canonical(&mut words, own_flags::<RunArgs>())?,
        Some("sweep") => canonical(&mut words, sweep::own_flags())?,
        Some("fio") => words = hoisted::to_the_front(&words, &own_flags::<FioArgs>()),
        Some("diskspd") => words = hoisted::to_the_front(&words, &own_flags::<diskspd::DiskspdArgs>()),
        _ => {}
    }
    let program = command(terminal::stdout_columns());
    if let Some(message) = apart(&program, &words) {
        return Err(program.clone().error(ErrorKind::ValueValidation, message).into());
    }
    let matches = program.try_get_matches_from(&words)?;
    let mut command = Program::from_arg_matches(&matches)?.command;
    let recorded = words.iter().map(|word| word.to_string_lossy().into_owned());
    match &mut command {
        Command::Run(args) => {
            let matches = matches.subcommand_matches("run");
            args.overrides = matches.map(options::overrides).unwrap_or_default();
            args.settle(recorded.collect());
        }
        Command::Sweep(args) => args.settle(recorded.collect()),
        Command::Fio(args) => {
            args.recorded = recorded.collect();
            args.as_fio = as_fio;
        }
        Command::Diskspd(args) => args.recorded = diskspd::without_keep(recorded),
        Command::Replay(args) => args.settle(recorded.collect()),
        Command::Record(args) => args.words = recorded.collect(),
        Command::Identify(args) => args.words = recorded.collect(),
        Command::Disk(args) => {
            if let disk::DiskCommand::Serve(args) = &mut args.command {
                args.words = recorded.collect();
            }
        }
        _ => {}
    }
    Ok(command)
}

/// Whether what was meant as the value of a flag stands apart from it: a flag that can do without one takes it behind `=`
/// alone, and the word would be the target, which is then made or written.
fn apart(program: &clap::Command, words: &[OsString]) -> Option<String> {
    let mut command = program;
    for word in words.iter().skip(1) {
        let Some(inner) = command.find_subcommand(word) else {
            break;
        };
        command = inner;
    }
    let options = words.iter().take_while(|word| *word != "--");
    let pairs = options.clone().zip(options.skip(1));
    let mut pairs = pairs.filter_map(|(flag, value)| Some((flag.to_str()?, value.to_str()?)));
    pairs.find_map(|(flag, value)| {
        let name = flag.strip_prefix("--")?;
        let mut own = command.get_arguments().filter(|arg| can_do_without(arg));
        let arg = own.find(|arg| {
            let others = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(name) || others.contains(&name)
        })?;
        is_value(arg, value).then(|| {
            format!(
                "{flag} takes its value behind =: write {flag}={value} (or ./{value}, where that is a file)"
            )
        })
    })
}

/// Whether a flag means something without a value, and takes one behind `=` alone.
fn can_do_without(arg: &Arg) -> bool {
    let without = arg.get_num_args().is_some_and(|counts| counts.min_values() == 0);
    without && arg.is_require_equals_set()
}

/// Whether `text` could be the value of `arg`.
fn is_value(arg: &Arg, text: &str) -> bool {
    let alone = Arg::new("value")
        .long("value")
        .value_parser(arg.get_value_parser().clone());
    let command = clap::Command::new("").no_binary_name(true).arg(alone);
    !text.starts_with('-') && command.try_get_matches_from([format!("--value={text}")]).is_ok()
}

/// Gives the options of jobs among the words behind the command the names of the table.
fn canonical(words: &mut Vec<OsString>, mut own: OwnFlags) -> Result<(), Unread> {
    own.insert(String::from("help"), false);
    let rest = flags::canonical(&words[2..], &own).map_err(Unread::Unknown)?;
    words.truncate(2);
    words.extend(rest);
    Ok(())
}

/// The flags of a command that are not in the table of job options: the long name of each, and whether a value follows it
/// as a word of its own.
fn own_flags<A: Args>() -> OwnFlags {
    let own = A::augment_args(clap::Command::default());
    let flag = |arg: &Arg| {
        // A value that has to be joined by = is no word of its own.
        let takes_value =
            matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) && !arg.is_require_equals_set();
        arg.get_long().map(|long| (long.to_owned(), takes_value))
    };
    own.get_arguments().filter_map(flag).collect()
}

#[cfg(test)]
mod tests;
