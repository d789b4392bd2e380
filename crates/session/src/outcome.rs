//! The record of a run: as it stands before the first I/O, and as it ends.
//!
//! Data in: the request, the conditions, the engine's results. Data out: a [`Run`]. It must not print or store.

use crate::conditions::{Conditions, Disks};
use crate::planned::{Planned, build};
use fathom_core::clock::Clock;
use fathom_core::run::{CpuUsage, DiskSummary, Run, SCHEMA, Status, Summary, Warning};
use fathom_core::units::{MonoTime, WallTime};
use fathom_engine::run::Results;
use fathom_observe::SystemRoot;
use fathom_sys::clock::HostClock;
use fathom_sys::process;
use std::time::{SystemTime, UNIX_EPOCH};

/// The record before the first I/O.
pub(crate) fn before(
    planned: &Planned<'_>,
    conditions: &Conditions,
    words: &[String],
    clock: &HostClock,
) -> Run {
    let now = clock.now();
    Run {
        schema: SCHEMA.to_owned(),
        build: build(),
        command: words.to_vec(),
        started_unix_ns: wall_time_of(now, clock),
        started_monotonic_ns: now,
        status: Status::Running,
        written: planned.request.written.clone(),
        workload: planned.request.workload.clone(),
        environment: conditions.environment.clone(),
        requirements: conditions.requirements.clone(),
        summary: Summary {
            schema: SCHEMA.to_owned(),
            target: conditions.target.clone(),
            jobs: Vec::new(),
            groups: Vec::new(),
            total: None,
            disks: Vec::new(),
            cpu: CpuUsage::default(),
            warnings: [&planned.warnings[..], &conditions.warnings].concat(),
            floor: None,
            model: None,
            streams: Vec::new(),
            commands: Vec::new(),
        },
    }
}

/// The civil time of a moment of the monotonic clock.
fn wall_time_of(moment: MonoTime, clock: &HostClock) -> WallTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock set before 1970 is shown as 1970.
    let now_ns = now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX));
    WallTime(now_ns.saturating_sub(clock.now().since(moment).0))
}

/// What was counted when the run began, to be subtracted at its end.
pub(crate) struct Counters {
    at: MonoTime,
    cpu: Option<CpuUsage>,
    disks: Option<Disks>,
}

impl Counters {
    /// The counters now; the disks' as they were seen with the conditions.
    pub(crate) fn begin(clock: &HostClock, disks: Option<Disks>) -> Self {
        Self {
            at: clock.now(),
            cpu: process::resource_usage_self().ok(),
            disks,
        }
    }

    /// What the disks counted so far. Counters that cannot be read are told of at the end.
    pub(crate) fn disks_so_far(&self, system: &SystemRoot, clock: &HostClock) -> Vec<DiskSummary> {
        let before = self.disks.as_ref();
        let both = before.and_then(|before| Some((before, before.again(system).ok()?)));
        both.map_or(Vec::new(), |(before, now)| {
            let duration = clock.now().since(self.at);
            before.snapshot.until(&now.snapshot, duration.0)
        })
    }

    /// What was used since.
    pub(crate) fn end(&self, system: &SystemRoot, clock: &HostClock) -> Used {
        let mut used = Used::default();
        let now = process::resource_usage_self().ok();
        match (self.cpu, now) {
            (Some(before), Some(now)) => used.cpu = now.since(&before),
            _ => used
                .warnings
                .push(missing("CPU time of the program: getrusage failed")),
        }
        if let Some(before) = &self.disks {
            match before.again(system) {
                Ok(after) => {
                    used.disks = before
                        .snapshot
                        .until(&after.snapshot, clock.now().since(self.at).0);
                    used.warnings.extend(before.snapshot.lost(&after.snapshot));
                }
                Err(error) => used
                    .warnings
                    .push(missing(&format!("disk counters: /proc/diskstats: {error}"))),
            }
        }
        used
    }
}

/// What a run used of the machine.
#[derive(Debug, Default)]
pub(crate) struct Used {
    cpu: CpuUsage,
    disks: Vec<DiskSummary>,
    warnings: Vec<Warning>,
}

impl Used {
    /// Of a modelled machine, which has disks and whose CPU is nobody's.
    pub(crate) fn of_model(disks: Vec<DiskSummary>) -> Self {
        Self {
            disks,
            ..Self::default()
        }
    }
}

fn missing(detail: &str) -> Warning {
    Warning::RecordIncomplete {
        detail: detail.to_owned(),
    }
}

/// Completes the record with what came out.
pub(crate) fn complete(run: &mut Run, results: &Results, used: Used, clock: &HostClock) {
    run.status = results.status;
    if results.epoch != MonoTime(0) {
        run.started_monotonic_ns = results.epoch;
        run.started_unix_ns = wall_time_of(results.epoch, clock);
    }
    run.summary.jobs.clone_from(&results.jobs);
    run.summary.groups.clone_from(&results.groups);
    run.summary.total.clone_from(&results.total);
    self::used(run, used);
}

/// Adds what was used of the machine.
pub(crate) fn used(run: &mut Run, used: Used) {
    run.summary.disks = used.disks;
    run.summary.cpu = used.cpu;
    run.summary.warnings.extend(used.warnings);
}

/// Adds what the record itself says of its worth.
pub(crate) fn judge(run: &mut Run) {
    let found = fathom_analysis::warnings::judge(run);
    run.summary.warnings.extend(found);
}
