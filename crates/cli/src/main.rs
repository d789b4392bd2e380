//! fathom: measures a disk and explains what it saw.
//!
//! Duty of this crate: the leaf that knows all the others. It alone parses arguments, reads the environment,
//! prints and exits. Data in: the command line. Data out: results on stdout, progress and warnings on stderr,
//! an exit code ([`exit::Exit`]). It must not hold knowledge of its own about disks, workloads or statistics.
//!
//! As typed ([`args`]) becomes as resolved ([`request`]); a command then has it carried out by [`fathom_session`], shows what
//! happens on the way ([`live`]), and what came of it.
#![forbid(unsafe_code)]

mod args;
mod catalog_command;
mod diskspd_command;
mod dry_run;
mod exit;
mod explain_command;
mod export_command;
mod fio_command;
mod flags;
mod generate_command;
mod live;
mod model_target;
mod options_command;
mod record_command;
mod report_command;
mod reproduce;
mod reproduce_command;
mod request;
mod run_command;
mod show_command;
mod signals;
mod sweep_command;
mod target;
mod tell;
mod terminal;
mod text_file;

use args::Command;
use exit::Exit;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let exit = match args::read(&words) {
        Ok(command) => carry_out(command).unwrap_or_else(|error| {
            tell::error(&error);
            exit::of_error(&error)
        }),
        Err(exit) => exit,
    };
    exit.into()
}

fn carry_out(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => run_command::run(&args),
        Command::Sweep(args) => sweep_command::sweep(&args),
        Command::Fio(args) => fio_command::fio(&args),
        Command::Show(args) => show_command::show(&args),
        Command::Diskspd(args) => diskspd_command::diskspd(&args),
        Command::Report(args) => report_command::report(&args),
        Command::Reproduce(args) => reproduce_command::reproduce(&args),
        Command::Record(args) => record_command::record(&args),
        Command::Explain(args) => explain_command::explain(&args),
        Command::Export(args) => export_command::export(&args),
        Command::Recover { dir } => show_command::recover(&dir),
        Command::Catalog(args) => catalog_command::catalog(&args),
        Command::Options { option } => options_command::options(option.as_deref()),
        Command::Completions { shell } => generate_command::completions(shell),
        Command::Man(args) => generate_command::man(&args),
    }
}
