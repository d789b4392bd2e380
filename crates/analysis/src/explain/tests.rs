use super::scenarios::explained;
use super::*;
use fathom_core::record::{BlockRequest, IoRecord};
use fathom_core::rng::Rng;
use fathom_testkit::make;
use fathom_testkit::scenarios::{Scenario, empty_run};
use std::time::Instant;

const ROWS: usize = 1 << 20;

/// A million I/Os at 100,000 a second, and their requests.
fn rows() -> (Vec<IoRecord>, Vec<BlockRequest>) {
    let mut rng = Rng::new(7);
    let (mut ios, mut requests) = (Vec::with_capacity(ROWS), Vec::with_capacity(ROWS));
    for number in 0..ROWS as u64 {
        let created_ns = 1_000_000_000 + number * 10_000;
        // One in ten thousand is slow.
        let slow = if rng.below(10_000) == 0 { 30 } else { 1 };
        let device_ns = (200_000 + rng.below(100_000)) * slow;
        let offset_bytes = rng.below(1 << 20) * 4096;
        ios.push(IoRecord {
            submitted_ns: created_ns + 500,
            offset_bytes,
            depth: 25,
            ..make::io(created_ns, created_ns + device_ns + 5_000)
        });
        requests.push(BlockRequest {
            allocated_ns: Some(created_ns + 1_200),
            issued_ns: Some(created_ns + 1_500),
            sector: offset_bytes / 512,
            ..make::request(created_ns + 1_000, created_ns + device_ns)
        });
    }
    (ios, requests)
}

/// The first pass must not be what a large record waits for: 80 ns a row is a tenth of a second a million. The bound is
/// generous, as tests run beside others; what it took is printed.
#[test]
fn the_first_pass_takes_little_time_a_row() {
    let (ios, requests) = rows();
    let run = empty_run();
    let facts = Facts::new(&run);
    let timed = |what: &str, work: &mut dyn FnMut()| {
        let begin = Instant::now();
        work();
        let ns = begin.elapsed().as_nanos() as f64 / ROWS as f64;
        println!("{what}: {ns:.1} ns a row");
        ns
    };
    let io_ns = timed("io", &mut || {
        let mut scan = IoScan::new(&facts);
        ios.chunks(8192).for_each(|rows| scan.feed(rows));
        assert_eq!(scan.finish().refused(), 0);
    });
    let block_ns = timed("block", &mut || {
        let mut scan = BlockScan::new(&facts);
        requests.chunks(8192).for_each(|rows| scan.feed(rows));
        assert_eq!(scan.finish().refused(), 0);
    });
    assert!(io_ns < 2_000.0 && block_ns < 2_000.0, "{io_ns} {block_ns}");
}

/// A crash or a flipped bit may have put anything into a row.
#[test]
fn rows_that_no_run_can_have_are_refused_and_said() {
    let (mut ios, mut requests) = rows();
    ios.truncate(4000);
    requests.truncate(4000);
    for (number, io) in ios.iter_mut().enumerate().take(2000) {
        io.completed_ns = number as u64 * 4_000_000_000_000;
    }
    ios[3000].job = u32::MAX;
    for (number, request) in requests.iter_mut().enumerate().take(200) {
        request.device = number as u32;
        request.completed_ns = u64::MAX - number as u64;
    }
    let scenario = Scenario {
        ios,
        requests,
        ..Scenario::empty()
    };
    let explanation = explained(&scenario);
    assert!(
        explanation
            .missing
            .iter()
            .any(|missing| missing.contains("rows carry")),
        "{:?}",
        explanation.missing
    );
    assert!(serde_json::to_string(&explanation).is_ok());
}

/// Without any stream nothing is judged, and what is missing is said.
#[test]
fn nothing_recorded_is_nothing_explained() {
    let scenario = Scenario::empty();
    let facts = Facts::new(&scenario.run);
    let explanation = explain(&facts, &Scanned::default(), &mut &scenario).unwrap();
    assert!(explanation.limits.is_empty() && explanation.spikes.is_none() && explanation.has_no_evidence());
    assert_eq!(explanation.missing.len(), 3, "{:?}", explanation.missing);
}
