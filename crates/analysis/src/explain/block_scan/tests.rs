use super::*;
use fathom_testkit::make;
use fathom_testkit::scenarios::empty_run;

fn request(comm: &str, op: BlockOp, completed_ns: u64) -> BlockRequest {
    BlockRequest {
        allocated_ns: Some(completed_ns - 90),
        issued_ns: Some(completed_ns - 80),
        op,
        pid: 9,
        comm: Comm::from(comm),
        ..make::request(completed_ns - 100, completed_ns)
    }
}

fn scan(rows: &[BlockRequest]) -> BlockScanned {
    let run = empty_run();
    let facts = Facts::new(&run);
    let mut scan = BlockScan::new(&facts);
    scan.feed(rows);
    scan.finish()
}

#[test]
fn kernel_threads_are_told_from_programs() {
    for name in [
        "kworker/u8:3",
        "kworker",
        "jbd2/vda1-8",
        "loop0",
        "md127_raid1",
        "kswapd0",
    ] {
        assert!(is_kernel(&Comm::from(name)), "{name}");
    }
    for name in ["mdadm", "loopback", "postgres", "fathom", ""] {
        assert!(!is_kernel(&Comm::from(name)), "{name}");
    }
}

#[test]
fn time_is_counted_where_it_was_spent_and_for_whom() {
    let at = 1_000_000_000_500;
    let rows = [
        request("fathom", BlockOp::Read, at),
        request("postgres", BlockOp::Write, at),
        request("jbd2/vda1-8", BlockOp::Flush, at),
    ];
    let scanned = scan(&rows);
    let device = &scanned.devices[0];
    let (_, second) = device
        .requests
        .seconds(0, 10)
        .find(|(_, second)| second.ios > 0)
        .unwrap();
    assert_eq!((second.ios, second.other_ios), (2, 1));
    assert_eq!(
        (second.device_sum_ns, second.tag_sum_ns, second.lat_sum_ns),
        (160, 20, 200)
    );
    let users: Vec<String> = device.users.iter().map(|user| user.comm.to_string()).collect();
    assert_eq!(users, ["fathom", "postgres"]);
}

/// One that was given up has no end, so no latency either.
#[test]
fn what_never_ended_is_not_counted() {
    let mut lost = request("fathom", BlockOp::Read, 1_000_000_000_500);
    lost.flags = BlockFlags(BlockFlags::UNFINISHED);
    let scanned = scan(&[lost]);
    assert!(scanned.devices[0].requests.is_empty());
}
