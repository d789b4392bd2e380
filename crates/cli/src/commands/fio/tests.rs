//! The command line of fio.

use super::{check_readonly, weigh};
use fathom_core::workload::{Job, Mix, Workload, Written};
use fathom_dialect::read_fio_args;
use fathom_session::{Machine, Request};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_cannot_be_done_is_refused_with_a_remedy() {
    for (typed, expected) in [
        ("--trigger-remote=reboot --name=a", "Ctrl-C"),
        ("--merge-blktrace-only", "leave it out"),
    ] {
        let command = read_fio_args(&words(typed), &[]).expect(typed);
        let error = weigh(&command).expect_err(typed).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn readonly_refuses_a_job_that_writes() {
    let command = read_fio_args(&words("--readonly --name=a"), &[]).expect("command");
    let request = |mix| {
        let mut job = Job::default();
        job.pattern.mix = mix;
        Request {
            workload: Workload { jobs: vec![job] },
            written: Written::default(),
            warnings: Vec::new(),
            environment: fathom_core::run::Environment::default(),
            machine: Machine::This,
        }
    };
    assert!(check_readonly(&command, &request(Mix::Read)).is_ok());
    assert!(check_readonly(&command, &request(Mix::Write)).is_err());
}
