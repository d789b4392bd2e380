use super::*;
use fathom_core::record::Comm;
use fathom_testkit::make;
use fathom_testkit::scenarios::empty_run;

const PLACE: u64 = 1 << 30;

fn io(created_ns: u64, completed_ns: u64, offset_bytes: u64, len_bytes: u32) -> IoRecord {
    IoRecord {
        offset_bytes,
        len_bytes,
        ..make::io(created_ns, completed_ns)
    }
}

fn request(comm: &str, queued: u64, completed_ns: u64, byte: u64, len_bytes: u32) -> BlockRequest {
    BlockRequest {
        allocated_ns: Some(queued + 10),
        issued_ns: Some(queued + 30),
        sector: byte / 512,
        len_bytes,
        comm: Comm::from(comm),
        ..make::request(queued, completed_ns)
    }
}

/// Thirty in flight at the same time, ended in another order than sent: the place on the device tells them apart.
#[test]
fn the_place_on_the_device_tells_ios_of_the_same_time_apart() {
    let run = empty_run();
    let facts = Facts::new(&run);
    let offset = |number: u64| (number * 7919 % 1000) * 4096;
    let ios: Vec<IoRecord> = (0..30)
        .map(|n| io(1_000, 900_000 - n * 10_000, offset(n), 4096))
        .collect();
    let mut requests: Vec<BlockRequest> = (0..30)
        .map(|n| request("fathom", 1_500, 890_000 - n * 10_000, PLACE + offset(n), 4096))
        .collect();
    requests.sort_by_key(|request| request.completed_ns);
    let mut matcher = Matcher::new(&facts, &ios, &requests);
    for io in &ios {
        let slow = matcher.split(io);
        assert!(!slow.ambiguous);
        assert_eq!(
            slow.parts,
            [0, 500, 10, 20, io.completed_ns - 10_000 - 1_530, 10_000]
        );
    }
}

#[test]
fn where_nothing_tells_that_is_said() {
    let run = empty_run();
    let facts = Facts::new(&run);
    let ios = [io(0, 1_000_000, 0, 4096)];
    let requests = [
        request("fathom", 100, 400_000, 7 << 20, 4096),
        request("fathom", 100, 990_000, 9 << 20, 4096),
        request("stranger", 100, 995_000, 11 << 20, 4096),
    ];
    let mut matcher = Matcher::new(&facts, &ios, &requests);
    let slow = matcher.split(&ios[0]);
    assert!(slow.ambiguous);
    // Of the two that fit, the one that ended last; never another program's.
    assert_eq!(slow.at_device, Some((130, 990_000)));
}

/// Of an I/O of two requests the one that ends last is what it waited for.
#[test]
fn a_split_io_waits_for_its_last_part() {
    let run = empty_run();
    let facts = Facts::new(&run);
    let half = 512 << 10;
    let mut ios: Vec<IoRecord> = (0..4)
        .map(|n| io(n * 10_000, n * 10_000 + 5_000, n << 22, half))
        .collect();
    let mut requests: Vec<BlockRequest> = (0..4)
        .map(|n| {
            request(
                "fathom",
                n * 10_000 + 100,
                n * 10_000 + 4_000,
                PLACE + (n << 22),
                half,
            )
        })
        .collect();
    ios.push(io(100_000, 900_000, 1 << 25, half * 2));
    requests.push(request(
        "fathom",
        100_100,
        500_000,
        PLACE + (1 << 25) + u64::from(half),
        half,
    ));
    requests.push(request("fathom", 100_100, 880_000, PLACE + (1 << 25), half));
    requests.sort_by_key(|request| request.completed_ns);
    let mut matcher = Matcher::new(&facts, &ios, &requests);
    let slow = matcher.split(&ios[4]);
    assert_eq!(
        (slow.at_device, slow.ambiguous),
        (Some((100_130, 880_000)), false)
    );
}

#[test]
fn without_a_request_all_is_above() {
    let run = empty_run();
    let facts = Facts::new(&run);
    let mut late = io(1_000, 9_000, 0, 4096);
    late.intended_ns = 400;
    let mut matcher = Matcher::new(&facts, &[], &[]);
    let slow = matcher.split(&late);
    assert_eq!(slow.parts, [600, 8_000, 0, 0, 0, 0]);
    assert!(slow.at_device.is_none() && !slow.ambiguous);
}
