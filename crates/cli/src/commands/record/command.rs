//! `fathom record -- COMMAND`: a command under observation, once or several times.
//!
//! Data in: arguments as typed. Data out: a run directory a run of the command, and of several what they come to.

use super::{can_be_kept, on_device, subject, whole_seconds};
use crate::args::record::{OutputOfCommand, RecordArgs};
use crate::commands::serve::Serving;
use crate::exit::Exit;
use crate::request;
use crate::terminal::live::{self, Live};
use crate::terminal::signals::Watchman;
use crate::terminal::{self, signals, tell};
use anyhow::{Context, anyhow, bail};
use fathom_analysis::repeats;
use fathom_core::run::{CommandSummary, RepeatedRun, Repeats, Run, Status, Target, TargetFile};
use fathom_observe::{SystemRoot, target};
use fathom_report::{json, repeats as report, text};
use fathom_session::recording::Recording;
use fathom_session::{
    AfterTouching as _, CommandLine, CommandOutput, End, How, Output, reserve_directory, shell,
};
use fathom_sys::clock::HostClock;
use indicatif::ProgressBar;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const REDRAW: Duration = Duration::from_millis(500);
const LONG: Duration = Duration::from_mins(1);

/// What is the same for all runs.
struct Runs<'a> {
    args: &'a RecordArgs,
    system: &'a SystemRoot,
    file: TargetFile,
    line: CommandLine,
    stop: Arc<AtomicBool>,
    watchman: Watchman,
}

/// Carries it out.
pub(super) fn record(args: &RecordArgs, system: &SystemRoot) -> anyhow::Result<Exit> {
    can_be_kept(args)?;
    if args.line[0].is_empty() {
        bail!("the command is empty: give a program and its arguments after --");
    }
    let file = match &args.device {
        Some(named) => on_device(system, named)?,
        // A command is worth looking at without a device as well.
        None => target::inspect(system, Path::new(".")),
    };
    let output = args.output.clone().map_or(Output::Default, Output::Directory);
    let program = Path::new(&args.line[0]).file_name().unwrap_or(&args.line[0]);
    let stop = signals::stop_flag()?;
    let watchman = Watchman::new()?;
    let environment = request::machine();
    let target = Target {
        description: file.path.clone(),
        called: None,
        modelled: false,
        files: vec![file.clone()],
    };
    let about = subject(&program.to_string_lossy(), &environment, &target);
    let serving = Serving::begin(&args.serve, system, &about)?;
    let Some(dir) = reserve_directory(&output, &program.to_string_lossy())? else {
        bail!("--output none: a recording that is kept nowhere has no use");
    };
    let once = args.repeats.repeat == 1;
    let mut runs = Runs {
        line: CommandLine {
            argv: args.line.clone(),
            output: match args.repeats.output_of_command {
                OutputOfCommand::Null => CommandOutput::Null,
                OutputOfCommand::Inherit if args.repeats.json => CommandOutput::Stderr,
                OutputOfCommand::Inherit => CommandOutput::Inherit,
            },
            // It can be read once. In a group of its own it would be stopped at a terminal.
            reads_stdin: once && args.repeats.warmup == 0 && !std::io::stdin().is_terminal(),
            sync: args.repeats.sync.then(|| PathBuf::from(&file.path)),
        },
        args,
        system,
        file,
        stop,
        watchman,
    };
    let ended = if once { runs.once(&dir) } else { runs.several(&dir) };
    serving.end(&runs.stop);
    match ended {
        Err(_) if runs.interrupted() => Ok(Exit::Interrupted),
        ended => ended,
    }
}

