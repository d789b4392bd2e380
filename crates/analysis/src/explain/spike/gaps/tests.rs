use super::*;
use crate::explain::CounterScan;
use crate::explain::timeline::SECOND_NS;
use fathom_core::record::StreamSummary;
use fathom_core::run::Run;
use fathom_testkit::make;
use fathom_testkit::scenarios::empty_run;

fn run(dropped: &[(StreamKind, u64)]) -> Run {
    let mut run = empty_run();
    run.summary.streams = dropped
        .iter()
        .map(|&(kind, dropped)| StreamSummary {
            kind,
            rows: 1000,
            dropped,
            missing: Vec::new(),
        })
        .collect();
    run
}

/// `told` are readings: second, stream, rows lost by then.
fn gaps(run: &Run, told: &[(u64, StreamKind, f64)]) -> Gaps {
    let facts = Facts::new(run);
    let mut scan = CounterScan::new(&facts);
    for &(second, kind, rows) in told {
        let labels: &'static str = format!("stream=\"{}\"", kind.name()).leak();
        let at_ns = facts.started_ns() + second * SECOND_NS;
        scan.feed(&[make::counter(
            at_ns,
            "fathom_record_dropped_rows_total",
            labels,
            rows,
        )]);
    }
    let scanned = Scanned {
        counters: Some(scan.finish()),
        ..Scanned::default()
    };
    Gaps::of(&facts, &scanned)
}

/// In which of the first six seconds rows were lost.
fn seconds(run: &Run, gaps: &Gaps, kind: StreamKind) -> Vec<u64> {
    let start = Facts::new(run).started_ns();
    let lost = |second: &u64| {
        let (from, to) = (start + second * SECOND_NS, start + (second + 1) * SECOND_NS);
        gaps.within_ns(kind, from, to) == SECOND_NS
    };
    (0..6).filter(lost).collect()
}

#[test]
fn rows_are_lost_when_the_record_says_so() {
    use StreamKind::{Block, Cpus, Io, Sched};
    let run = run(&[(Io, 0), (Block, 3), (Sched, 9), (Cpus, 1)]);
    let told = [
        (1, Io, 0.0),
        (1, Block, 0.0),
        (1, Sched, 4.0),
        (1, Cpus, 0.0),
        (2, Block, 3.0),
        (4, Sched, 9.0),
        (5, Sched, 9.0),
        (5, Cpus, 1.0),
    ];
    let gaps = gaps(&run, &told);
    assert!(seconds(&run, &gaps, Io).is_empty());
    assert_eq!(seconds(&run, &gaps, Block), [1]);
    assert_eq!(seconds(&run, &gaps, Sched), [0, 1, 2, 3]);
    // Of what the scheduler did not tell, who had the CPUs is not known either.
    assert_eq!(seconds(&run, &gaps, Cpus), [0, 1, 2, 3, 4]);
    let start = Facts::new(&run).started_ns();
    let host: Vec<(u64, u64)> = gaps.of_host(start, start + 6 * SECOND_NS).collect();
    assert_eq!(host, [(start, start + 4 * SECOND_NS)]);
}

/// Of a loss whose time nobody told, any time may be.
#[test]
fn a_loss_at_an_unknown_time_may_be_at_any() {
    let run = run(&[(StreamKind::Block, 5)]);
    let gaps = gaps(&run, &[(1, StreamKind::Block, 0.0), (2, StreamKind::Block, 4.0)]);
    assert_eq!(seconds(&run, &gaps, StreamKind::Block), [0, 1, 2, 3, 4, 5]);
}
