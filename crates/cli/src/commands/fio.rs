//! `fathom fio`, and the program called by the name `fio`: fio's own command line, carried out by fathom, with fio's
//! outputs, logs and exits.
//!
//! Data in: the words behind `fio`. Data out: what fio would print. Where fathom refuses for safety it says so. It must not
//! know job options.

mod debug;
mod help;
mod idle;
mod live;
pub(super) mod out;
mod remote;
mod run;
mod settings;
mod states;
mod trigger;
pub(super) mod written;

use crate::args::FioArgs;
use crate::commands::logs;
use crate::exit::Exit;
use crate::request;
use crate::target::{self, Target};
use crate::terminal::{self, tell};
use anyhow::bail;
use fathom_dialect::{FioCommand, Override, parse_fio, read_fio_args};
use fathom_report::fio::VERSION;
use fathom_session::{Request, Streams};
use run::Orders;
use settings::Fate;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;
use trigger::Trigger;

/// What fio ends with where its command line or a job file is wrong.
const WRONG: Exit = Exit::Foreign(1);

/// Carries `fathom fio` out.
pub(crate) fn fio(args: &FioArgs) -> anyhow::Result<Exit> {
    // Whatever is wrong before the first I/O ends fio with 1.
    carry_out(args).or_else(|error| {
        tell::error(&error);
        Ok(WRONG)
    })
}

fn carry_out(args: &FioArgs) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    let own = [
        "on",
        "catalog",
        "allow-overwrite",
        "allow-overwrite-signature",
        "allow-exec",
        "force",
        "key",
    ];
    let mut command = match read_fio_args(&args.words, &own) {
        Ok(command) => command,
        Err(diagnostics) => {
            tell::findings(&diagnostics, false);
            return Ok(WRONG);
        }
    };
    if let Some(exit) = tells_of_itself(args, &command)? {
        return Ok(exit);
    }
    let outputs = match settings::outputs(&command) {
        Ok(outputs) => outputs,
        Err(said) => {
            terminal::say(&said);
            return Ok(WRONG);
        }
    };
    weigh(&command)?;
    let trigger = Trigger::read(&command)?;
    if let Some(at) = command.setting("server") {
        let pidfile = command.setting("daemonize").flatten().map(Path::new);
        return remote::serve(at.unwrap_or_default(), pidfile, args);
    }
    match outputs.idle {
        Some(idle::Wanted::Calibrate) => {
            let told = idle::Watch::new(idle::Wanted::Calibrate).so_far();
            terminal::print(&told.unit_work())?;
            return Ok(Exit::Done);
        }
        Some(_) if !command.clients.is_empty() => {
            bail!("--idle-prof: processors of other machines are not watched: leave it out")
        }
        _ => {}
    }
    if !command.clients.is_empty() {
        return remote::ask(&command, args, &outputs);
    }
    let target = args.on.as_deref().map(target::resolve).transpose()?;
    let runs_on = request::machine_of(target.as_ref(), args.catalog.as_deref())?;
    if target == Some(Target::Null) {
        choose_null(&mut command)?;
    }
    if outputs.idle.is_some() && matches!(target, Some(Target::Model(_))) {
        bail!("--idle-prof: a modelled machine has no processors: leave it out");
    }
    let jobless = command.files.is_empty() && command.jobs.is_empty();
    if jobless && command.setting("parse-only").is_some() {
        terminal::print(&debug::of_command(&command).concat())?;
        return Ok(Exit::Done);
    }
    if jobless {
        terminal::print(&help::usage())?;
        terminal::say("No job(s) defined");
        return Ok(WRONG);
    }
    let Some(request) = resolve(&command)? else {
        return Ok(WRONG);
    };
    let mut request = request::aimed(request, target.as_ref(), runs_on);
    check_readonly(&command, &request)?;
    if command.setting("showcmd").is_some() {
        terminal::print(&help::as_command_line(&request.written))?;
        return Ok(Exit::Done);
    }
    if command.setting("parse-only").is_some() {
        terminal::print(&debug::of_command(&command).concat())?;
        return Ok(Exit::Done);
    }
    let mut told = debug::of_command(&command);
    told.extend(debug::of_seeds(&command, &request.workload));
    let orders = Orders {
        outputs: &outputs,
        how: args.permissions.how(Streams::default(), args.recorded.clone()),
        force: args.force,
        begun,
        debug: told,
        aimed: target.is_some(),
        trigger,
        states: PathBuf::from(command.setting("aux-path").flatten().unwrap_or_default()),
    };
    run::run_here(&mut request, &orders)
}

