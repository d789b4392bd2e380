use super::*;
use proptest::prelude::*;

fn stay(start_ns: u64, end_ns: u64, ready_ns: Option<u64>, state: TaskState) -> SchedSlice {
    SchedSlice {
        cpu: 1,
        tid: 7,
        comm: Comm::from("load.0"),
        ready_ns,
        start_ns,
        end_ns,
        state,
        blocked_on: BlockedOn::Unknown,
        waker_tid: 0,
        waker_comm: Comm::default(),
    }
}

fn spans(stays: &[SchedSlice]) -> Vec<(u64, u64, Doing)> {
    let threads = Threads::new(stays, |_| true, |_, _, _| None);
    let spans = threads.within(7, 0, u64::MAX);
    spans.map(|span| (span.from_ns, span.to_ns, span.doing)).collect()
}

const RUNS: Doing = Doing::Running { cpu: 1 };
const WAITS: Doing = Doing::Waiting {
    cpu: 1,
    on: BlockedOn::Unknown,
    waker: None,
};

#[test]
fn a_thread_sleeps_is_woken_waits_and_runs() {
    let stays = [
        stay(100, 200, None, TaskState::Sleeping),
        stay(350, 400, Some(300), TaskState::Preempted),
        stay(450, 500, None, TaskState::Sleeping),
    ];
    let ready = Doing::Ready { cpu: 1 };
    assert_eq!(
        spans(&stays),
        [
            (100, 200, RUNS),
            (200, 300, WAITS),
            (300, 350, ready),
            (350, 400, RUNS),
            (400, 450, ready),
            (450, 500, RUNS),
        ]
    );
}

/// The kernel calls a task ready whose quota is used up; nobody has its CPU.
#[test]
fn a_quota_is_no_wait_for_a_cpu() {
    let mut left = stay(100, 200, None, TaskState::Preempted);
    left.blocked_on = BlockedOn::Quota;
    let spans = spans(&[left, stay(900, 950, None, TaskState::Sleeping)]);
    let quota = Doing::Waiting {
        cpu: 1,
        on: BlockedOn::Quota,
        waker: None,
    };
    assert_eq!(spans[1], (200, 900, quota));
    assert_eq!(spans.len(), 3);
}

/// When it was let go on is not told; that it made an I/O shows that it had been.
#[test]
fn a_stay_whose_begin_is_not_known_begins_with_the_first_sign() {
    let mut left = stay(100, 200, None, TaskState::Preempted);
    left.blocked_on = BlockedOn::Quota;
    let stays = [left, stay(950, 950, None, TaskState::Sleeping)];
    let quota = Doing::Waiting {
        cpu: 1,
        on: BlockedOn::Quota,
        waker: None,
    };
    for (sign, rest) in [(Some(900), Some((900, 950, RUNS))), (None, None)] {
        let threads = Threads::new(
            &stays,
            |_| true,
            |_, from, to| sign.filter(|at| (from..to).contains(at)),
        );
        let spans = threads.within(7, 150, u64::MAX);
        let spans: Vec<_> = spans.map(|span| (span.from_ns, span.to_ns, span.doing)).collect();
        let until = (200, rest.map_or(950, |rest| rest.0), quota);
        let expected = [(150, 200, RUNS), until].into_iter().chain(rest);
        assert_eq!(spans, expected.collect::<Vec<_>>());
    }
}

proptest! {
    /// Whatever the rows say: no span overlaps another one, and none is lost between the first stay and the last.
    #[test]
    fn a_line_has_no_gaps_and_no_overlaps(times in prop::collection::vec((0u64..1000, 0u64..50, prop::option::of(0u64..1000)), 1..40)) {
        let stays: Vec<SchedSlice> = times
            .iter()
            .map(|(start, length, ready)| stay(*start, start + length, *ready, TaskState::Sleeping))
            .collect();
        let spans = spans(&stays);
        for pair in spans.windows(2) {
            prop_assert_eq!(pair[0].1, pair[1].0);
        }
        for span in &spans {
            prop_assert!(span.0 < span.1);
        }
    }
}
