//! An experiment on a cluster in one file: several runs of `fathom k8s run`, one after the other.
//!
//! Data in: a file whose keys are the flags of `fathom k8s run`, and what was typed beside it. Data out: command lines. It must not
//! know what the flags mean: the one parser of command lines does.

use crate::args::k8s::{K8sCommand, K8sRunArgs};
use crate::args::{self, Command};
use crate::exit::Exit;
use crate::terminal;
use crate::text_file::{self, Expected};
use anyhow::{Context as _, bail};
use fathom_cluster::conduct::PLAN_FILE;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

const EXPERIMENT: Expected = Expected::of("experiment", 1);
/// Runs of a file, at most.
const RUNS_MAX: usize = 100;
/// The key of its runs, and that of the name of each.
const RUNS: &str = "run";
const NAME: &str = "name";
/// The key of job files, which are no flag.
const JOBS: &str = "jobs";
/// Flags that have a letter.
const LETTERS: [(&str, &str); 3] = [("-n", "--namespace"), ("-o", "--output"), ("-q", "--quiet")];

/// The experiment that is asked for, if it is one.
pub(super) fn asked_for(args: &K8sRunArgs) -> Option<&Path> {
    let is_experiment = |path: &&PathBuf| path.extension() == Some(OsStr::new("toml"));
    args.what.jobs.iter().find(is_experiment).map(PathBuf::as_path)
}

/// One run of it: its name, and the words of its flags, each with what belongs to it.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    name: String,
    flags: Vec<(String, Vec<OsString>)>,
    jobs: Vec<OsString>,
}

/// Carries its runs out, each into a directory of its own; what was typed beside it goes before what it says.
pub(super) fn run(args: &K8sRunArgs, path: &Path) -> anyhow::Result<Exit> {
    if args.what.jobs.len() > 1 {
        bail!(
            "{}: an experiment names its job files itself: give it alone",
            path.display()
        );
    }
    let text = text_file::read(path, EXPERIMENT)?;
    let runs = runs(path, &text)?;
    let typed: Vec<OsString> = std::env::args_os().collect();
    let typed = typed_beside(&typed, path);
    let lines: Vec<Vec<OsString>> = runs
        .iter()
        .map(|run| words(run, &typed, args.output.as_deref()))
        .collect();
    // What is wrong in any of them is told before the first begins.
    let mut parsed = Vec::new();
    for (run, line) in runs.iter().zip(&lines) {
        match args::read(line) {
            Ok(Command::K8s(k8s)) => match k8s.command {
                K8sCommand::Run(args) if asked_for(&args).is_none() => {
                    if let Some(dir) = begun(&args) {
                        super::begun_alike(&args, dir)?;
                    }
                    parsed.push(args);
                }
                _ => bail!(
                    "{}: run {}: an experiment within an experiment",
                    path.display(),
                    run.name
                ),
            },
            Ok(_) => bail!("{}: run {}: no run on a cluster", path.display(), run.name),
            Err(exit) => {
                terminal::say(&format!("that is in run {} of {}", run.name, path.display()));
                return Ok(exit);
            }
        }
    }
    let mut worst = Exit::Done;
    for (run, args) in runs.iter().zip(&parsed) {
        if !args.quiet && !args.dry_run {
            terminal::say(&format!("run {}", run.name));
        }
        let ended = match begun(args) {
            Some(dir) => super::go_on(args, dir)?,
            None => super::run(args)?,
        };
        match ended {
            Exit::Done => {}
            Exit::Interrupted => return Ok(Exit::Interrupted),
            other => worst = other,
        }
    }
    Ok(worst)
}

/// The directory of a run that was begun and is to go on.
fn begun(args: &K8sRunArgs) -> Option<&Path> {
    let dir = args.output.as_deref().filter(|_| !args.dry_run)?;
    dir.join(PLAN_FILE).is_file().then_some(dir)
}

