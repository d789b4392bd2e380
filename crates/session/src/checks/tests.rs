//! What is told early.

use super::{check_cpus, list};
use fathom_core::workload::{EngineKind, Job, Workload};
use fathom_engine::plan::Plan;

fn plan(cpus: &[u32], split: bool) -> Plan {
    let mut job = Job {
        name: String::from("job"),
        cpus_allowed: cpus.to_vec(),
        cpus_split: split,
        ..Job::default()
    };
    job.engine.kind = EngineKind::Null;
    Plan::new(&Workload { jobs: vec![job] }).expect("a plan of the null engine")
}

#[test]
fn shared_cpus_need_one_that_is_there_and_split_ones_all() {
    assert!(check_cpus(&plan(&[], false), &[0, 1]).is_ok());
    assert!(check_cpus(&plan(&[1, 7], false), &[0, 1]).is_ok());
    for (cpus, split) in [([7, 8], false), ([1, 7], true)] {
        let error = check_cpus(&plan(&cpus, split), &[0, 1])
            .expect_err("missing")
            .to_string();
        assert!(error.contains("CPU 7") && error.ends_with("0-1"), "{error}");
    }
}

#[test]
fn lists_of_cpus_are_short() {
    assert_eq!(list(&[0, 1, 2, 3, 8]), "0-3, 8");
    assert_eq!(list(&[5]), "5");
}
