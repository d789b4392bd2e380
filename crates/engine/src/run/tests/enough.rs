//! Ends of the counted time in real time: enough, a cooldown, shorter intervals.

use super::{job, options, plan, run};
use crate::run::{Hooks, Options};
use fathom_core::run::{SeriesRow, Status};
use fathom_core::units::Nanos;
use fathom_core::workload::{EngineKind, Job, Mix, Rate};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Has enough after so many counted rows.
struct Patience {
    enough: Arc<AtomicBool>,
    rows: usize,
    kept: Vec<SeriesRow>,
}

impl Hooks for Patience {
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.kept.extend_from_slice(rows);
        if self.kept.iter().filter(|row| !row.ramp).count() >= self.rows {
            self.enough.store(true, Ordering::Relaxed);
        }
    }
}

fn until_enough(jobs: &[Job], rows: usize, interval_ms: u64) -> (crate::run::Results, Vec<SeriesRow>) {
    let options = Options {
        interval: Nanos::from_millis(interval_ms),
        ..options()
    };
    let mut hooks = Patience {
        enough: Arc::clone(&options.enough),
        rows,
        kept: Vec::new(),
    };
    let begun = Instant::now();
    let results = run(&plan(jobs), &options, &mut hooks).expect("results");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    (results, hooks.kept)
}

fn endless(name: &str, directory: &Path) -> Job {
    let mut job = job(name, EngineKind::Psync, Mix::Read, directory);
    job.limit.runtime = Some(Nanos::from_secs(600));
    job.limit.time_based = true;
    job
}

#[test]
fn enough_completes_a_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut slow = endless("slow", directory.path());
    slow.pace.rate[0] = Some(Rate::BytesPerSecond(1));
    let mut waiting = endless("waiting", directory.path());
    waiting.start.stonewall = true;
    let jobs = [endless("endless", directory.path()), slow, waiting];
    let (results, _) = until_enough(&jobs, 2, 100);
    assert_eq!(results.status, Status::Complete);
    assert!(results.jobs[0].read.ios > 20);
    // Its worker may begin later than the run does.
    assert!(results.jobs[0].runtime_ns > 0);
    assert_eq!((results.jobs[1].read.ios, results.jobs[2].read.ios), (1, 0));
}

#[test]
fn a_cooldown_is_not_in_the_results() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut cooled = endless("cooled", directory.path());
    cooled.limit.runtime = Some(Nanos::from_millis(300));
    cooled.limit.ramp_time = Nanos::from_millis(100);
    cooled.limit.cooldown_time = Nanos::from_millis(200);
    let begun = Instant::now();
    let (results, rows) = until_enough(&[cooled], usize::MAX, 50);
    assert!(begun.elapsed() >= Duration::from_millis(600));
    let summary = &results.jobs[0];
    assert_eq!(
        (results.status, summary.runtime_ns),
        (Status::Complete, 300_000_000)
    );
    let ios = |counted: bool| -> u64 {
        let ours = rows.iter().filter(|row| row.ramp != counted);
        ours.map(|row| row.ios).sum()
    };
    assert_eq!(ios(true), summary.read.ios);
    assert!(ios(false) > 0);
    let counted_ns: u64 = rows
        .iter()
        .filter(|row| !row.ramp)
        .map(|row| row.duration_ns)
        .sum();
    // The worker began a moment after the run: an interval of that moment, in which nothing completed, has no row.
    assert!((290_000_000..=300_000_000).contains(&counted_ns), "{counted_ns}");
    assert!(rows.last().is_some_and(|row| row.ramp), "the cooldown comes last");
}
