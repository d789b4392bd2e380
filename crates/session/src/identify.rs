//! The measurements that identify a disk, one after the other.
//!
//! Data in: measurements as [`fathom_identify`] names them, how each becomes a request. Data out: what came back. A modelled disk
//! is measured in virtual time, and nothing is kept of it; on this machine each measurement goes the way of
//! [`crate::session`] and is kept with every I/O in a directory of its own. It must not know what the measurements say.

use crate::event::{Event, Observer};
use crate::measure::{Conduct, Measured};
use crate::planned::Planned;
use crate::request::{Output, Request};
use crate::session::Session;
use crate::{directory, touched};
use anyhow::{Context, bail};
use fathom_core::backend::Op;
use fathom_core::record::IoRecord;
use fathom_core::run::{SeriesRow, Status};
use fathom_identify::drive::Modelled;
use fathom_identify::probe::{IOS_MAX, SECOND_NS};
use fathom_identify::{Io, Outcome, Probe, Schedule};
use fathom_model::Spec;
use fathom_store::RecordReader;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is told before each measurement: its number from 1, and what it is.
pub type Told<'a> = dyn FnMut(usize, &Probe) + 'a;

/// Makes all measurements on the machine of `spec`, in virtual time. `false`: `stop` came first.
pub fn modelled(schedule: &mut Schedule, spec: &Spec, stop: &AtomicBool, told: &mut Told<'_>) -> bool {
    let mut disk = Modelled::new(spec, spec.seed);
    while let Some(probe) = schedule.next() {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        told(schedule.outcomes().len() + 1, &probe);
        schedule.take(disk.measure(&probe));
    }
    true
}

/// Measurements on this machine.
pub struct Identification<'a> {
    /// Open for the file that they go to.
    pub session: &'a Session<'a>,
    /// Makes the request of a measurement.
    pub make: &'a dyn Fn(&Probe) -> anyhow::Result<Request>,
    /// Where each is kept.
    pub dir: &'a Path,
}

impl Identification<'_> {
    /// Makes all measurements. `false`: the user came first.
    ///
    /// # Errors
    /// One of them cannot be made, or failed; what was measured before is kept.
    pub fn carry_out(
        &self,
        schedule: &mut Schedule,
        observer: &mut dyn Observer,
        told: &mut Told<'_>,
    ) -> anyhow::Result<bool> {
        while let Some(probe) = schedule.next() {
            let number = schedule.outcomes().len() + 1;
            told(number, &probe);
            let Some(outcome) = self.measure(number, &probe, observer)? else {
                return Ok(false);
            };
            schedule.take(outcome);
        }
        Ok(true)
    }

    fn measure(
        &self,
        number: usize,
        probe: &Probe,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Option<Outcome>> {
        let request = (self.make)(probe)?;
        let mut planned = Planned::new(&request)?;
        // Nothing is left to be laid out: this drops what of the file is in memory.
        if self
            .session
            .lay_out(&mut planned.plan, &mut crate::event::Silent)?
            .is_none()
        {
            return Ok(None);
        }
        let place = self.dir.join(format!("{number:02}"));
        let reserved = directory::reserve(&Output::Directory(place.clone()), "identify")?;
        let enough = Arc::new(AtomicBool::new(false));
        let mut watcher = Watcher {
            probe,
            seconds: Vec::new(),
            elapsed_ns: 0,
            enough: Arc::clone(&enough),
            observer,
        };
        let conduct = Conduct {
            enough,
            rows_at_once: true,
            ..Conduct::default()
        };
        let measured = self
            .session
            .measure(&planned, reserved.as_deref(), &conduct, &mut watcher)?;
        let run = match measured {
            Measured::NotStarted { message } => bail!(message),
            Measured::Ended {
                unkept: Some(missing),
                ..
            } => bail!("measurement {number} is not kept whole: {}", missing.in_full()),
            Measured::Ended { run, .. } => run,
        };
        match run.status {
            Status::Interrupted => Ok(None),
            Status::Failed => bail!(
                "measurement {number} failed: fathom show {} tells why",
                place.display()
            ),
            _ => outcome(probe, &place).map(Some),
        }
    }
}

/// What a kept measurement says.
fn outcome(probe: &Probe, dir: &Path) -> anyhow::Result<Outcome> {
    let mut ios: Vec<Io> = Vec::new();
    let mut seconds: Vec<u64> = Vec::new();
    let (mut first_ns, mut last_ns, mut count) = (u64::MAX, 0, 0u64);
    let mut reader = RecordReader::<IoRecord>::open(dir)?;
    reader.for_each_batch(|rows| {
        for row in rows.iter().filter(|row| row.errno == 0 && row.op != Op::Sync) {
            first_ns = first_ns.min(row.created_ns);
            last_ns = last_ns.max(row.completed_ns);
            count += 1;
            let second = (row.completed_ns.saturating_sub(first_ns) / SECOND_NS) as usize;
            if seconds.len() <= second {
                seconds.resize(second + 1, 0);
            }
            seconds[second] += 1;
            if ios.len() < IOS_MAX {
                ios.push(Io {
                    submitted_ns: row.created_ns,
                    completed_ns: row.completed_ns,
                    is_write: row.op == Op::Write,
                });
            }
        }
    })?;
    if ios.is_empty() {
        return Err(touched(
            &anyhow::anyhow!("nothing was measured: no I/O was complete in time"),
            vec![dir.display().to_string()],
        ))
        .context("identify");
    }
    for io in &mut ios {
        io.submitted_ns = io.submitted_ns.saturating_sub(first_ns);
        io.completed_ns = io.completed_ns.saturating_sub(first_ns);
    }
    ios.sort_unstable_by_key(|io| io.completed_ns);
    let elapsed_ns = last_ns - first_ns;
    // The last second is not over.
    seconds.truncate((elapsed_ns / SECOND_NS) as usize);
    Ok(Outcome {
        probe: probe.clone(),
        ios,
        count,
        seconds,
        elapsed_ns,
    })
}

/// Ends a measurement when enough is known.
struct Watcher<'a> {
    probe: &'a Probe,
    seconds: Vec<u64>,
    elapsed_ns: u64,
    enough: Arc<AtomicBool>,
    observer: &'a mut dyn Observer,
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Rows(rows) => self.rows(rows),
            Event::RecordFailed(_) | Event::RecordStays(_) => self.observer.event(event),
            // What is worth a note at each of twenty measurements is worth none.
            _ => {}
        }
    }
}

impl Watcher<'_> {
    fn rows(&mut self, rows: &[SeriesRow]) {
        for row in rows {
            let second = row.second as usize;
            if self.seconds.len() <= second {
                self.seconds.resize(second + 1, 0);
            }
            self.seconds[second] += row.ios;
            self.elapsed_ns = self.elapsed_ns.max((u64::from(row.second) + 1) * SECOND_NS);
        }
        let ios = self.seconds.iter().sum();
        // Rows are those of seconds that are over: one more is under way.
        let mut seconds = self.seconds.clone();
        seconds.push(0);
        if self.probe.is_enough(self.elapsed_ns, ios, &seconds) {
            self.enough.store(true, Ordering::Relaxed);
        }
    }
}
