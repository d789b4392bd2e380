//! As resolved: the workload that the command line and the job files ask for.
//!
//! Data in: arguments as typed. Data out: a [`Request`]; errors and notes of the dialect are already on stderr. It
//! reads job files and the environment for the dialect, which does neither itself.

use crate::args::RunArgs;
use crate::model_target;
use crate::target::{self, Target};
use crate::terminal::{self, tell};
use crate::text_file::{self, Expected};
use anyhow::{Context as _, bail};
use fathom_core::run::{Environment, Warning};
use fathom_core::workload::Job;
use fathom_dialect::{Context, Diagnostic, Override, Parsed, Severity, Source};
use fathom_session::{Machine, Request};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No job file is larger; a disk given by mistake is.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// The same on `target`, in place of the files that its jobs name, and on `machine`.
pub(crate) fn aimed(mut request: Request, target: Option<&Target>, machine: Machine) -> Request {
    if let Some(target) = target {
        target::aim(&mut request.workload, target);
    }
    request.machine = machine;
    request
}

/// The machine as it is now.
pub(crate) fn machine() -> Environment {
    fathom_observe::host::environment(&fathom_observe::SystemRoot::default(), "")
}

/// Resolves `args`. `None` where the dialect found errors, which are on stderr.
pub(crate) fn resolve(args: &RunArgs) -> anyhow::Result<Option<Request>> {
    let sorted = target::sort(&args.paths)?;
    let target = target::typed(args.on.as_deref(), sorted.target.as_deref())?;
    let target = target.map(target::resolve).transpose()?;
    let model = machine_of(target.as_ref(), args.catalog.as_deref())?;
    let mut overrides = args.overrides.clone();
    if sorted.job_files.is_empty() && overrides.is_empty() {
        bail!(
            "nothing to do: give a job file, or say what to do with flags, as in\n  fathom run --rw randread --bs \
             4k --direct 1 --size 1g --runtime 10s {}",
            sorted.target.as_deref().unwrap_or(Path::new("FILE")).display()
        );
    }
    if let (Some(Target::File(path) | Target::Directory(path)), Some(named)) =
        (&target, overrides.iter().find(|option| option.name == "filename"))
    {
        let named = named.value.as_deref().unwrap_or_default();
        bail!(target::two_targets(
            format_args!("--filename {named}"),
            path.display()
        ));
    }
    if target == Some(Target::Null) {
        overrides.push(Override::new("ioengine", "null"));
    }
    let parse =
        |sources: &[Source<'_>], context: &Context<'_>| fathom_dialect::parse(sources, &overrides, context);
    let request = read(&sorted.job_files, &args.sections, args.settings.quiet, parse)?;
    Ok(request.map(|request| aimed(request, target.as_ref(), model)))
}

/// What job files ask for, as `parse` understands them. `None` where the dialect found errors, which are on stderr.
pub(crate) fn read(
    job_files: &[PathBuf],
    sections: &[String],
    quiet: bool,
    parse: impl FnOnce(&[Source<'_>], &Context<'_>) -> Parsed,
) -> anyhow::Result<Option<Request>> {
    let texts = read_job_files(job_files)?;
    let sources: Vec<Source<'_>> = texts.iter().map(|(name, text)| Source { name, text }).collect();
    let machine = machine();
    let mut parsed = with_context(&machine, sections, |context| parse(&sources, context));
    for job in parsed.workload.iter_mut().flat_map(|workload| &mut workload.jobs) {
        read_patterns(job)?;
    }
    Ok(accept(parsed, machine, quiet))
}

/// Reads the patterns that `job` takes from files.
fn read_patterns(job: &mut Job) -> anyhow::Result<()> {
    /// No longer pattern is read: it is kept whole with the run.
    const BYTES_MAX: u64 = 1 << 20;
    let read = |option: &str, path: &Path| {
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes))
            .with_context(|| format!("{}: {option}: cannot read {}", job.name, path.display()))?;
        if bytes.is_empty() {
            bail!(
                "{}: {option}: {} is empty: give a file with the pattern",
                job.name,
                path.display()
            );
        }
        Ok(bytes)
    };
    let written = job
        .buffers
        .pattern_file
        .as_deref()
        .map(|path| read("buffer_pattern", path));
    let verified = job
        .verify
        .as_ref()
        .and_then(|verify| verify.pattern_file.as_deref());
    let verified = verified.map(|path| read("verify_pattern", path));
    if let Some(bytes) = written.transpose()? {
        job.buffers.pattern = bytes;
        job.buffers.pattern_file = None;
    }
    if let (Some(bytes), Some(verify)) = (verified.transpose()?, &mut job.verify) {
        verify.pattern = bytes;
        verify.pattern_file = None;
    }
    Ok(())
}

