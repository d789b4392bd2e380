use super::*;
use crate::fixtures::quiet;
use fathom_core::run::{CommandExit, CpuUsage};
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
        tasks: None,
        outliving: 0,
        sync_ns: None,
        missing: Vec::new(),
    };
    let ns = time_at(&facts, &measures, &measures.rates, 500.0, &command);
    assert_eq!(ns, 3 * SECOND_NS);
    assert_eq!(time_at(&facts, &measures, &measures.rates, 600.0, &command), 0);
}
