use super::super::{Facts, IoScan, Scanned, section};
use super::*;
use fathom_core::record::IoRecord;
use fathom_core::units::MonoTime;
use fathom_testkit::make;
use fathom_testkit::scenarios::empty_run;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Latencies of I/Os that end in given seconds.
fn section(ios: &[(u64, u64)]) -> SectionDistribution {
    let mut run = empty_run();
    run.started_monotonic_ns = MonoTime(0);
    let facts = Facts::new(&run);
    let mut scan = IoScan::new(&facts);
    let rows: Vec<IoRecord> = ios
        .iter()
        .map(|(second, latency_ns)| {
            let completed_ns = second * SECOND + SECOND / 2;
            make::io(completed_ns - latency_ns, completed_ns)
        })
        .collect();
    scan.feed(&rows);
    let scanned = Scanned {
        io: Some(scan.finish()),
        ..Scanned::default()
    };
    let sections = section::of(&facts, &scanned);
    of(&sections[0])
}

/// Ninety-nine of 4 ms and one of 400 ms: the average is 8 ms.
#[test]
fn an_average_hides_a_slow_io() {
    let mut ios = vec![(1, 4 * MS); 99];
    ios.push((1, 400 * MS));
    ios.extend([(2, 4 * MS); 10]);
    let section = section(&ios);
    assert_eq!(section.averages.seconds, 2);
    assert!(
        (section.averages.max_ns - 7.96e6).abs() < 1e4,
        "{:?}",
        section.averages
    );
    let hidden: Vec<(u64, u64, u64)> = section
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
    assert_eq!(section.whole.above, [1; 6]);
    assert_eq!(section.whole.max_ns, 400 * MS);
}

#[test]
fn only_percentiles_that_the_number_supports_are_given() {
    let section = section(&vec![(3, MS); 2000]);
    let largest = section.whole.percentiles.last().unwrap().0;
    assert!((largest - 99.0).abs() < 1e-9, "{:?}", section.whole.percentiles);
}

#[test]
fn hours_are_apart_and_add_up() {
    let section = section(&[(10, 7 * MS), (3700, 30 * MS), (3701, MS), (7300, 60 * MS)]);
    let hours: Vec<(u32, u64, u64)> = section
        .hours
        .iter()
        .map(|hour| (hour.hour, hour.ios.n, hour.ios.max_ns))
        .collect();
    assert_eq!(hours, [(0, 1, 7 * MS), (1, 2, 30 * MS), (2, 1, 60 * MS)]);
    let sum: u64 = section.hours.iter().map(|hour| hour.ios.above[0]).sum();
    assert_eq!((sum, section.whole.above[0], section.whole.n), (3, 3, 4));
}

/// I/Os that were under way when the load ended, a whole number of hours after its start.
#[test]
fn what_is_complete_just_after_the_last_hour_belongs_to_it() {
    let hours = |ios: &[(u64, u64)]| -> Vec<(u32, u64, u64)> {
        let section = section(ios);
        let hours = section.hours.iter();
        hours
            .map(|hour| (hour.hour, hour.ios.n, hour.ios.above[0]))
            .collect()
    };
    // One hour, and no table of hours.
    assert_eq!(hours(&[(10, MS), (3599, MS), (3600, 9 * MS)]), []);
    let two = [(10, MS), (3600, MS), (7199, MS), (7200, 9 * MS), (7200, MS)];
    assert_eq!(hours(&two), [(0, 1, 0), (1, 4, 1)]);
    // A second later the load is still under way.
    let more = [(10, MS), (3600, MS), (3601, MS)];
    assert_eq!(hours(&more), [(0, 1, 0), (1, 2, 0)]);
    // Nothing was in flight over the whole hour before.
    assert_eq!(hours(&[(10, MS), (7200, MS)]), [(0, 1, 0), (2, 1, 0)]);
    // In the midst of a run it is an hour in which little was done.
    let midst = [(10, MS), (3600, MS), (7300, MS)];
    assert_eq!(hours(&midst), [(0, 1, 0), (1, 1, 0), (2, 1, 0)]);
}
