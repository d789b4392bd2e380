//! Programs in place of I/O.

use super::{options, plan, run};
use crate::plan::{Kind, Plan, PlanError};
use crate::run::{NoHooks, Options, Results, RunError};
use fathom_core::run::Status;
use fathom_core::units::Nanos;
use fathom_core::workload::{EngineKind, Job, Workload};
use std::path::Path;
use std::time::{Duration, Instant};

/// A shell that is given a script below `directory`, which keeps nothing of what it prints.
fn shell(directory: &Path, script: &str) -> Job {
    let file = directory.join("script");
    std::fs::write(&file, script).expect("a script");
    let mut job = Job {
        name: String::from("program"),
        ..Job::default()
    };
    job.engine.kind = EngineKind::Exec;
    job.program.path = String::from("sh");
    job.program.arguments = format!("{} %r %n", file.display());
    job.program.keeps_output = false;
    job
}

fn run_allowed(job: &Job) -> Results {
    let options = Options {
        allow_exec: true,
        ..options()
    };
    run(&plan(std::slice::from_ref(job)), &options, &mut NoHooks).expect("a run")
}

/// Whether a process of this number is there.
fn lives(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

#[test]
fn a_program_is_run_and_counts_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let said = directory.path().join("said");
    let job = shell(directory.path(), &format!("echo $1 $2 >{}", said.display()));
    let results = run_allowed(&job);
    assert_eq!(results.status, Status::Complete);
    assert_eq!(results.jobs[0].total_ios(), 0);
    assert_eq!(
        std::fs::read_to_string(said).expect("what it said"),
        "0 program\n"
    );
}

#[test]
fn it_is_ended_when_the_job_is_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let pids = directory.path().join("pids");
    // One that hears SIGTERM, and one that does not; each has started another.
    for (deaf, script) in [(false, ""), (true, "trap '' TERM; ")] {
        let script = format!("{script}sleep 300 & echo $$ $! >{}; wait; wait", pids.display());
        let mut job = shell(directory.path(), &script);
        job.limit.runtime = Some(Nanos::from_millis(600));
        job.program.grace = Nanos::from_millis(400);
        let begun = Instant::now();
        let results = run_allowed(&job);
        let took = begun.elapsed();
        assert_eq!(results.status, Status::Complete, "{:?}", results.jobs[0].errors);
        let least = Duration::from_millis(if deaf { 1000 } else { 600 });
        assert!(
            took >= least && took < Duration::from_secs(30),
            "{deaf}: {took:?}"
        );
        let pids = std::fs::read_to_string(&pids).expect("their numbers");
        let all_gone = || pids.split_whitespace().all(|pid| !lives(pid));
        let begun = Instant::now();
        while !all_gone() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Who was started by another is a moment longer in the list than its parent.
        assert!(all_gone(), "{deaf}: {pids}");
    }
}

#[test]
fn with_time_based_the_job_lasts_as_long_as_its_runtime() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = shell(directory.path(), "exit 0");
    job.limit.runtime = Some(Nanos::from_millis(500));
    for time_based in [false, true] {
        job.limit.time_based = time_based;
        let results = run_allowed(&job);
        let lasted = results.end.since(results.epoch);
        assert_eq!(lasted >= Nanos::from_millis(500), time_based, "{lasted:?}");
    }
}

#[test]
fn what_fails_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = shell(directory.path(), "exit 3");
    let results = run_allowed(&job);
    assert_eq!(results.status, Status::Failed);
    let error = &results.jobs[0].errors[0];
    assert!(
        error.message.contains("sh ended by itself with exit status: 3"),
        "{error:?}"
    );
    job.program.path = String::from("/no/such/program");
    let results = run_allowed(&job);
    let error = &results.jobs[0].errors[0];
    assert_eq!((error.what.as_str(), error.errno), ("exec", 2));
    assert!(
        error.message.starts_with("/no/such/program: No such file"),
        "{error:?}"
    );
}

#[test]
fn nobody_runs_it_without_leave() {
    let directory = tempfile::tempdir().expect("a directory");
    let there = directory.path().join("there");
    let job = shell(directory.path(), &format!("touch {}", there.display()));
    let refused = run(&plan(&[job]), &options(), &mut NoHooks);
    assert!(matches!(refused, Err(RunError::Command { .. })), "{refused:?}");
    assert!(!there.exists());
}

#[test]
fn what_it_prints_is_planned_as_files_of_the_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = shell(directory.path(), "");
    job.program.keeps_output = true;
    job.numjobs = 2;
    let planned = plan(std::slice::from_ref(&job));
    let names: Vec<_> = planned
        .files
        .iter()
        .map(|file| file.path.display().to_string())
        .collect();
    assert_eq!(
        names,
        [
            "program.1.stderr",
            "program.1.stdout",
            "program.stderr",
            "program.stdout"
        ]
    );
    for file in &planned.files {
        assert!(file.kind == Kind::Printed && file.touches() && !file.changes_size());
    }
    job.name = String::from("../elsewhere");
    let refused = Plan::new(&Workload { jobs: vec![job] });
    assert!(
        matches!(refused, Err(PlanError::OutsideDirectory { .. })),
        "{refused:?}"
    );
}