/// The machine that a target names.
///
/// # Errors
/// There is no such machine, or a catalogue is given for another target.
pub(crate) fn machine_of(target: Option<&Target>, catalog: Option<&Path>) -> anyhow::Result<Machine> {
    match target {
        Some(Target::Model(words)) => Ok(Machine::from_model(Some(model_target::load(words, catalog)?))),
        _ if catalog.is_some() => bail!("--catalog is for modelled disks: add --on model:NAME"),
        _ => Ok(Machine::This),
    }
}

/// Tells what the dialect had to say, and takes the workload if there is one. Its warnings are then kept for the report, or
/// for whoever knows that none will be seen.
pub(crate) fn accept(parsed: Parsed, machine: Environment, quiet: bool) -> Option<Request> {
    let kept = |found: &Diagnostic| parsed.workload.is_some() && found.severity == Severity::Warning;
    let (warned, others): (Vec<&Diagnostic>, _) =
        parsed.diagnostics.iter().partition(|diagnostic| kept(diagnostic));
    tell::findings(others, quiet);
    let warning = |diagnostic: &Diagnostic| Warning::Dialect {
        message: in_words(diagnostic),
    };
    Some(Request {
        workload: parsed.workload?,
        written: parsed.written,
        warnings: warned.into_iter().map(warning).collect(),
        environment: machine,
        machine: Machine::This,
    })
}

/// A finding without its severity, which the report adds.
fn in_words(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.at.as_ref().map(|at| format!("{at}: "));
    let remedy = diagnostic.remedy.as_ref().map(|remedy| format!("; {remedy}"));
    format!(
        "{}{}{}",
        place.unwrap_or_default(),
        diagnostic.message,
        remedy.unwrap_or_default()
    )
}

/// Nanoseconds since 1970: when something began, or a seed that is another each time. A clock set before gives 0.
pub(crate) fn unix_ns() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64)
}

/// The surroundings that a job file may ask about.
pub(crate) fn with_context(
    machine: &Environment,
    sections: &[String],
    parse: impl FnOnce(&Context<'_>) -> Parsed,
) -> Parsed {
    let include = |path: &Path| read_text(path).map_err(|error| format!("{error:#}"));
    parse(&Context {
        include: &include,
        env: &terminal::env,
        pagesize: rustix::param::page_size() as u64,
        memory_mib: machine.memory_bytes >> 20,
        ncpus: u64::from(machine.cpus.max(1)),
        seed: unix_ns(),
        sections,
    })
}

/// Each file's name as typed and its text.
pub(crate) fn read_job_files(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, String)>> {
    let read = |path: &PathBuf| {
        let text = if path.as_os_str() == OsStr::new("-") {
            let mut text = String::new();
            let read = std::io::stdin()
                .lock()
                .take(TEXT_BYTES_MAX)
                .read_to_string(&mut text);
            read.context("cannot read the job file from stdin")?;
            text
        } else {
            read_text(path)?
        };
        Ok((path.display().to_string(), text))
    };
    paths.iter().map(read).collect()
}

/// The text of a job file.
///
/// # Errors
/// It is none.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    let expected = Expected {
        what: "job file",
        mib_max: TEXT_BYTES_MAX >> 20,
        remedy: ". To measure it, give it with --on",
    };
    text_file::read(path, expected)
}

#[cfg(test)]
mod tests;
