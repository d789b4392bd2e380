//! `fathom fio`: fio's own command line, carried out by fathom.
//!
//! Data in: the words behind `fio`. Data out: what `fathom run` gives. What fio is told about itself (and not about a job) is
//! done, has no effect here, or is refused; nothing is dropped in silence. It must not know job options.

use crate::args::{FioArgs, Settings};
use crate::commands::options;
use crate::commands::run;
use crate::exit::Exit;
use crate::request;
use crate::target::{self, Target};
use crate::terminal::{self, tell};
use anyhow::bail;
use fathom_dialect::{FioCommand, Override, parse_fio, read_fio_args};
use fathom_door::output;
use fathom_session::{Output, Request, Streams};
use std::path::{Path, PathBuf};

/// What becomes of a setting of fio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is carried out.
    Done,
    /// It changes nothing here; why.
    NoEffect(&'static str),
    /// It cannot be done; what to do instead.
    Refused(&'static str),
}

const OTHER_FORMATS: &str = "fio's JSON and terse formats are not in this version: leave it out for text, or use \
                             fathom run --json";

fn fate(setting: &Override) -> Fate {
    let value = setting.value.as_deref().unwrap_or_default();
    match setting.name.as_str() {
        "parse-only" | "output" | "version" | "help" | "cmdhelp" | "enghelp" | "readonly"
        | "warnings-fatal" => Fate::Done,
        "eta" if value == "never" => Fate::Done,
        "eta" | "eta-interval" | "eta-newline" => Fate::NoEffect("progress is shown in fathom's own way"),
        "output-format" if value == "normal" => Fate::Done,
        "output-format" | "minimal" | "append-terse" => Fate::Refused(OTHER_FORMATS),
        "terse-version" => Fate::NoEffect("there is no terse output"),
        "alloc-size" | "max-jobs" => Fate::NoEffect("fathom has no such limit"),
        "debug" => Fate::NoEffect("fathom has no debug output"),
        "idle-prof" => Fate::Refused("leave it out: idle CPU time is not measured"),
        "status-interval" => Fate::Refused("leave it out: the run directory has a row each second"),
        "bandwidth-log" => Fate::Refused("leave it out: the run directory has the series of each job"),
        "server" | "client" | "daemonize" | "remote-config" => {
            Fate::Refused("fathom does not run as a server: start it on each machine")
        }
        "trigger" | "trigger-file" | "trigger-timeout" | "trigger-remote" => {
            Fate::Refused("leave it out: stop the run from outside with Ctrl-C or SIGTERM")
        }
        _ => Fate::Refused("it is not in this version: leave it out"),
    }
}

/// Carries `fathom fio` out.
pub(crate) fn fio(args: &FioArgs) -> anyhow::Result<Exit> {
    let target = args.on.as_deref().map(target::resolve).transpose()?;
    let mut command = match read_fio_args(
        &args.words,
        &[
            "on",
            "catalog",
            "allow-overwrite",
            "allow-overwrite-signature",
            "force",
        ],
    ) {
        Ok(command) => command,
        Err(diagnostics) => {
            tell::findings(&diagnostics, false);
            return Ok(Exit::Wrong);
        }
    };
    if command.setting("version").is_some() {
        terminal::print(&format!("fathom-{}\n", env!("CARGO_PKG_VERSION")))?;
        return Ok(Exit::Done);
    }
    if command.setting("help").is_some() {
        terminal::print(&crate::args::help_of("fio"))?;
        return Ok(Exit::Done);
    }
    if let Some(option) = command.setting("cmdhelp") {
        return options::options(option.filter(|&option| option != "all"));
    }
    if command.setting("enghelp").is_some() {
        return options::options(Some("ioengine"));
    }
    let quiet = command.setting("eta") == Some(Some("never"));
    weigh(&command, quiet)?;
    let runs_on = request::machine_of(target.as_ref(), args.catalog.as_deref())?;
    if target == Some(Target::Null) {
        choose_null(&mut command)?;
    }
    let Some(request) = resolve(&command, quiet)? else {
        return Ok(Exit::Wrong);
    };
    let request = request::aimed(request, target.as_ref(), runs_on);
    check_readonly(&command, &request)?;
    let report = report_of(&command, &request, args.force)?;
    let settings = Settings {
        dry_run: command.setting("parse-only").is_some(),
        quiet,
        // fio leaves nothing behind but what it was told to.
        output: Output::None,
        how: args.permissions.how(Streams::default(), args.recorded.clone()),
        report,
        force: args.force,
        ..Settings::default()
    };
    run::carry_out(&request, &settings)
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

/// Where the report goes; `None`: to stdout.
fn report_of(command: &FioCommand, request: &Request, force: bool) -> anyhow::Result<Option<PathBuf>> {
    let report = command.setting("output").flatten().map(PathBuf::from);
    // What stands for stdout is stdout.
    let Some(path) = report.filter(|path| path != Path::new("/dev/stdout")) else {
        return Ok(None);
    };
    output::check(&path, force)?;
    let mut names = request.workload.jobs.iter().flat_map(|job| &job.files.names);
    if names.any(|name| *name == path) {
        bail!(
            "--output={}: that is what the load is for: choose another name",
            path.display()
        );
    }
    Ok(Some(path))
}

/// Refuses what cannot be done, and tells what has no effect.
fn weigh(command: &FioCommand, quiet: bool) -> anyhow::Result<()> {
    for setting in &command.settings {
        let name = &setting.name;
        match fate(setting) {
            Fate::Done => {}
            Fate::NoEffect(_) if quiet => {}
            Fate::NoEffect(why) => terminal::note(&format!("--{name} has no effect: {why}")),
            Fate::Refused(remedy) => bail!("--{name}: {remedy}"),
        }
    }
    Ok(())
}

fn resolve(command: &FioCommand, quiet: bool) -> anyhow::Result<Option<Request>> {
    if command.files.is_empty() && command.jobs.is_empty() {
        bail!("no job: give a job file, or --name=NAME and the options of a job behind it");
    }
    let files: Vec<PathBuf> = command.files.iter().map(PathBuf::from).collect();
    let request = request::read(&files, &command.sections, quiet, |sources, context| {
        parse_fio(command, sources, context)
    })?;
    match &request {
        Some(request) if command.setting("warnings-fatal").is_some() && !request.warnings.is_empty() => {
            tell::warnings(&request.warnings);
            bail!("--warnings-fatal: see the warnings above")
        }
        _ => Ok(request),
    }
}

/// `--readonly`: a run that would write is refused.
fn check_readonly(command: &FioCommand, request: &Request) -> anyhow::Result<()> {
    if command.setting("readonly").is_none() {
        return Ok(());
    }
    match request.workload.jobs.iter().find(|job| job.writes()) {
        Some(job) => bail!("--readonly, and job {} writes: leave one of them out", job.name),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
