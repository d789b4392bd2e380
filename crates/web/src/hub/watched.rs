//! An observer of a session that keeps what it hears, and passes it on to another one.

use super::event::PointEvent;
use super::{Group, Hub, numbered};
use fathom_core::run::Status;
use fathom_core::sweep::Outcome;
use fathom_engine::run::Progress;
use fathom_session::sweep::{self, Step};
use fathom_session::{Event, Observer, SweepEvent};

/// Hears what another observer hears.
pub struct Watched<'a, O: ?Sized> {
    /// `None`: nobody looks.
    hub: Option<&'a Hub>,
    next: &'a mut O,
}

impl<'a, O: Observer + ?Sized> Watched<'a, O> {
    /// What `next` hears goes into `hub` as well, where there is one.
    pub fn new(hub: Option<&'a Hub>, next: &'a mut O) -> Self {
        Self { hub, next }
    }
}

impl<O: Observer + ?Sized> Observer for Watched<'_, O> {
    fn event(&mut self, event: Event<'_>) {
        if let Some(hub) = self.hub {
            hub.hear(&event);
        }
        self.next.event(event);
    }
}

impl Hub {
    fn hear(&self, event: &Event<'_>) {
        match event {
            Event::Rows(rows) => self.rows(rows),
            Event::Latencies(latencies) => self.latencies(latencies),
            Event::Machine { counters, credit } => {
                self.credit(credit);
                if let Some(row) = counters.first() {
                    self.counters(row.at_ns, counters);
                }
            }
            Event::Progress(progress) => self.progress(progress),
            Event::Sweep(SweepEvent::StepEnded { step, progress, .. }) => self.step(*step, progress),
            Event::Sweep(
                SweepEvent::StepBegins { .. }
                | SweepEvent::Progress { .. }
                | SweepEvent::ProbeBegins
                | SweepEvent::ProbeFailed { .. }
                | SweepEvent::Ended,
            )
            | Event::Shared { .. }
            | Event::Stays { .. }
            | Event::LayingOut { .. }
            | Event::LaidOut
            | Event::Unmarked(_)
            | Event::NotRecorded(_)
            | Event::LoadEnded
            | Event::Standing(_)
            | Event::RecordStays(_)
            | Event::RecordFailed(_) => {}
        }
    }

    pub(super) fn progress(&self, progress: &Progress) {
        let mut state = self.state();
        state.elapsed = progress.elapsed;
        for group in &progress.groups {
            let name = match state.groups.get(&group.group) {
                Some(known) => known.name.clone(),
                // Of two groups whose jobs have the same names each is a series of its own.
                None => numbered(&group.name, |name| {
                    state.groups.values().any(|other| other.name == *name)
                }),
            };
            let known = Group {
                name,
                workers: group.running,
                fraction: if group.done { Some(1.0) } else { group.fraction },
            };
            state.groups.insert(group.group, known);
        }
    }

    fn step(&self, step: Step, progress: &sweep::Progress<'_>) {
        let results = progress.results(Status::Running);
        let point = results.points.get(step.point as usize);
        let measured = point.and_then(|point| match &point.outcome {
            Outcome::Measured { repeats } => Some((&point.coordinates, repeats)),
            Outcome::Pending | Outcome::Inferred(_) | Outcome::Failed { .. } => None,
        });
        let Some((at, repeats)) = measured else {
            return self.step_done(None, None);
        };
        let count = repeats.len().max(1) as f64;
        let iops = repeats.iter().map(|one| one.total.iops).sum::<f64>() / count;
        let bytes = repeats.iter().map(|one| one.total.bytes_per_second).sum::<f64>() / count;
        let p99_ns = repeats.last().and_then(|one| one.total.lat_ns.percentile(99.0));
        let event = PointEvent::new(at, iops, bytes, p99_ns);
        self.step_done(Some((event.name.clone(), iops, bytes)), Some(event));
    }
}