/// Version, help, and what else needs no job; `None`: nothing of it was asked for.
fn tells_of_itself(args: &FioArgs, command: &FioCommand) -> anyhow::Result<Option<Exit>> {
    if command.setting("version").is_some() {
        let own = concat!("fathom-", env!("CARGO_PKG_VERSION"));
        let version = if args.as_fio { VERSION } else { own };
        terminal::print(&format!("{version}\n"))?;
        return Ok(Some(Exit::Done));
    }
    if command.setting("help").is_some() {
        let text = if args.as_fio {
            help::usage()
        } else {
            crate::args::help_of("fio")
        };
        terminal::print(&text)?;
        return Ok(Some(Exit::Done));
    }
    if let Some(option) = command.setting("cmdhelp") {
        let (text, wrong) = match option {
            None | Some("all") => (help::commands(), None),
            Some(option) => help::command(option),
        };
        terminal::print(&text)?;
        if let Some(wrong) = wrong {
            terminal::say(&wrong);
        }
        return Ok(Some(Exit::Done));
    }
    if let Some(engine) = command.setting("enghelp") {
        return Ok(Some(match help::engines(engine) {
            Ok(text) => {
                terminal::print(&text)?;
                Exit::Done
            }
            Err((text, wrong)) => {
                terminal::print(&text)?;
                terminal::say(&wrong);
                WRONG
            }
        }));
    }
    if let Some(log) = command.setting("inflate-log").flatten() {
        logs::inflate(Path::new(log), terminal::print)?;
        return Ok(Some(Exit::Done));
    }
    Ok(None)
}

/// `--on null:` as the engine of all jobs.
fn choose_null(command: &mut FioCommand) -> anyhow::Result<()> {
    if !command.files.is_empty() {
        bail!("--on null: is not for job files here: fathom run --on null: takes them");
    }
    let jobs = command.jobs.iter_mut();
    jobs.for_each(|job| job.push(Override::new("ioengine", "null")));
    Ok(())
}

/// Refuses what cannot be done.
fn weigh(command: &FioCommand) -> anyhow::Result<()> {
    for setting in &command.settings {
        if let Fate::Refused(remedy) = settings::fate(&setting.name) {
            bail!("--{}: {remedy}", setting.name);
        }
    }
    Ok(())
}

/// The workload. What it is to be warned of is for people: where stderr is no terminal, nothing is said that fio would not
/// say.
fn resolve(command: &FioCommand) -> anyhow::Result<Option<Request>> {
    let quiet = !std::io::stderr().is_terminal();
    let files: Vec<PathBuf> = command.files.iter().map(PathBuf::from).collect();
    let request = request::read(&files, &command.sections, quiet, |sources, context| {
        parse_fio(command, sources, context)
    })?;
    if let Some(request) = &request {
        let fatal = command.setting("warnings-fatal").is_some() && !request.warnings.is_empty();
        if fatal || !quiet {
            tell::warnings(&request.warnings);
        }
        if fatal {
            bail!("--warnings-fatal: see the warnings above");
        }
    }
    Ok(request)
}

/// `--readonly`: a run that would write is refused.
fn check_readonly(command: &FioCommand, request: &Request) -> anyhow::Result<()> {
    if command.setting("readonly").is_none() {
        return Ok(());
    }
    match request.workload.jobs.iter().find(|job| job.writes()) {
        Some(job) => bail!(
            "job <{}> has write or trim bit set, but --readonly was given: leave one of them out",
            job.name
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
