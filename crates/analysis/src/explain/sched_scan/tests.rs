use super::*;
use fathom_testkit::scenarios::empty_run;

const MS: u64 = 1_000_000;

fn stay(ready_ms: Option<u64>, start_ms: u64, end_ms: u64, state: TaskState) -> SchedSlice {
    SchedSlice {
        cpu: 0,
        tid: 7,
        comm: Comm::from("db"),
        ready_ns: ready_ms.map(|ms| ms * MS),
        start_ns: start_ms * MS,
        end_ns: end_ms * MS,
        state,
        blocked_on: BlockedOn::Unknown,
        waker_tid: 0,
        waker_comm: Comm::default(),
    }
}

fn held(rows: &[SchedSlice]) -> Vec<(u64, u64)> {
    let run = empty_run();
    let facts = Facts::new(&run);
    let base = facts.started_ns();
    let later = |row: &SchedSlice| SchedSlice {
        ready_ns: row.ready_ns.map(|at| at + base),
        start_ns: row.start_ns + base,
        end_ns: row.end_ns + base,
        ..*row
    };
    let mut scan = SchedScan::new(&facts);
    scan.feed(&rows.iter().map(later).collect::<Vec<_>>());
    let since = |at_ns: u64| (at_ns - base) / MS;
    let spans = scan.finish().held;
    spans
        .iter()
        .map(|held| (since(held.from_ns), since(held.to_ns)))
        .collect()
}

#[test]
fn a_thread_that_could_run_and_is_not_let_is_held() {
    let rows = [
        // It sleeps, and has its CPU soon after it was woken.
        stay(None, 0, 1, TaskState::Sleeping),
        stay(Some(900), 901, 902, TaskState::Sleeping),
        // It waits 300 ms for one.
        stay(Some(1_000), 1_300, 1_301, TaskState::Preempted),
        // Made to leave, it comes back 80 ms later; that it was woken meanwhile makes no difference.
        stay(Some(1_380), 1_381, 1_400, TaskState::Stopped),
        stay(Some(2_900), 2_901, 2_902, TaskState::Sleeping),
    ];
    assert_eq!(held(&rows), [(1_000, 1_300), (1_301, 1_381), (1_400, 2_901)]);
}

#[test]
fn a_quota_and_a_freezer_hold_and_io_does_not() {
    let left_for = |on| {
        let mut left = stay(None, 0, 1, TaskState::Uninterruptible);
        left.blocked_on = on;
        held(&[left, stay(Some(500), 500, 501, TaskState::Sleeping)])
    };
    assert_eq!(left_for(BlockedOn::Frozen), [(1, 500)]);
    assert_eq!(left_for(BlockedOn::Quota), [(1, 500)]);
    assert_eq!(left_for(BlockedOn::Io), []);
}
