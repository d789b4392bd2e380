use super::*;
use fathom_core::record::Comm;

fn fork(time_ns: u64, parent: u32, child: u32) -> SchedEvent {
    SchedEvent {
        time_ns,
        cpu: 0,
        kind: SchedKind::Fork { parent, child },
    }
}

fn exit(time_ns: u64, tid: u32) -> SchedEvent {
    SchedEvent {
        time_ns,
        cpu: 0,
        kind: SchedKind::Switch {
            from: tid,
            from_comm: Comm::NONE,
            state: TaskState::Other,
            to: 0,
            to_comm: Comm::NONE,
        },
    }
}

const MS: u64 = 1_000_000;

fn tree(events: &[SchedEvent]) -> Tree {
    let mut tree = Tree::new(1, 100 * MS);
    for event in events {
        tree.apply(event);
    }
    tree
}

#[test]
fn those_that_its_tasks_made_are_of_it_and_what_was_made_before_is_not() {
    let tree = tree(&[
        fork(90 * MS, 1, 8),
        fork(110 * MS, 1, 10),
        fork(120 * MS, 10, 11),
        fork(130 * MS, 11, 12),
        fork(140 * MS, 8, 13),
    ]);
    let of_it: Vec<u32> = (1..20).filter(|&tid| tree.holds(tid, 150 * MS)).collect();
    assert_eq!(of_it, [10, 11, 12]);
    assert!(!tree.holds(12, 120 * MS), "not made yet");
}

#[test]
fn what_ended_leaves_its_buffered_writes_but_its_number_may_be_another_ones() {
    let mut tree = tree(&[fork(110 * MS, 1, 10), fork(120 * MS, 10, 11), exit(200 * MS, 11)]);
    assert!(tree.holds(11, 199 * MS) && !tree.holds(11, 300 * MS));
    assert!(tree.held(11, 300 * MS));
    // Another's child with that number, and a child of the dead one, which is another's.
    tree.apply(&fork(400 * MS, 2, 11));
    assert_eq!(tree.apply(&fork(410 * MS, 11, 15)), None);
    assert!(tree.held(11, 420 * MS));
    // Long after, what is written for that number is another's.
    tree.apply(&fork(200_000 * MS, 2, 11));
    assert!(!tree.held(11, 200_000 * MS));
    let seen = tree.finish(0);
    assert_eq!((seen.tasks, seen.living, seen.remarks.len()), (2, 1, 0));
}

#[test]
fn what_was_lost_or_forgotten_is_told() {
    let mut tree = tree(&[fork(110 * MS, 1, 10)]);
    for tid in 0..TASKS_MAX as u32 + 5 {
        let at = 120 * MS + u64::from(tid);
        tree.apply(&fork(at, 10, tid + 100));
        tree.apply(&exit(at, tid + 100));
    }
    assert!(!tree.held(100, u64::MAX) && tree.held(TASKS_MAX as u32 + 104, u64::MAX));
    let seen = tree.finish(3);
    assert_eq!(seen.tasks, TASKS_MAX as u64 + 6);
    assert_eq!(seen.remarks.len(), 2, "{:?}", seen.remarks);
}
