use super::observe_commands;
use crate::compare::figure::Quantity;
use crate::compare::judge::{Settings, Verdict, judge};
use crate::fixtures;
use fathom_core::run::{CommandExit, CommandSummary, CpuUsage, ProcessIo, Run};
use fathom_core::units::WallTime;

fn run(number: u64, duration_ns: u64, io: Option<ProcessIo>) -> Run {
    let mut run = fixtures::quiet();
    run.workload.jobs.clear();
    run.started_unix_ns = WallTime(number * 1_000_000_000_000);
    run.summary.commands = vec![CommandSummary {
        argv: vec![String::from("restore")],
        started_ns: 1_000,
        ended_ns: 1_000 + duration_ns,
        exit: CommandExit::Code(0),
        cpu: CpuUsage {
            user_ns: 7_000_000,
            ..CpuUsage::default()
        },
        io,
        devices: Vec::new(),
        waits: None,
        course: None,
        tasks: None,
        outliving: 0,
        sync_ns: None,
        missing: Vec::new(),
    }];
    run
}

fn io(read_bytes: u64) -> ProcessIo {
    ProcessIo {
        read_bytes,
        ..ProcessIo::default()
    }
}

#[test]
fn commands_are_compared_by_what_all_of_them_tell() {
    let a: Vec<Run> = (0..5)
        .map(|n| run(2 * n, 1_000_000_000 + n * 1_000_000, Some(io(4096))))
        .collect();
    let b: Vec<Run> = (0..5)
        .map(|n| run(2 * n + 1, 1_500_000_000 + n * 1_000_000, Some(io(4096))))
        .collect();
    let observed = observe_commands([&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>()]);
    let quantities: Vec<Quantity> = observed.iter().map(|one| one.figure.quantity).collect();
    // Nobody waited was seen, and nothing was written: neither is a figure.
    assert_eq!(
        quantities,
        [Quantity::Duration, Quantity::CpuTime, Quantity::StorageRead]
    );
    let judged = judge(observed, Settings { margin: 0.1 });
    assert_eq!(judged[0].verdict, Verdict::Differs);
    let found = judged[0].difference.expect("a difference");
    assert!(found.low > 0.48 && found.high < 0.51, "{found:?}");
    assert_ne!(
        judged[2].verdict,
        Verdict::Differs,
        "the same bytes are no difference"
    );
}

#[test]
fn what_one_of_them_does_not_tell_is_not_compared() {
    let (a, b) = (run(0, 5, Some(io(1))), run(1, 5, None));
    let observed = observe_commands([&[&a], &[&b]]);
    assert!(
        observed
            .iter()
            .all(|one| one.figure.quantity != Quantity::StorageRead)
    );
    let mut watched = run(2, 5, None);
    watched.summary.commands.clear();
    assert!(observe_commands([&[&a], &[&watched]]).is_empty());
}
