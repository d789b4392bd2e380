//! A recording without a load of its own: steps 6, 7, 9 and 10 of [`crate::session`], around whatever else goes on.

use crate::command::{self, CommandLine, Wait};
use crate::conditions;
use crate::event::Observer;
use crate::machine::Machine;
use crate::measure::{End, finish};
use crate::outcome::{self, Counters};
use crate::planned::Planned;
use crate::recorder::Recorder;
use crate::request::{How, Request};
use crate::streams::{CommandSeen, StreamRecorder, Subject};
use fathom_core::clock::Clock;
use fathom_core::run::{CommandSummary, Environment, Run, Status, TargetFile};
use fathom_core::workload::{Workload, Written};
use fathom_engine::plan::Plan;
use fathom_observe::{SystemRoot, trace};
use fathom_sys::clock::HostClock;
use fathom_sys::{heap, process};
use std::path::Path;
use std::sync::Arc;

/// A recording under way.
pub struct Recording<'a> {
    system: &'a SystemRoot,
    run: Run,
    recorder: Option<Recorder>,
    streams: StreamRecorder,
    counters: Counters,
    clock: HostClock,
    command: Option<CommandSummary>,
}

impl<'a> Recording<'a> {
    /// Begins to record what happens on `file`, in `dir`. It changes nothing there.
    ///
    /// # Errors
    /// Nothing of what was asked for can be recorded, or the record cannot be begun.
    pub fn begin(
        system: &'a SystemRoot,
        how: &How,
        file: TargetFile,
        environment: Environment,
        dir: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Self> {
        // As in a run: batches come and go for as long as it goes on.
        heap::return_large_blocks();
        trace::sweep_left_over(system);
        let clock = HostClock::new();
        let request = no_load(environment);
        let mut conditions =
            conditions::look_at(system, file, how.called.as_deref(), &request.environment, &clock);
        let disks = conditions.disks.take();
        let planned = Planned {
            request: &request,
            plan: Plan {
                jobs: Vec::new(),
                files: Vec::new(),
            },
            warnings: Vec::new(),
        };
        let run = outcome::before(&planned, &conditions, &how.command, &clock);
        let subject = Subject {
            requested: how.streams,
            files: &run.summary.target.files,
            workers: 0,
            thread_names: &[],
        };
        let (recorder, streams) = Recorder::begin_beside(dir, &run, observer, |_| {
            StreamRecorder::begin(dir, system, subject, &clock, None)
        })?;
        streams.tell_missing(observer);
        let counters = Counters::begin(&clock, disks);
        Ok(Self {
            system,
            run,
            recorder: Some(recorder),
            streams,
            counters,
            clock,
            command: None,
        })
    }

    /// The clock that it is recorded by.
    pub fn clock(&self) -> &HostClock {
        &self.clock
    }

    /// Runs a command while it records, and gives what the kernel's own account says of it. The first signal that was passed
    /// on to it comes with it. `wait` is who listens for signals and children.
    ///
    /// # Errors
    /// The command cannot be started or waited for: give the recording up.
    pub fn run(
        &mut self,
        line: &CommandLine,
        wait: Wait<'_>,
    ) -> anyhow::Result<(&CommandSummary, Option<i32>)> {
        let mut unseen = None;
        if trace::numbers_tasks_as_here(self.system) {
            let disks = conditions::disk_names(&self.run.summary.target.files);
            self.streams
                .follow(process::thread_id(), self.clock.now().0, disks);
        } else {
            unseen = Some(String::from(
                "whose I/O was whose and what it waited for: the kernel's events number processes as the machine does, this \
                 container numbers its own (run fathom outside it, or with hostPID)",
            ));
        }
        let mut ended = command::run(line, self.system, &self.clock, wait)?;
        self.streams.ran(ended.summary.started_ns, ended.summary.ended_ns);
        if let Some(place) = &line.sync {
            match command::sync(place, &self.clock) {
                Ok(sync_ns) => ended.summary.sync_ns = Some(sync_ns),
                Err(error) => ended.summary.missing.push(format!("{error:#}")),
            }
        }
        ended.summary.missing.extend(unseen);
        Ok((self.command.insert(ended.summary), ended.signal))
    }

    /// Gives it up: nothing of it stays.
    pub fn abandon(self, observer: &mut dyn Observer) {
        self.streams.end();
        if let Some(recorder) = self.recorder {
            recorder.abandon(observer);
        }
    }

    /// Ends it, as one that ended so.
    pub fn end(self, status: Status, observer: &mut dyn Observer) -> (Run, End) {
        let Self {
            system,
            mut run,
            recorder,
            streams,
            counters,
            clock,
            command,
        } = self;
        let mut streams = streams.end();
        let seen = streams.command.take();
        let command = command.map(|command| with_seen(command, seen.unwrap_or_default()));
        run.summary.commands.extend(command);
        outcome::used(&mut run, counters.end(system, &clock));
        run.status = status;
        let (end, _) = finish(&mut run, Arc::default(), recorder, Some(streams), observer);
        (run, end)
    }
}

/// The command with what was seen of it.
fn with_seen(mut command: CommandSummary, seen: CommandSeen) -> CommandSummary {
    command.devices = seen.devices;
    if let Some(tree) = seen.tree {
        command.waits = Some(tree.waits);
        command.course = Some(tree.course);
        command.tasks = Some(tree.tasks);
        command.outliving = tree.living;
    }
    command.missing.extend(seen.missing);
    command
}

/// A request without jobs.
fn no_load(environment: Environment) -> Request {
    Request {
        workload: Workload { jobs: Vec::new() },
        written: Written {
            source: String::from("fathom record"),
            sections: Vec::new(),
        },
        warnings: Vec::new(),
        environment,
        machine: Machine::This,
    }
}
