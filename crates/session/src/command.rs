//! A command under observation: started, waited for, and what the kernel's own accounts say of it.
//!
//! Data in: the words of a command, a recording under way, who tells of signals. Data out: a [`CommandSummary`]. It must not
//! listen for signals itself, nor know what is shown.

use anyhow::{Context, anyhow};
use fathom_core::clock::Clock;
use fathom_core::run::{CommandExit, CommandSummary, CpuUsage};
use fathom_observe::SystemRoot;
use fathom_observe::process_io::ProcessIoAccount;
use fathom_sys::clock::HostClock;
use fathom_sys::{child, process};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// A command to be run.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Where what it prints goes.
    pub output: CommandOutput,
    /// Whether it reads what this program was given to read; else it reads nothing.
    pub reads_stdin: bool,
    /// Afterwards, what it left in the page cache is written out: of the file system that this is on, or of all where it is
    /// a device.
    pub sync: Option<PathBuf>,
}

/// Where what a command prints goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOutput {
    /// Where this program's own goes.
    Inherit,
    /// All of it to stderr: stdout has a document.
    Stderr,
    /// Nowhere.
    Null,
}

/// What came of a command.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub summary: CommandSummary,
    /// The first signal that was passed on to it.
    pub signal: Option<i32>,
}

/// Somebody to wait by: sleeps until a child may have ended or a signal came, which it then gives.
pub type Wait<'w> = &'w mut dyn FnMut() -> anyhow::Result<Option<i32>>;

impl CommandLine {
    /// Its words, as far as they are text.
    pub fn words(&self) -> Vec<String> {
        let words = self.argv.iter();
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Runs it to its end without a recording.
    ///
    /// # Errors
    /// It cannot be started or waited for.
    pub fn run_unseen(
        &self,
        system: &SystemRoot,
        clock: &HostClock,
        wait: Wait<'_>,
    ) -> anyhow::Result<CommandSummary> {
        Ok(run(self, system, clock, wait)?.summary)
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let (program, arguments) = self
            .argv
            .split_first()
            .filter(|(program, _)| !program.is_empty())
            .ok_or_else(|| anyhow!("the command is empty: give a program and its arguments after --"))?;
        let mut command = Command::new(program);
        // A group of its own: signals reach it and all it started, and Ctrl-C reaches this program first.
        command.args(arguments).process_group(0);
        if !self.reads_stdin {
            command.stdin(Stdio::null());
        }
        match self.output {
            CommandOutput::Inherit => {}
            CommandOutput::Stderr => {
                let stderr = io::stderr().as_fd().try_clone_to_owned();
                command.stdout(stderr.context("cannot pass stderr on")?);
            }
            CommandOutput::Null => {
                command.stdout(Stdio::null()).stderr(Stdio::null());
            }
        }
        command.spawn().map_err(|error| {
            let program = program.to_string_lossy();
            match error.kind() {
                io::ErrorKind::NotFound => {
                    anyhow!("{program}: no such program (for a line of the shell's: sh -c 'LINE')")
                }
                _ => anyhow::Error::from(error).context(format!("{program}: cannot be started")),
            }
        })
    }
}

/// Runs it to its end. What is seen of it elsewhere is not in the summary yet.
///
/// # Errors
/// It cannot be started or waited for; it does not run then.
pub(crate) fn run(
    line: &CommandLine,
    system: &SystemRoot,
    clock: &HostClock,
    wait: Wait<'_>,
) -> anyhow::Result<Ended> {
    let before = process::resource_usage_children();
    let started = clock.now();
    let mut running = line.spawn()?;
    let account = ProcessIoAccount::open(system, running.id());
    let waited = wait_for(&running, wait);
    let ended = clock.now();
    let signal = waited.inspect_err(|_| {
        // Nobody would look after it.
        let _gone = child::signal_group(running.id(), KILL);
        let _reaped = running.wait();
    })?;
    let mut missing = Vec::new();
    let io = account
        .and_then(ProcessIoAccount::read)
        .map_err(|error| missing.push(format!("the kernel's account of its I/O: {error}")))
        .ok();
    let status = running.wait().context("cannot wait for the command")?;
    let cpu = match (before, process::resource_usage_children()) {
        (Ok(before), Ok(after)) => after.since(&before),
        (Err(error), _) | (_, Err(error)) => {
            missing.push(format!("its CPU time: {error}"));
            CpuUsage::default()
        }
    };
    Ok(Ended {
        summary: CommandSummary {
            argv: line.words(),
            started_ns: started.0,
            ended_ns: ended.0,
            exit: exit(status),
            cpu,
            io,
            devices: Vec::new(),
            waits: None,
            course: None,
            tasks: None,
            outliving: 0,
            sync_ns: None,
            missing,
        },
        signal,
    })
}

const KILL: i32 = signal_hook::consts::SIGKILL;

/// Waits until it has ended, and passes signals on; the first of those.
fn wait_for(running: &Child, wait: Wait<'_>) -> anyhow::Result<Option<i32>> {
    let mut first = None;
    while !child::has_ended(running.id()).context("cannot wait for the command")? {
        if let Some(signal) = wait()? {
            first.get_or_insert(signal);
            child::signal_group(running.id(), signal).context("cannot pass a signal on to the command")?;
        }
    }
    Ok(first)
}

fn exit(status: ExitStatus) -> CommandExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandExit::Code(code),
        (None, Some(signal)) => CommandExit::Signal(signal),
        // A status of `wait` is the one or the other.
        (None, None) => CommandExit::Code(-1),
    }
}

/// Writes out what is in the page cache; how long that took, in nanoseconds.
///
/// # Errors
/// Something could not be written.
pub(crate) fn sync(place: &Path, clock: &HostClock) -> anyhow::Result<u64> {
    let begun = clock.now();
    let is_place = place
        .metadata()
        .is_ok_and(|found| found.is_dir() || found.is_file());
    if is_place {
        let synced = File::open(place).and_then(|file| child::sync_file_system(&file));
        synced.with_context(|| format!("{}: what the command wrote could not be synced", place.display()))?;
    } else {
        child::sync_all();
    }
    Ok(clock.now().since(begun).0)
}

/// Runs a line of the shell's, such as what is to be done before a command, to its end.
///
/// # Errors
/// There is no shell, or the line failed.
pub fn shell(what: &str, line: &str, wait: Wait<'_>) -> anyhow::Result<()> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).process_group(0).stdin(Stdio::null());
    // stdout is the report's.
    let stderr = io::stderr().as_fd().try_clone_to_owned();
    command.stdout(stderr.context("cannot pass stderr on")?);
    let mut running = command
        .spawn()
        .with_context(|| format!("{what}: /bin/sh cannot be started"))?;
    let waited = wait_for(&running, wait);
    let status = running
        .wait()
        .with_context(|| format!("{what}: cannot be waited for"))?;
    match (waited?, status.success()) {
        (None, true) => Ok(()),
        (Some(_), _) => Err(anyhow!("{what}: interrupted")),
        (None, false) => Err(anyhow!("{what}: `{line}` failed: {status}")),
    }
}