impl Runs<'_> {
    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn once(&mut self, dir: &Path) -> anyhow::Result<Exit> {
        for _ in 0..self.args.repeats.warmup {
            self.warm_up()?;
        }
        let (run, end) = self.run(dir, "")?;
        let printed = if self.args.repeats.json {
            json::summary(&run)
        } else {
            text::render(&run, terminal::stdout_style(self.args.repeats.colour))
        };
        terminal::print(&printed).after_touching(|| tell::kept(Some(dir)))?;
        tell::place(Some(dir), self.args.quiet, "what it shows", "explain");
        Ok(self.exit_of(&run, end))
    }

    fn several(&mut self, dir: &Path) -> anyhow::Result<Exit> {
        let repeats = &self.args.repeats;
        let (warmup, repeat) = (repeats.warmup, repeats.repeat);
        for _ in 0..warmup {
            self.warm_up()?;
        }
        let mut kept: Vec<RepeatedRun> = Vec::new();
        let mut exit = Exit::Done;
        for number in 1..=repeat {
            let name = number.to_string();
            let place = reserve_directory(&Output::Directory(dir.join(&name)), "")?
                .context("a directory that was asked for")?;
            let what = format!("run {number} of {repeat}, ");
            let measured = self.run(&place, &what);
            let (run, end) = match measured {
                Ok(measured) => measured,
                // What came before is kept, and told.
                Err(error) if kept.is_empty() => return Err(error),
                Err(error) => {
                    tell::error(&error);
                    exit = Exit::Errors;
                    break;
                }
            };
            exit = self.exit_of(&run, end);
            let commands = run.summary.commands.into_iter();
            kept.extend(commands.map(|command| RepeatedRun {
                dir: name.clone(),
                command,
            }));
            if exit != Exit::Done {
                break;
            }
        }
        let found: Repeats = repeats::of(kept, warmup, repeats.prepare.clone(), repeats.cleanup.clone());
        let keep = || vec![format!("the runs in {}", dir.display())];
        fathom_store::write_repeats(dir, &found)
            .map_err(anyhow::Error::from)
            .after_touching(keep)?;
        let printed = if repeats.json {
            report::json(&found)
        } else {
            report::text(&found, terminal::stdout_style(repeats.colour))
        };
        terminal::print(&printed).after_touching(keep)?;
        let median = found.nearest_to_median().map(|run| dir.join(&run.dir));
        tell::place(
            median.as_deref(),
            self.args.quiet,
            "what the run nearest to the median shows",
            "explain",
        );
        Ok(exit)
    }

    /// Runs it without looking.
    fn warm_up(&mut self) -> anyhow::Result<()> {
        self.prepare()?;
        let clock = HostClock::new();
        let bar = self.bar();
        let ended = {
            let (system, watchman, line) = (self.system, &mut self.watchman, &self.line);
            let mut wait = || sleep(watchman, &bar, "warm-up, ");
            line.run_unseen(system, &clock, &mut wait)
        };
        bar.finish_and_clear();
        let command = ended?;
        if self.interrupted() {
            bail!("interrupted");
        }
        if !command.exit.is_success() && !self.args.repeats.ignore_failure {
            bail!(
                "the warm-up {}: nothing was recorded (--ignore-failure goes on)",
                report::exit(command.exit)
            );
        }
        self.cleanup()
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.shell("--prepare", self.args.repeats.prepare.as_deref())
    }

    fn cleanup(&mut self) -> anyhow::Result<()> {
        self.shell("--cleanup", self.args.repeats.cleanup.as_deref())
    }

    fn shell(&mut self, what: &str, line: Option<&str>) -> anyhow::Result<()> {
        let Some(line) = line else { return Ok(()) };
        let watchman = &mut self.watchman;
        shell(what, line, &mut || Ok(watchman.sleep(LONG)?))
    }

    /// Runs it once, with what comes before and after.
    fn run(&mut self, dir: &Path, what: &str) -> anyhow::Result<(Run, End)> {
        self.prepare()?;
        let how = How {
            streams: self.args.streams,
            command: self.args.words.clone(),
            called: self.args.called.clone(),
            ..How::default()
        };
        let mut live = Live::new(self.args.quiet);
        let mut recording = Recording::begin(
            self.system,
            &how,
            self.file.clone(),
            request::machine(),
            dir,
            &mut live,
        )?;
        let bar = self.bar();
        let watchman = &mut self.watchman;
        let mut wait = || sleep(watchman, &bar, what);
        let ran = recording.run(&self.line, &mut wait).map(|(_, signal)| signal);
        bar.finish_and_clear();
        let signal = match ran {
            Ok(signal) => signal,
            Err(error) => {
                recording.abandon(&mut live);
                return Err(error);
            }
        };
        let status = match signal {
            Some(_) => Status::Interrupted,
            None => Status::Complete,
        };
        let ended = recording.end(status, &mut live);
        self.cleanup().after_touching(|| tell::kept(Some(dir)))?;
        Ok(ended)
    }

    /// How the program ends after such a run; a command that failed is named.
    fn exit_of(&self, run: &Run, end: End) -> Exit {
        let failed = |command: &&CommandSummary| !command.exit.is_success();
        match run.summary.commands.iter().find(failed) {
            Some(command) if end == End::Done && !self.args.repeats.ignore_failure => {
                tell::error(&anyhow!(
                    "the command {} (--ignore-failure takes that as it is)",
                    report::exit(command.exit)
                ));
                Exit::Errors
            }
            _ => end.into(),
        }
    }

    fn bar(&self) -> ProgressBar {
        // What the command prints would be drawn over.
        let prints = self.line.output != CommandOutput::Null && std::io::stdout().is_terminal();
        live::bar(
            None,
            "{msg}",
            self.args.quiet || prints || !terminal::stderr_redraws(),
        )
    }
}

/// Waits until something happens, and shows how long it has been.
fn sleep(watchman: &mut Watchman, bar: &ProgressBar, what: &str) -> anyhow::Result<Option<i32>> {
    if bar.is_hidden() {
        return Ok(watchman.sleep(LONG)?);
    }
    let elapsed = whole_seconds(fathom_core::units::Nanos(bar.elapsed().as_nanos() as u64));
    bar.set_message(format!("{what}{elapsed} (Ctrl-C ends the command)"));
    Ok(watchman.sleep(REDRAW)?)
}
