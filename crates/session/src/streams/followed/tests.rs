use super::*;
use fathom_core::record::{Comm, TaskState};
use fathom_observe::trace::decode::{SchedEvent, SchedKind};

const MS: u64 = 1_000_000;
const VDA: u32 = 8 << 20;

fn request(pid: u32, comm: &str, owner_pid: u32, begun_ms: u64, op: BlockOp) -> BlockRequest {
    BlockRequest {
        device: VDA,
        queued_ns: Some(begun_ms * MS),
        allocated_ns: None,
        inserted_ns: None,
        issued_ns: None,
        completed_ns: (begun_ms + 1) * MS,
        sector: 0,
        len_bytes: 4096,
        op,
        flags: BlockFlags::default(),
        requeues: 0,
        merges: 0,
        errno: 0,
        pid,
        comm: Comm::from(comm),
        owner_pid,
        owner_comm: Comm::NONE,
    }
}

fn fork(at_ms: u64, parent: u32, child: u32) -> SchedEvent {
    SchedEvent {
        time_ns: at_ms * MS,
        cpu: 0,
        kind: SchedKind::Fork { parent, child },
    }
}

fn exit(at_ms: u64, from: u32) -> SchedEvent {
    SchedEvent {
        time_ns: at_ms * MS,
        cpu: 0,
        kind: SchedKind::Switch {
            from,
            from_comm: Comm::NONE,
            state: TaskState::Other,
            to: 0,
            to_comm: Comm::NONE,
        },
    }
}

#[test]
fn each_request_is_of_the_command_of_others_or_of_nobody() {
    let mut tree = Tree::new(1, 100 * MS);
    for event in [fork(110, 1, 10), fork(120, 10, 11), exit(200, 11)] {
        tree.apply(&event);
    }
    let numbers = [(VDA, String::from("vda")), (9 << 20, String::from("md0"))];
    let mut followed = Followed::new(100 * MS, &numbers, &[String::from("vda")]);
    let read = BlockOp::Read;
    let write = BlockOp::Write;
    followed.rows(
        &[
            request(10, "sh", 0, 115, read),
            request(11, "dd", 0, 150, read),
            // Its number is another's by now; its pages are still its.
            request(11, "other", 0, 300, read),
            request(90, "kworker/u8:1", 11, 310, write),
            request(90, "kworker/u8:1", 77, 311, write),
            request(90, "kworker/u8:1", 0, 312, write),
            request(10, "sh", 0, 313, BlockOp::Flush),
            request(10, "sh", 0, 90, read),
        ],
        Some(&tree),
    );
    followed.ended(400 * MS);
    followed.rows(
        &[
            request(90, "kworker/u8:1", 10, 500, write),
            request(91, "other", 0, 510, write),
        ],
        Some(&tree),
    );
    let seen = followed.finish(Some(tree.finish(0)), 0);
    let device = &seen.devices[0];
    assert_eq!((seen.devices.len(), device.name.as_str()), (1, "vda"));
    let ios = |moved: &Moved| (moved.read_ios, moved.write_ios);
    assert_eq!(ios(&device.tree), (2, 2));
    assert_eq!(ios(&device.tree_by_kernel), (0, 2));
    assert_eq!(ios(&device.tree_after), (0, 1));
    assert_eq!(ios(&device.others), (1, 1));
    assert_eq!(ios(&device.unattributed), (0, 1));
    assert_eq!(device.tree.bytes(), 4 * 4096);
}

#[test]
fn without_its_tasks_nothing_is_said_and_losses_are_told() {
    let numbers = [(VDA, String::from("vda"))];
    let mut followed = Followed::new(0, &numbers, &[String::from("vda")]);
    followed.rows(&[request(10, "sh", 0, 115, BlockOp::Read)], None);
    let seen = followed.finish(None, 7);
    assert_eq!((seen.devices.len(), seen.missing.len()), (0, 1));
}
