//! A program in place of I/O: it begins with its job, and is ended at the job's limit.
//!
//! Data in: a task of `ioengine=exec`. Data out: a report without I/O. It must not know who allowed it.

use super::{Message, Report, StartFailure, Task, start_delay, usage_between, worker_plan};
use crate::plan::printed_paths;
use crate::wait::sleep_until;
use crate::worker::Worker;
use fathom_core::backend::Errno;
use fathom_core::clock::Clock;
use fathom_core::run::StartStep;
use fathom_core::units::{MonoTime, Nanos};
use fathom_door::target;
use fathom_sys::process;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How often it is looked whether it has ended.
const LOOK: Nanos = Nanos::from_millis(20);
/// What its failures are called.
const CALL: &str = "exec";

/// Runs the program of `task`. `None`: stopped before it began.
pub(super) fn run(task: &Task, say: &dyn Fn(Message)) -> Result<Option<Report>, StartFailure> {
    let job = &task.job;
    let mut command = command(task)?;
    let plan = worker_plan(job, &task.files, task.index);
    let mut worker = Worker::new(plan, Arc::clone(&task.exchange), task.ends.clone());
    let mut clock = task.clock.clone();
    say(Message::Ready);
    let Some((epoch, start)) = task.gate.wait(&task.ends.stop) else {
        return Ok(None);
    };
    clock.discipline();
    let start = start.after(start_delay(job, task.index));
    while clock.now() < start && !task.ends.stop.load(Ordering::Relaxed) {
        sleep_until(&clock, start);
    }
    clock.discipline();
    let before = process::resource_usage_thread().unwrap_or_default();
    let begun = clock.now();
    worker.start(begun, epoch);
    let (end, wrong) = match command.spawn() {
        Ok(mut child) => {
            let followed = follow(task, &mut child, &mut worker, &mut clock, begun);
            let end = clock.now();
            match followed.and_then(|ended| ended.map_or_else(|| end_it(task, &mut child, &clock), Ok)) {
                Ok(Ended::ByItself(status)) if !status.success() => {
                    (end, Some((Errno(0), ended_badly(task, status))))
                }
                Ok(_) => (end, None),
                Err(error) => (end, Some(told(task, &error))),
            }
        }
        Err(error) => (begun, Some(told(task, &error))),
    };
    if let Some((errno, _)) = wrong {
        worker.fail(CALL, errno);
    }
    let cpu = usage_between(&before, None);
    let end = worker.finish(end);
    let words = wrong.map(|(_, words)| words);
    Ok(Some(Report {
        remarks: end.errors.entries().map(|_| words.clone()).collect(),
        end,
        tid: process::thread_id(),
        cpu,
        backend_error: None,
    }))
}

/// How a program came to its end.
enum Ended {
    ByItself(ExitStatus),
    /// The job was over.
    Asked,
}

/// What is to be run, with its outputs open.
fn command(task: &Task) -> Result<Command, StartFailure> {
    let job = &task.job;
    let program = &job.program;
    let mut command = Command::new(&program.path);
    // A group of its own: what it starts is ended with it, and Ctrl-C at a terminal reaches it through the job's end alone.
    command
        .args(program.words(&job.name, job.limit.runtime))
        .stdin(Stdio::null())
        .process_group(0);
    if program.keeps_output {
        let [out, err] = printed_paths(job, task.number);
        command.stdout(output(task, &out)?).stderr(output(task, &err)?);
    }
    Ok(command)
}

/// An empty file for what is printed: a new one, or one that an earlier run made.
fn output(task: &Task, path: &Path) -> Result<File, StartFailure> {
    let opened = task.permits.of(path).and_then(|permit| {
        // How much is printed is the program's business.
        permit.grows_to(i64::MAX as u64);
        let file = permit.make()?;
        target::resize(&file, 0)?;
        Ok(file)
    });
    opened.map_err(|source| StartFailure {
        what: StartStep::Open,
        path: Some(path.to_owned()),
        source,
    })
}

/// Waits until it ends, or until the job is over; `None`: it goes on. A job with `time_based` lasts as long as its runtime.
fn follow(
    task: &Task,
    child: &mut Child,
    worker: &mut Worker,
    clock: &mut impl Clock,
    begun: MonoTime,
) -> io::Result<Option<Ended>> {
    let limit = &task.job.limit;
    let runtime = limit
        .runtime
        .map(|runtime| begun.after(limit.ramp_time).after(runtime));
    let until = runtime.unwrap_or(MonoTime::NEVER);
    let mut status = None;
    loop {
        let now = clock.now();
        worker.roll_if_due(now);
        if worker.take_rolled().is_some() {
            clock.discipline();
        }
        if status.is_none() {
            status = child.try_wait()?;
        }
        let ends = &task.ends;
        let over = now >= until || ends.stop.load(Ordering::Relaxed) || ends.enough.load(Ordering::Relaxed);
        if over || status.is_some() && !limit.time_based {
            return Ok(status.map(Ended::ByItself));
        }
        sleep_until(clock, now.after(LOOK).min(until));
    }
}

/// SIGTERM, and where that does not end it in time, SIGKILL: to all that it started in its group.
fn end_it(task: &Task, child: &mut Child, clock: &impl Clock) -> io::Result<Ended> {
    // Until it is waited for, nobody else gets its number.
    let group = Pid::from_child(child);
    kill_process_group(group, Signal::TERM)?;
    let patience = clock.now().after(task.job.program.grace);
    while clock.now() < patience {
        if child.try_wait()?.is_some() {
            return Ok(Ended::Asked);
        }
        sleep_until(clock, clock.now().after(LOOK).min(patience));
    }
    if child.try_wait()?.is_none() {
        kill_process_group(group, Signal::KILL)?;
        child.wait()?;
    }
    Ok(Ended::Asked)
}

fn told(task: &Task, error: &io::Error) -> (Errno, String) {
    let words = format!("{}: {error}", task.job.program.path);
    (Errno(error.raw_os_error().unwrap_or(0)), words)
}

fn ended_badly(task: &Task, status: ExitStatus) -> String {
    let job = &task.job;
    let words = format!("{} ended by itself with {status}", job.program.path);
    if !job.program.keeps_output {
        return words;
    }
    let [_, err] = printed_paths(job, task.number);
    format!("{words}; what it said is in {}", err.display())
}
