//! The one definition of the command line: help, completions, man pages and parsing come from it.

use super::options;
use crate::exit;
use crate::flags::OwnFlags;
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use clap_complete::Shell;
use std::path::PathBuf;

const ABOUT: &str = "Measures a disk and explains what it saw";

const LONG_ABOUT: &str = "\
Measures a disk and explains what it saw.

fathom runs fio job files, or a workload given by flags, on a file, a directory or a block device, and \
reports what came out: rates, latencies, what the disk and the CPU did meanwhile, and what to know before \
trusting the numbers. Results go to stdout, progress and warnings to stderr.";

// No line is longer than 80 columns: wrapped ones would not be commands any more.
const EXAMPLES: &str = "\
Examples:
  a job file as it is, and one section of it, on files in /mnt/disk
    fathom run jobs.fio
    fathom run jobs.fio --section randread --on /mnt/disk
  what it would do, with a shorter runtime
    fathom run jobs.fio --runtime 10s --dry-run
  no job file at all
    fathom run --rw randread --bs 4k --iodepth 32 --ioengine io_uring \\
               --direct 1 --size 1g --time_based --runtime 10s FILE
  a device: all that is on it is lost
    fathom run --rw randwrite --direct 1 --on /dev/nvme1n1 --runtime 60 \\
               --time_based --allow-overwrite /dev/nvme1n1
  a cloud disk, modelled: hours of it in seconds, nothing is touched
    fathom run jobs.fio --on model:azure/P15,vm=Standard_D8s_v5
  a run to be looked at again, and where its spikes came from
    fathom run jobs.fio --record -o runs/first && fathom explain runs/first
    fathom show runs/first";

/// The whole command line, its help for a terminal of so many columns.
pub(crate) fn command(columns: usize) -> Command {
    Command::new("fathom")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_long_help(format!("{}\n\n{EXAMPLES}", exit::sentence()))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .term_width(columns)
        .subcommand(run())
        .subcommand(super::sweep::command())
        .subcommand(fio())
        .subcommand(super::diskspd::command())
        .subcommand(super::evidence::record_command())
        .subcommand(show())
        .subcommand(super::evidence::explain_command())
        .subcommand(super::evidence::export_command())
        .subcommand(recover())
        .subcommand(super::report::command())
        .subcommand(super::catalog::command())
        .subcommand(super::reproduce::command())
        .subcommand(options_command())
        .subcommand(completions())
        .subcommand(man())
        .subcommand(help())
}

/// The flags of `run` that are not in the option table, by long name.
pub(super) fn own_flags_of_run() -> OwnFlags {
    let own = own_arguments_of_run();
    let built_in = [(String::from("help"), false)];
    own.iter().filter_map(own_flag).chain(built_in).collect()
}

/// The flags of fathom's own that another tool's command line may have among its words, by long name.
pub(super) fn own_flags_of(command: &str) -> OwnFlags {
    let found = match command {
        "fio" => fio(),
        _ => super::diskspd::command(),
    };
    found.get_arguments().filter_map(own_flag).collect()
}

/// The long name of a flag, and whether a value follows it as a word of its own.
pub(super) fn own_flag(arg: &Arg) -> Option<(String, bool)> {
    // A value that has to be joined by = is no word of its own.
    let takes_value =
        matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) && !arg.is_require_equals_set();
    arg.get_long().map(|long| (long.to_owned(), takes_value))
}

fn run() -> Command {
    let paths = Arg::new("paths")
        .value_name("JOBFILE|TARGET")
        .help("Job files, and at most one target: a file, a directory or a device")
        .long_help(
            "Job files (named *.fio, *.ini or *.job, or beginning with a [section]; - is stdin), and at most \
             one target, as for --on. Sections of a second job file start when those of the first have ended.",
        )
        .num_args(0..)
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::AnyPath);
    Command::new("run")
        .next_line_help(false)
        .about("Run job files, or a workload given by flags")
        .long_about(
            "Runs job files, or a workload given by flags. Each option of a job file is a flag of the same \
             name, which overrides it in all sections; `fathom options` lists them all with how far each is \
             carried out.",
        )
        .after_help("All flags: fathom run --help. One option: fathom options NAME.")
        .after_long_help(format!("{EXAMPLES}\n\n{}", exit::sentence()))
        .override_usage("fathom run [FLAGS] [JOBFILE]... [TARGET]")
        .arg(paths)
        .args(own_arguments_of_run())
        .args(options::arguments())
}

