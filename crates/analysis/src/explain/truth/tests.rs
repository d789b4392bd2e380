use super::super::IoScan;
use super::super::scenarios::empty_run;
use super::super::{Scanned, section};
use super::*;
use fathom_core::backend::Op;
use fathom_core::record::IoRecord;
use fathom_core::units::MonoTime;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Latencies of I/Os that end in given seconds.
fn truth(ios: &[(u64, u64)]) -> SectionTruth {
    let mut run = empty_run();
    run.started_monotonic_ns = MonoTime(0);
    let facts = Facts::new(&run);
    let mut scan = IoScan::new(&facts);
    let rows: Vec<IoRecord> = ios
        .iter()
        .map(|(second, latency_ns)| {
            let completed_ns = second * SECOND + SECOND / 2;
            let created_ns = completed_ns - latency_ns;
            IoRecord {
                intended_ns: created_ns,
                created_ns,
                submitted_ns: created_ns,
                completed_ns,
                offset_bytes: 0,
                len_bytes: 4096,
                file: 0,
                job: 0,
                worker: 0,
                depth: 1,
                errno: 0,
                op: Op::Read,
            }
        })
        .collect();
    scan.feed(&rows);
    let scanned = Scanned {
        io: Some(scan.finish()),
        ..Scanned::default()
    };
    let sections = section::of(&facts, &scanned);
    of(&facts, &sections[0])
}

/// Ninety-nine of 4 ms and one of 400 ms: the average is 8 ms.
#[test]
fn an_average_hides_a_slow_io() {
    let mut ios = vec![(1, 4 * MS); 99];
    ios.push((1, 400 * MS));
    ios.extend([(2, 4 * MS); 10]);
    let truth = truth(&ios);
    assert_eq!(truth.averages.seconds, 2);
    assert!(
        (truth.averages.max_ns - 7.96e6).abs() < 1e4,
        "{:?}",
        truth.averages
    );
    let hidden: Vec<(u64, u64, u64)> = truth
        .averages
        .hidden
        .iter()
        .map(|hidden| (hidden.above_ms, hidden.with_slow_io, hidden.hidden))
        .collect();
    // The average itself is above 6 ms: it hides nothing there.
    assert_eq!(
        hidden,
        [
            (6, 1, 0),
            (10, 1, 1),
            (15, 1, 1),
            (20, 1, 1),
            (25, 1, 1),
            (50, 1, 1)
        ]
    );
    assert_eq!(truth.whole.above, [1; 6]);
    assert_eq!(truth.whole.max_ns, 400 * MS);
}

#[test]
fn only_percentiles_that_the_number_supports_are_given() {
    let truth = truth(&vec![(3, MS); 2000]);
    let largest = truth.whole.percentiles.last().unwrap().0;
    assert!((largest - 99.0).abs() < 1e-9, "{:?}", truth.whole.percentiles);
}

#[test]
fn hours_are_apart_and_add_up() {
    let truth = truth(&[(10, 7 * MS), (3700, 30 * MS), (3701, MS), (7300, 60 * MS)]);
    let hours: Vec<(u32, u64, u64)> = truth
        .hours
        .iter()
        .map(|hour| (hour.hour, hour.ios.n, hour.ios.max_ns))
        .collect();
    assert_eq!(hours, [(0, 1, 7 * MS), (1, 2, 30 * MS), (2, 1, 60 * MS)]);
    let sum: u64 = truth.hours.iter().map(|hour| hour.ios.above[0]).sum();
    assert_eq!((sum, truth.whole.above[0], truth.whole.n), (3, 3, 4));
}
