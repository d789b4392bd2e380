//! fathom: measures a disk and explains what it saw.
//!
//! Duty of this crate: the leaf that knows all the others. It alone parses arguments, reads the environment,
//! prints and exits. Data in: the command line. Data out: results on stdout, progress and warnings on stderr,
//! an exit code ([`exit::Exit`]). It must not hold knowledge of its own about disks, workloads or statistics.
//!
//! As typed ([`args`]) becomes as resolved ([`request`]); a command then has it carried out by [`fathom_session`], shows what
//! happens on the way ([`terminal::live`]), and what came of it.
#![forbid(unsafe_code)]

mod allowed;
mod args;
mod commands;
mod exit;
mod model_target;
mod part;
mod recorded;
mod request;
mod stored;
mod target;
mod terminal;
mod text_file;
mod tls;

use args::Command;
use exit::Exit;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let exit = match args::read(&words) {
        Ok(command) => carry_out(command).unwrap_or_else(|error| {
            terminal::tell::error(&error);
            exit::of_error(&error)
        }),
        Err(exit) => exit,
    };
    exit.into()
}

fn carry_out(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => commands::run::run(&args),
        Command::Sweep(args) => commands::sweep::sweep(&args),
        Command::Fio(args) => commands::fio::fio(&args),
        Command::Show(args) => commands::show::show(&args),
        Command::Diskspd(args) => commands::diskspd::diskspd(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Reproduce(args) => commands::reproduce::reproduce(&args),
        Command::Record(args) => commands::record::record(&args),
        Command::Replay(args) => commands::replay::replay(&args),
        Command::Explain(args) => commands::explain::explain(&args),
        Command::Export(args) => commands::export::export(&args),
        Command::Recover { dir } => commands::show::recover(&dir),
        Command::Browse(args) => commands::browse::browse(&args),
        Command::Dashboards(args) => commands::dashboards::dashboards(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Identify(args) => commands::identify::identify(&args),
        Command::Disk(args) => commands::disk::disk(&args),
        Command::Plan(args) => commands::plan::plan(&args),
        Command::K8s(args) => commands::k8s::k8s(&args),
        Command::Catalog(args) => commands::catalog::catalog(&args),
        Command::Options { option } => commands::options::options(option.as_deref()),
        Command::Completions { shell } => commands::generate::completions(shell),
        Command::Man(args) => commands::generate::man(&args),
    }
}
