//! Which job runs when.

use super::super::phases::JobState::{self, Done, Running, Waiting};
use super::super::phases::Phases;
use super::{job, options, plan};
use crate::run::{Hooks, NoHooks, Progress, run};
use crate::thread::Boundary::{self, Start, Stop};
use fathom_core::run::{SeriesRow, Status};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{EngineKind, Job, Mix};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// What the workers' threads met, by their names.
static MET: Mutex<Vec<(String, Boundary, Instant)>> = Mutex::new(Vec::new());

fn note(boundary: Boundary) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    MET.lock()
        .expect("no panic")
        .push((name, boundary, Instant::now()));
}

fn when(name: &str, boundary: Boundary) -> Instant {
    let met = MET.lock().expect("no panic");
    let found = met.iter().find(|(n, b, _)| n == name && *b == boundary);
    found.unwrap_or_else(|| panic!("{name} never met {boundary:?}")).2
}

fn timed(name: &str, ms: u64) -> Job {
    let mut job = job(name, EngineKind::Null, Mix::Read, Path::new(""));
    job.limit.runtime = Some(Nanos::from_millis(ms));
    job.limit.time_based = true;
    job.pace.rate[0] = Some(fathom_core::workload::Rate::Iops(100));
    job
}

#[test]
fn walls_and_waits_are_kept() {
    let mut jobs = [
        timed("short", 50),
        timed("long", 250),
        timed("after_short", 50),
        timed("behind_the_wall", 50),
        timed("beside_it", 50),
    ];
    jobs[2].start.wait_for = Some(String::from("short"));
    jobs[3].start.stonewall = true;
    let mut options = options();
    options.hook = Some(note);
    let results = run(&plan(&jobs), &options, &mut NoHooks).expect("a run");
    assert_eq!(results.status, Status::Complete);
    assert!(results.jobs.iter().all(|job| job.read.ios > 0));
    assert!(when("short.0", Start) < when("long.0", Stop));
    assert!(when("long.0", Start) < when("short.0", Stop));
    assert!(when("after_short.0", Start) >= when("short.0", Stop));
    assert!(when("after_short.0", Start) < when("long.0", Stop));
    for earlier in ["short.0", "long.0", "after_short.0"] {
        for later in ["behind_the_wall.0", "beside_it.0"] {
            assert!(
                when(later, Start) >= when(earlier, Stop),
                "{later} before {earlier}"
            );
        }
    }
    assert!(when("beside_it.0", Start) < when("behind_the_wall.0", Stop));
}

#[test]
fn a_delay_is_waited_for() {
    let mut jobs = [timed("at_once", 50), timed("delayed", 50)];
    jobs[1].start.delay = (Nanos::from_millis(150), Nanos::from_millis(150));
    let mut options = options();
    options.hook = Some(note);
    run(&plan(&jobs), &options, &mut NoHooks).expect("a run");
    let delay = when("delayed.0", Boundary::Start) - when("at_once.0", Boundary::Start);
    // The other one may itself begin late on a busy machine.
    assert!(delay.as_millis() >= 75, "{delay:?}");
}

/// What may start, state by state.
#[test]
fn phases() {
    let mut jobs = [
        timed("a", 1),
        timed("b", 1),
        timed("c", 1),
        timed("d", 1),
        timed("e", 1),
    ];
    jobs[1].start.wait_for = Some(String::from("a"));
    jobs[2].start.stonewall = true;
    jobs[4].start.stonewall = true;
    let phases = Phases {
        jobs: jobs.iter().collect(),
    };
    assert_eq!(phases.may_start(&[Waiting; 5]), [0]);
    assert_eq!(
        phases.may_start(&[Running, Waiting, Waiting, Waiting, Waiting]),
        []
    );
    assert_eq!(phases.may_start(&[Done, Waiting, Waiting, Waiting, Waiting]), [1]);
    assert_eq!(phases.may_start(&[Done, Running, Waiting, Waiting, Waiting]), []);
    assert_eq!(phases.may_start(&[Done, Done, Waiting, Waiting, Waiting]), [2, 3]);
    assert_eq!(phases.may_start(&[Done, Done, Done, Running, Waiting]), []);
    assert_eq!(phases.may_start(&[Done, Done, Done, Done, Waiting]), [4]);
}

/// A name that is only met later is nothing to wait for: it would be for ever.
#[test]
fn nobody_waits_for_those_behind_him() {
    let mut jobs = [timed("a", 1), timed("b", 1)];
    jobs[0].start.wait_for = Some(String::from("b"));
    jobs[1].start.wait_for = Some(String::from("nobody"));
    let phases = Phases {
        jobs: jobs.iter().collect(),
    };
    assert_eq!(phases.may_start(&[JobState::Waiting; 2]), [0, 1]);
}

/// Keeps all that a run tells.
#[derive(Default)]
struct Listener {
    rows: Vec<SeriesRow>,
    progress: Vec<Progress>,
    epoch: Option<MonoTime>,
}

impl Hooks for Listener {
    fn started(&mut self, epoch: MonoTime) {
        assert!(self.epoch.replace(epoch).is_none(), "started twice");
    }
    fn progress(&mut self, progress: &Progress) {
        self.progress.push(progress.clone());
    }
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.rows.extend_from_slice(rows);
    }
}

#[test]
fn rows_and_progress_are_told() {
    let mut jobs = [timed("first", 1_200), timed("second", 300)];
    jobs[0].numjobs = 2;
    jobs[1].start.stonewall = true;
    jobs[1].group = 1;
    let mut listener = Listener::default();
    let results = run(&plan(&jobs), &options(), &mut listener).expect("a run");
    assert_eq!(listener.epoch, Some(results.epoch));
    for (index, summary) in results.jobs.iter().enumerate() {
        let own = listener.rows.iter().filter(|row| row.job as usize == index);
        assert_eq!(own.map(|row| row.ios).sum::<u64>(), summary.read.ios);
    }
    let seconds: Vec<(u32, u32)> = listener.rows.iter().map(|row| (row.job, row.second)).collect();
    assert_eq!(seconds, [(0, 0), (0, 1), (1, 1)]);
    // A hundred a second each, over 1.2 s and two workers.
    assert!(
        (235..=240).contains(&results.jobs[0].read.ios),
        "{}",
        results.jobs[0].read.ios
    );
    assert_eq!(results.jobs[0].workers, 2);
    assert_eq!(results.groups.len(), 2);
    let fractions: Vec<f64> = (listener.progress.iter())
        .filter_map(|progress| progress.groups[0].fraction)
        .collect();
    assert!(fractions.len() > 8 && fractions.is_sorted(), "{fractions:?}");
    let last = listener.progress.last().expect("told");
    assert!(last.groups.iter().all(|group| group.done && group.running == 0));
}

#[test]
fn the_floor_is_measured() {
    let job = job(
        "floor",
        EngineKind::Psync,
        Mix::Read,
        std::env::temp_dir().as_path(),
    );
    let floor = crate::run::floor(&plan(&[job]).jobs[0], &options().clock).expect("a floor");
    assert!(floor.ios > 1000, "{floor:?}");
    assert!((1.0..100_000.0).contains(&floor.ns_per_io), "{floor:?}");
}
