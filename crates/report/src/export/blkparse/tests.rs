use super::*;
use expect_test::expect;
use fathom_testkit::make;
use proptest::prelude::*;

const START_NS: u64 = 1_000_000_000;

fn request(queued_ns: u64, completed_ns: u64) -> BlockRequest {
    BlockRequest {
        allocated_ns: None,
        issued_ns: None,
        sector: 8,
        pid: 4711,
        comm: Comm::from("fio"),
        ..make::request(queued_ns, completed_ns)
    }
}

fn text(mut to: Blkparse, requests: &[BlockRequest]) -> (String, Written) {
    let mut out = Vec::new();
    for some in requests.chunks(3) {
        to.rows(some, &mut out).expect("written");
    }
    let written = to.finish(&mut out).expect("written");
    (String::from_utf8(out).expect("text"), written)
}

#[test]
fn lines() {
    let whole = BlockRequest {
        allocated_ns: Some(START_NS + 1_150),
        inserted_ns: Some(START_NS + 1_160),
        issued_ns: Some(START_NS + 1_180),
        flags: BlockFlags(BlockFlags::SYNC | BlockFlags::META | BlockFlags::READ_AHEAD),
        ..request(START_NS + 1_000, START_NS + 500_000_000)
    };
    let flush = BlockRequest {
        sector: u64::MAX,
        len_bytes: 0,
        op: BlockOp::Flush,
        flags: BlockFlags(BlockFlags::PREFLUSH),
        errno: 5,
        comm: Comm::from("jbd2/vda\n-8"),
        ..request(START_NS + 1_170, START_NS + 500_000_001)
    };
    let unfinished = BlockRequest {
        device: (8 << 20) + 17,
        op: BlockOp::Write,
        flags: BlockFlags(BlockFlags::FUA | BlockFlags::UNFINISHED),
        len_bytes: 513,
        ..request(START_NS - 5, START_NS + 500_000_002)
    };
    let (text, written) = text(Blkparse::new(START_NS), &[whole, flush, unfinished]);
    expect![[r#"
          8,17   0        1     0.000000000  4711  Q  WF 8 + 2 [fio]
        254,0    0        2     0.000001000  4711  Q RASM 8 + 8 [fio]
        254,0    0        3     0.000001150  4711  G RASM 8 + 8 [fio]
        254,0    0        4     0.000001160  4711  I RASM 8 + 8 [fio]
        254,0    0        5     0.000001170  4711  Q  FF [jbd2/vda?-8]
        254,0    0        6     0.000001180  4711  D RASM 8 + 8 [fio]
        254,0    0        7     0.500000000     0  C RASM 8 + 8 [0]
        254,0    0        8     0.500000001     0  C  FF [-5]
    "#]]
    .assert_eq(&text);
    assert_eq!(
        written,
        Written {
            lines: 8,
            out_of_order: 0
        }
    );
}

/// One line, read by what blkparse(1) says of it alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Parsed {
    at_ns: u64,
    action: char,
    device: (u32, u32),
    rwbs: String,
    sector: Option<u64>,
    sectors: Option<u32>,
    pid: u32,
    in_brackets: String,
}

fn parse(line: &str) -> Parsed {
    let (device, rest) = line.trim_start().split_once(',').expect("a device");
    let (major, mut words) = (device.parse().expect("a number"), rest.split_whitespace());
    let mut next = || words.next().expect("a field");
    let minor = next().parse().expect("a number");
    next().parse::<u32>().expect("a CPU");
    next().parse::<u64>().expect("a sequence");
    let (seconds, nanoseconds) = next().split_once('.').expect("a time");
    assert_eq!(nanoseconds.len(), 9);
    let at_ns = seconds.parse::<u64>().expect("s") * 1_000_000_000 + nanoseconds.parse::<u64>().expect("ns");
    let pid = next().parse().expect("a pid");
    let action = next().chars().next().expect("an action");
    let rwbs = String::from(next());
    let rest: Vec<&str> = words.collect();
    let (sector, sectors) = match rest.as_slice() {
        [sector, "+", sectors, ..] => (sector.parse().ok(), sectors.parse().ok()),
        _ => (None, None),
    };
    let in_brackets = line.rsplit_once('[').expect("brackets").1;
    Parsed {
        at_ns,
        action,
        device: (major, minor),
        rwbs,
        sector,
        sectors,
        pid,
        in_brackets: String::from(in_brackets.strip_suffix(']').expect("brackets")),
    }
}

prop_compose! {
    fn any_request()(
        begin in 0u64..3_000_000_000, steps in any::<[Option<u16>; 4]>(), life in 0u64..900_000_000, minor in 0u32..300,
        sector in prop_oneof![Just(u64::MAX), 0u64..1 << 40], len_bytes in any::<u32>(),
        op in prop::sample::select(BlockOp::ALL.to_vec()), flags in 0u8..0x20, errno in 0u16..3, comm in "[a-z:/ ]{1,15}",
    ) -> BlockRequest {
        let [queued_ns, allocated_ns, inserted_ns, issued_ns] =
            steps.map(|step| step.map(|step| START_NS + begin + u64::from(step)));
        BlockRequest {
            device: (8 << 20) + minor, queued_ns, allocated_ns, inserted_ns, issued_ns,
            completed_ns: START_NS + begin + 70_000 + life, sector, len_bytes, op, flags: BlockFlags(flags), requeues: 0,
            merges: 0, errno, pid: 9, comm: Comm::from(comm.as_str()),
            owner_pid: 0, owner_comm: Comm::default(),
        }
    }
}

proptest! {
    /// Each time of each request is a line that says so, and the lines are in the order of time.
    #[test]
    fn lines_parse_back(mut requests in prop::collection::vec(any_request(), 0..60)) {
        requests.sort_by_key(|request| request.completed_ns);
        let (text, written) = text(Blkparse::new(START_NS), &requests);
        let mut found: Vec<Parsed> = text.lines().map(parse).collect();
        prop_assert_eq!(written, Written { lines: found.len() as u64, out_of_order: 0 });
        prop_assert!(found.is_sorted_by_key(|line| line.at_ns));
        let mut expected = Vec::new();
        for request in &requests {
            let times = [
                ('Q', request.queued_ns), ('G', request.allocated_ns), ('I', request.inserted_ns),
                ('D', request.issued_ns), ('C', Some(request.completed_ns)),
            ];
            for (action, at) in times {
                let Some(at) = at else { continue };
                let place = (request.sector != u64::MAX).then_some(request.sector);
                let error = if request.errno == 0 { String::from("0") } else { format!("-{}", request.errno) };
                expected.push(Parsed {
                    at_ns: at - START_NS,
                    action,
                    device: (request.device >> 20, request.device & 0xf_ffff),
                    rwbs: rwbs(request.op, request.flags),
                    sector: place,
                    sectors: place.map(|_| request.len_bytes.div_ceil(512)),
                    pid: if action == 'C' { 0 } else { 9 },
                    in_brackets: if action == 'C' { error } else { request.comm.to_string() },
                });
            }
        }
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
    }
}

/// A request that takes longer than lines are held has its first line late; the rest is in order, and it is counted.
#[test]
fn memory_is_bounded() {
    let mut requests: Vec<BlockRequest> = (0..1000)
        .map(|n| request(START_NS + n * 1000, START_NS + n * 1000 + 500))
        .collect();
    requests.push(request(START_NS + 100, START_NS + 2_000_000));
    let mut to = Blkparse::with_hold_back(START_NS, 10_000, 100);
    let mut out = Vec::new();
    for some in requests.chunks(7) {
        to.rows(some, &mut out).expect("written");
        assert!(to.held.len() <= 100, "{}", to.held.len());
    }
    let written = to.finish(&mut out).expect("written");
    assert_eq!(
        written,
        Written {
            lines: 2002,
            out_of_order: 1
        }
    );
    let tight = Blkparse::with_hold_back(START_NS, u64::MAX, 4);
    let (lines, written) = text(tight, &requests);
    assert_eq!((lines.lines().count(), written.lines), (2002, 2002));
}
