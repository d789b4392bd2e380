use super::super::Arrival;
use super::{Arrivals, WORKERS};
use crate::backend::Op;
use crate::record::{BlockFlags, BlockOp, BlockRequest, Comm, IoRecord};
use crate::rng::Rng;

fn request(queued_ns: u64, completed_ns: u64, pid: u32, flags: u8) -> BlockRequest {
    BlockRequest {
        device: 1,
        queued_ns: Some(queued_ns),
        allocated_ns: None,
        inserted_ns: None,
        issued_ns: Some(queued_ns + 10),
        completed_ns,
        sector: 8,
        len_bytes: 4_096,
        op: BlockOp::Read,
        flags: BlockFlags(flags),
        requeues: 0,
        merges: 0,
        errno: 0,
        pid,
        comm: Comm::NONE,
        owner_pid: 0,
        owner_comm: Comm::NONE,
    }
}

fn io(intended_ns: u64, created_ns: u64, completed_ns: u64, depth: u32) -> IoRecord {
    IoRecord {
        intended_ns,
        created_ns,
        submitted_ns: created_ns,
        completed_ns,
        offset_bytes: 0,
        len_bytes: 4_096,
        file: 0,
        job: 0,
        worker: 3,
        depth,
        errno: 0,
        op: Op::Write,
        priority: 0,
    }
}

fn all(mut arrivals: Arrivals) -> Vec<Arrival> {
    let mut all = arrivals.ready().to_vec();
    while let Some(rest) = arrivals.rest() {
        all.extend_from_slice(rest);
    }
    all
}

/// Against a sorted list: each I/O once, in the order of its start.
#[test]
fn they_come_in_the_order_of_their_start() {
    let seed = 11;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let mut rows: Vec<BlockRequest> = (0..50_000u64)
        .map(|number| {
            let queued_ns = 1 + number * 100_000;
            // Some take two seconds, most a millisecond.
            let took = if rng.below(100) == 0 {
                2_000_000_000
            } else {
                rng.below(1_000_000)
            };
            request(queued_ns, queued_ns + took, number as u32 % 7, 0)
        })
        .collect();
    let starts: Vec<u64> = rows.iter().map(BlockRequest::begun_ns).collect();
    rows.sort_by_key(|row| row.completed_ns);
    let mut arrivals = Arrivals::default();
    let mut got = Vec::new();
    for rows in rows.chunks(1_000) {
        for row in rows {
            arrivals.request(row, 1 << 40);
        }
        got.extend(arrivals.ready().iter().map(|arrival| arrival.due_ns));
    }
    assert_eq!(arrivals.late, 0);
    got.extend(all(arrivals).iter().map(|arrival| arrival.due_ns));
    assert_eq!(got, starts);
}

#[test]
fn a_task_that_sends_right_after_an_end_waited_for_it() {
    let mut arrivals = Arrivals::default();
    let sync = BlockFlags::SYNC;
    arrivals.request(&request(1_000_000, 3_000_000, 7, sync), 0);
    // 0.2 ms after the end; and one that came by itself two milliseconds after that.
    arrivals.request(&request(3_200_000, 4_000_000, 7, sync), 0);
    arrivals.request(&request(6_000_000, 7_000_000, 7, sync), 0);
    // Nobody waits for these: read ahead, and written back.
    arrivals.request(
        &request(7_100_000, 8_000_000, 7, sync | BlockFlags::READ_AHEAD),
        0,
    );
    arrivals.request(&request(8_100_000, 9_000_000, 7, 0), 0);
    let all = all(arrivals);
    let waits: Vec<(u32, u32)> = all.iter().map(|one| (one.depth, one.think_ns)).collect();
    assert_eq!(waits, [(0, 0), (1, 200_000), (0, 0), (0, 0), (0, 0)]);
    assert!(
        all.iter()
            .all(|one| one.worker == 7 % WORKERS && one.offset_bytes == 4_096)
    );
    assert_eq!(all[0].took_ns, 2_000_000);
}

#[test]
fn a_load_says_itself_whether_it_waited() {
    let mut arrivals = Arrivals::default();
    // In a closed loop an I/O is intended when it is made; in an open one before that, where it was held up.
    arrivals.io(&io(1_000, 1_000, 5_000, 1), 0, false);
    arrivals.io(&io(6_000, 6_000, 9_000, 1), 0, false);
    arrivals.io(&io(7_000, 9_500, 12_000, 1), 0, false);
    let all = all(arrivals);
    let told: Vec<_> = all
        .iter()
        .map(|one| (one.due_ns, one.depth, one.think_ns, one.took_ns))
        .collect();
    assert_eq!(
        told,
        [
            (1_000, 1, 0, 4_000),
            (6_000, 1, 1_000, 3_000),
            (7_000, 0, 0, 5_000)
        ]
    );
    // What has a schedule is due by that, on time or not.
    let mut paced = Arrivals::default();
    paced.io(&io(6_000, 6_000, 9_000, 1), 0, true);
    assert_eq!(self::all(paced)[0].depth, 0);
}

#[test]
fn what_is_no_io_of_a_volume_is_left_out() {
    let mut arrivals = Arrivals::default();
    let plain = request(1_000, 2_000, 1, 0);
    arrivals.request(
        &BlockRequest {
            op: BlockOp::Other,
            ..plain
        },
        0,
    );
    arrivals.request(
        &BlockRequest {
            len_bytes: 0,
            ..plain
        },
        0,
    );
    arrivals.request(
        &BlockRequest {
            op: BlockOp::Flush,
            len_bytes: 0,
            sector: u64::MAX,
            queued_ns: Some(1_500),
            ..plain
        },
        7,
    );
    // A sector that no disk has does not overflow.
    arrivals.request(
        &BlockRequest {
            sector: u64::MAX - 1,
            ..plain
        },
        1 << 60,
    );
    let all = all(arrivals);
    assert_eq!(
        all.iter().map(|one| one.op).collect::<Vec<_>>(),
        [Op::Read, Op::Sync]
    );
}
