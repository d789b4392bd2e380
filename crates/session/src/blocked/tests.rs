use super::{libaio_where_blocked, refusal, replace};
use crate::machine::Machine;
use crate::request::Request;
use fathom_core::run::{Environment, Warning};
use fathom_core::workload::{Depth, Engine, EngineKind, Job, Workload, Written};
use fathom_observe::SystemRoot;
use fathom_observe::limits::Advice;

fn job(name: &str, kind: EngineKind) -> Job {
    let plain = Job::default();
    Job {
        name: String::from(name),
        depth: Depth {
            iodepth: 8,
            ..plain.depth
        },
        engine: Engine {
            kind,
            fixed_buffers: kind == EngineKind::IoUring,
            registered_files: kind == EngineKind::IoUring,
            ..plain.engine.clone()
        },
        ..plain
    }
}

fn request(jobs: Vec<Job>) -> Request {
    Request {
        workload: Workload { jobs },
        written: Written::default(),
        warnings: Vec::new(),
        environment: Environment::default(),
        machine: Machine::This,
    }
}

fn both() -> Vec<Job> {
    vec![job("ring", EngineKind::IoUring), job("plain", EngineKind::Psync)]
}

#[test]
fn jobs_with_a_ring_get_libaio_and_the_record_says_so() {
    let mut request = request(both());
    replace(
        &mut request,
        &Advice {
            what: String::from("a filter blocks it"),
            remedy: String::from("Use another."),
        },
    );
    let jobs = &request.workload.jobs;
    assert_eq!(jobs[0].engine.kind, EngineKind::Libaio);
    assert!(!jobs[0].engine.fixed_buffers && !jobs[0].engine.registered_files);
    assert_eq!(jobs[0].depth.iodepth, 8, "all else stays");
    assert_eq!(jobs[1].engine.kind, EngineKind::Psync);
    let [warning @ Warning::EngineBlocked { jobs, .. }] = request.warnings.as_slice() else {
        panic!("{:?}", request.warnings);
    };
    assert_eq!(jobs, &["ring"]);
    let said = warning.in_full();
    assert!(
        said.starts_with("ring: libaio was used in the place of io_uring: a filter blocks it."),
        "{said}"
    );
}

#[test]
fn nothing_changes_where_a_ring_is_to_be_had_or_none_is_asked_for() {
    let mut plain = request(vec![job("plain", EngineKind::Psync)]);
    libaio_where_blocked(&SystemRoot::default(), &mut plain);
    assert!(plain.warnings.is_empty());
    if refusal().is_some() {
        return fathom_testkit::skipped(
            "nothing_changes_where_a_ring_is_to_be_had_or_none_is_asked_for",
            "io_uring",
        );
    }
    let mut ring = request(both());
    libaio_where_blocked(&SystemRoot::default(), &mut ring);
    assert_eq!(ring.workload.jobs[0].engine.kind, EngineKind::IoUring);
    assert!(ring.warnings.is_empty());
}
