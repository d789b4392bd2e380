//! Messages that name the next step.

use super::explain;
use fathom_core::run::StartStep;
use fathom_engine::StartFailure;
use fathom_engine::run::RunError;
use fathom_observe::SystemRoot;
use std::io::Error;
use std::path::PathBuf;

fn start(what: &str, errno: i32) -> RunError {
    RunError::Start {
        job: String::from("job"),
        failure: StartFailure {
            what: StartStep::from_name(what).expect("a step"),
            path: Some(PathBuf::from("F")),
            source: Error::from_raw_os_error(errno),
        },
    }
}

#[test]
fn each_usual_cause_has_its_remedy() {
    let empty = tempfile::tempdir().expect("dir");
    let system = SystemRoot::new(empty.path());
    for (what, errno, expected) in [
        ("io_uring_setup", 38, "ioengine=libaio"),
        ("io_setup", 11, "fs.aio-max-nr"),
        ("open with O_DIRECT", 22, "direct=0"),
        ("open", 13, "Run as a user"),
        ("open", 24, "ulimit -n"),
        ("sched_setaffinity", 22, "cpus_allowed="),
        ("setpriority", 13, "nice="),
        ("ioprio_set", 1, "prioclass="),
    ] {
        let message = explain(&system, &start(what, errno));
        assert!(message.contains(expected), "{what}: {message}");
        assert!(message.starts_with("job: "), "{message}");
    }
}