/// What `run` has beside the option table.
pub(super) fn own_arguments_of_run() -> Vec<Arg> {
    vec![
        Arg::new("on")
            .long("on")
            .value_name("TARGET")
            .help("What to measure: a file, a directory, a device, null: or model:NAME")
            .long_help(
                "What to measure, in place of what the job file names: a file or device (replaces filename), a \
                 directory (replaces directory, and filename is dropped), null: for no disk at all, which \
                 measures fathom itself, or a modelled disk, in virtual time: model:azure/P15, model:FILE.toml, or with \
                 more words, as model:azure/2xP15,vm=NAME. After [Nx]SKU may follow, each after a comma: vm=NAME \
                 cache=none|ro|rw cache_size=SIZE size=SIZE iops=N mbps=N burst=full|empty|on-demand chunk=SIZE \
                 ram=SIZE seed=N. `fathom catalog disks` and `fathom catalog vms` list the names.",
            )
            .value_parser(ValueParser::os_string())
            .value_hint(ValueHint::AnyPath),
        Arg::new("catalog")
            .long("catalog")
            .value_name("DIR")
            .help("Take modelled disks from this catalogue, not the built-in one")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath)
            .hide_short_help(true),
        Arg::new("section")
            .long("section")
            .value_name("NAME")
            .help("Run only this section (repeatable)")
            .action(ArgAction::Append),
        switch(
            "dry-run",
            "Show what would be done, and whether it would be refused; touch nothing",
        ),
        switch("json", "Print the results as one JSON document"),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("DIR")
            .help("Keep the run here [default: fathom-runs/TIME-JOB]; none: nowhere")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath),
        switch("no-record", "Keep no run directory, as -o none")
            .conflicts_with_all(["output", "record"])
            .hide_short_help(true),
        super::evidence::record_flag(
            "io,block,counters",
            "Keep every I/O, every request, counters, for fathom explain",
        ),
        allow_overwrite(),
        allow_signature(),
        colour(),
        switch("quiet", "No progress and no notes on stderr").short('q'),
    ]
}

fn fio() -> Command {
    Command::new("fio")
        .about("Run fio's own command line")
        .long_about(
            "Runs fio's own command line: job files, or --name=NAME and the options of a job behind it, and the \
             settings of fio that make sense here (--section, --output, --parse-only, --readonly, --eta=never, \
             --warnings-fatal, --cmdhelp). The report is fathom's; no run directory is kept.",
        )
        .after_help("Examples:\n  fathom fio --name=a --rw=randread --bs=4k --size=1g --direct=1 --filename=F\n  fathom fio --on \
                     model:azure/P15 --name=a --rw=randread --bs=4k --size=1g --direct=1")
        .override_usage("fathom fio [--on TARGET] [--allow-overwrite PATH] [--force] FIO-ARGS...")
        .disable_help_flag(true)
        .args(own_arguments_of_run().into_iter().filter(is_target))
        .arg(allow_overwrite())
        .arg(allow_signature())
        .arg(force())
        .arg(
            Arg::new("words")
                .value_name("FIO-ARGUMENTS")
                .help("As fio takes them")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true),
        )
}

/// `--on`, and where its modelled disks come from.
fn is_target(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "on" | "catalog")
}

fn show() -> Command {
    Command::new("show")
        .about("Print the report of a run again, from its directory")
        .arg(directory("A run directory"))
        .arg(switch("json", "Print the results as one JSON document"))
        .arg(colour())
}

fn recover() -> Command {
    Command::new("recover")
        .about("Complete the directory of a run that was killed")
        .arg(directory("The run directory"))
}

fn options_command() -> Command {
    Command::new("options")
        .about("List the job options and how far each is carried out")
        .arg(
            Arg::new("option")
                .value_name("NAME")
                .help("Only this option, in full"),
        )
}

fn completions() -> Command {
    Command::new("completions")
        .about("Print a completion script for a shell")
        .after_help("For bash: source <(fathom completions bash)")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .help("Which shell")
                .required(true)
                .value_parser(value_parser!(Shell)),
        )
}

fn man() -> Command {
    Command::new("man")
        .about("Print a man page, or write all of them")
        .arg(
            Arg::new("page")
                .value_name("COMMAND")
                .help("The page of this command [default: of fathom itself]"),
        )
        .arg(
            Arg::new("directory")
                .short('o')
                .long("output")
                .value_name("DIR")
                .help("Write all pages into this directory")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::DirPath)
                .conflicts_with("page"),
        )
        .arg(force())
}

/// For what leaves files to the user.
pub(super) fn force() -> Arg {
    switch("force", "Replace files that are there (regular files only)")
}

/// Read before clap: `help run` is `run --help`, whatever a command's own help looks like.
fn help() -> Command {
    Command::new("help").about("Print the help of a command").arg(
        Arg::new("command")
            .value_name("COMMAND")
            .help("Which [default: fathom itself]"),
    )
}

pub(super) fn directory(help: &'static str) -> Arg {
    Arg::new("dir")
        .value_name("DIR")
        .help(help)
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::DirPath)
}

pub(super) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

pub(super) fn allow_overwrite() -> Arg {
    allow(
        "allow-overwrite",
        "Allow to overwrite this device or file, although fathom did not make it (repeatable)",
    )
}

pub(super) fn allow_signature() -> Arg {
    allow(
        "allow-overwrite-signature",
        "Allow that even though a file system or partition table is on it (repeatable)",
    )
}

fn allow(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("PATH")
        .help(help)
        .help_heading("Safety")
        .action(ArgAction::Append)
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::AnyPath)
}

pub(super) fn colour() -> Arg {
    Arg::new("color")
        .long("color")
        .value_name("WHEN")
        .help("Colours in the report [default: auto]")
        .value_parser(["auto", "always", "never"])
        .hide_possible_values(false)
}