/// What the file says: what stands before its runs is said of each of them.
fn runs(path: &Path, text: &str) -> anyhow::Result<Vec<Run>> {
    let name = path.display();
    let mut all: Table = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| text[..span.start].split('\n').count());
        anyhow::anyhow!("{name}:{line}: {}", error.message())
    })?;
    let dir = path.parent().unwrap_or(Path::new(""));
    let Some(each) = all.remove(RUNS) else {
        return Ok(vec![of_table(&name.to_string(), dir, String::from(RUNS), &all)?]);
    };
    let Value::Array(each) = each else {
        bail!("{name}: {RUNS}: each run is a table: [[{RUNS}]]");
    };
    if each.is_empty() || each.len() > RUNS_MAX {
        bail!(
            "{name}: it has {} runs: 1 to {RUNS_MAX} are carried out",
            each.len()
        );
    }
    let mut runs: Vec<Run> = Vec::new();
    for (place, one) in each.into_iter().enumerate() {
        let Value::Table(mut one) = one else {
            bail!("{name}: {RUNS}: each run is a table: [[{RUNS}]]");
        };
        let called = match one.remove(NAME) {
            None => (place + 1).to_string(),
            Some(Value::String(called)) if is_file_name(&called) => called,
            Some(other) => bail!("{name}: {NAME} = {other}: letters, digits, - and _ name its directory"),
        };
        if runs.iter().any(|other| other.name == called) {
            bail!("{name}: two runs are called {called}");
        }
        let mut whole = all.clone();
        whole.extend(one);
        runs.push(of_table(&name.to_string(), dir, called, &whole)?);
    }
    Ok(runs)
}

fn is_file_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.chars().all(fits)
}

fn of_table(file: &str, dir: &Path, name: String, table: &Table) -> anyhow::Result<Run> {
    let (mut flags, mut jobs) = (Vec::new(), Vec::new());
    for (key, value) in table {
        let wrong =
            || format!("{file}: {key} = {value}: a text, a number, true, false or a list of texts goes here");
        let texts: Vec<String> = match value {
            Value::String(text) => vec![text.clone()],
            Value::Integer(number) => vec![number.to_string()],
            Value::Boolean(false) => continue,
            Value::Boolean(true) => Vec::new(),
            Value::Array(all) => all
                .iter()
                .map(|one| one.as_str().map(str::to_owned).with_context(wrong))
                .collect::<anyhow::Result<_>>()?,
            _ => bail!(wrong()),
        };
        if key == JOBS {
            jobs.extend(texts.iter().map(|job| dir.join(job).into_os_string()));
            continue;
        }
        let flag = format!("--{key}");
        // As one word, so that a value that begins with a hyphen is one.
        let words = match value {
            Value::Boolean(_) => vec![OsString::from(&flag)],
            _ => texts.iter().map(|text| format!("{flag}={text}").into()).collect(),
        };
        flags.push((flag, words));
    }
    Ok(Run { name, flags, jobs })
}

/// The words that were typed, without the program's, its command's, the file and where results go.
fn typed_beside(typed: &[OsString], file: &Path) -> Vec<OsString> {
    let mut beside = Vec::new();
    let mut words = typed.iter().skip(3);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if word == file.as_os_str() || text.starts_with("--output=") {
            continue;
        }
        if text == "-o" || text == "--output" {
            words.next();
            continue;
        }
        beside.push(word.clone());
    }
    beside
}

/// The command line of a run.
fn words(run: &Run, typed: &[OsString], output: Option<&Path>) -> Vec<OsString> {
    let is_typed = |flag: &str| {
        typed.iter().any(|word| {
            let word = word.to_string_lossy();
            let long = LETTERS
                .iter()
                .find(|(letter, _)| *letter == word)
                .map(|(_, long)| *long);
            let long = long.unwrap_or(&word);
            long == flag || long.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
        })
    };
    let mut words: Vec<OsString> = ["fathom", "k8s", "run"].map(OsString::from).into();
    if let Some(dir) = output.map(|dir| dir.join(&run.name)) {
        words.extend([OsString::from("-o"), dir.into_os_string()]);
    }
    let own = run.flags.iter().filter(|(flag, _)| !is_typed(flag));
    words.extend(own.flat_map(|(_, words)| words.iter().cloned()));
    words.extend(typed.iter().cloned());
    words.push(OsString::from("--"));
    words.extend(run.jobs.iter().cloned());
    words
}

#[cfg(test)]
mod tests;
