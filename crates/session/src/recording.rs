//! A recording without a load of its own: steps 6, 7, 9 and 10 of [`crate::session`], around whatever else goes on.

use crate::conditions;
use crate::event::Observer;
use crate::machine::Machine;
use crate::measure::{End, finish};
use crate::outcome::{self, Counters};
use crate::planned::Planned;
use crate::recorder::Recorder;
use crate::request::{How, Request};
use crate::streams::{StreamRecorder, Subject};
use fathom_core::run::{Environment, Run, Status, TargetFile};
use fathom_core::workload::{Workload, Written};
use fathom_engine::plan::Plan;
use fathom_observe::{SystemRoot, trace};
use fathom_sys::clock::HostClock;
use fathom_sys::heap;
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
        let mut conditions = conditions::look_at(system, file, &request.environment, &clock);
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
            StreamRecorder::begin(dir, system, subject, &clock)
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
        })
    }

    /// The clock that it is recorded by.
    pub fn clock(&self) -> &HostClock {
        &self.clock
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
        } = self;
        let streams = streams.end();
        outcome::used(&mut run, counters.end(system, &clock));
        run.status = status;
        let (end, _) = finish(&mut run, Arc::default(), recorder, Some(streams), observer);
        (run, end)
    }
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
