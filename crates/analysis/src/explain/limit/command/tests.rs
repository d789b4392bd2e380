use super::*;
use crate::fixtures::quiet;
use fathom_core::run::{CommandCourse, CommandExit, CpuUsage, TimeSplit};
use fathom_core::units::MonoTime;

/// Only the parts of seconds at the limit that lie in the command's time count.
#[test]
fn a_limit_is_told_for_the_seconds_that_the_command_had_of_it() {
    let mut run = quiet();
    run.started_monotonic_ns = MonoTime(50 * SECOND_NS);
    let facts = Facts::new(&run);
    let measures = Measures {
        from: 1,
        to: 6,
        rates: vec![100.0, 500.0, 498.0, 400.0, 500.0, 500.0],
        ..Measures::default()
    };
    let command = CommandSummary {
        argv: vec![String::from("tar")],
        // From the middle of second 2 to the middle of second 6.
        started_ns: 52_500_000_000,
        ended_ns: 56_500_000_000,
        exit: CommandExit::Code(0),
        cpu: CpuUsage::default(),
        io: None,
        devices: Vec::new(),
        waits: None,
        course: None,
        tasks: None,
        outliving: 0,
        sync_ns: None,
        missing: Vec::new(),
    };
    let spans = spans_at(&facts, &measures, &measures.rates, 500.0, &command);
    let at = |from_ms: u64, to_ms: u64| (from_ms * 1_000_000, to_ms * 1_000_000);
    assert_eq!(
        spans,
        [
            at(52_500, 53_000),
            at(53_000, 54_000),
            at(55_000, 56_000),
            at(56_000, 56_500)
        ]
    );
    assert!(spans_at(&facts, &measures, &measures.rates, 600.0, &command).is_empty());
    // A second at a time on a CPU, but for what it waited for the disk.
    let split = |cpu: u64, disk: u64| TimeSplit {
        cpu_ns: cpu * 100_000_000,
        disk_ns: disk * 100_000_000,
        ..TimeSplit::default()
    };
    let course = CommandCourse {
        part_ns: SECOND_NS,
        parts: vec![split(2, 8), split(0, 10), split(9, 1), split(4, 6)],
    };
    let none = outside(&command, &course, Vec::new());
    assert_eq!((none.ns, none.spent), (4 * SECOND_NS, split(15, 25)));
    // What two disks were at the same time counts once: from 54 to 55 s neither was, half of the second part and half of the third.
    let both = [spans.clone(), vec![at(53_200, 53_900)]].concat();
    let rest = outside(&command, &course, both);
    assert_eq!(rest.ns, SECOND_NS);
    assert_eq!(
        (rest.spent.cpu_ns, rest.spent.disk_ns),
        (450_000_000, 550_000_000)
    );
}
