use super::*;

const NAME: &str = "fathom-w-123abc";
const MS: u64 = 1_000_000;

fn event(time_ns: u64, cpu: u32, kind: SchedKind) -> SchedEvent {
    SchedEvent { time_ns, cpu, kind }
}

fn sleeps(at_ns: u64, cpu: u32, tid: u32) -> SchedEvent {
    leaves(at_ns, cpu, tid, TaskState::Sleeping)
}

fn comes(at_ns: u64, cpu: u32, tid: u32) -> SchedEvent {
    let kind = SchedKind::Switch {
        from: 99,
        from_comm: Comm::from("hog"),
        state: TaskState::Preempted,
        to: tid,
        to_comm: Comm::from(NAME),
    };
    event(at_ns, cpu, kind)
}

fn leaves(at_ns: u64, cpu: u32, tid: u32, state: TaskState) -> SchedEvent {
    let kind = SchedKind::Switch {
        from: tid,
        from_comm: Comm::from(NAME),
        state,
        to: 0,
        to_comm: Comm::from("swapper"),
    };
    event(at_ns, cpu, kind)
}

fn woken(at_ns: u64, cpu: u32, tid: u32, waker: u32) -> SchedEvent {
    let kind = SchedKind::Wake {
        tid,
        comm: Comm::from(NAME),
        target_cpu: cpu,
        waker,
    };
    event(at_ns, cpu, kind)
}

/// CPU, begin and end in milliseconds.
fn found(events: &[SchedEvent]) -> Vec<(u64, u64, u64)> {
    let mut standstills = Standstills::new(Comm::from(NAME));
    for event in events {
        standstills.apply(event);
    }
    let mut spans = Vec::new();
    standstills.take(&mut spans);
    assert!(spans.iter().all(|span| span.kind == SpanKind::Standstill));
    let each = spans.iter();
    each.map(|span| (span.about, span.start_ns / MS, span.end_ns / MS))
        .collect()
}

#[test]
fn a_timer_that_comes_late_is_a_standstill_of_its_cpu() {
    let events = [
        sleeps(10 * MS, 0, 7),
        sleeps(10 * MS, 3, 8),
        woken(12 * MS, 0, 7, 0),
        woken(52 * MS, 3, 8, 0),
    ];
    assert_eq!(found(&events), [(3, 12, 52)]);
}

#[test]
fn a_witness_that_has_its_cpu_for_long_had_none_meanwhile() {
    // From idle, of which this machine does not tell.
    let events = [
        sleeps(10 * MS, 0, 7),
        woken(12 * MS, 0, 7, 0),
        sleeps(52 * MS, 0, 7),
    ];
    assert_eq!(found(&events), [(0, 12, 52)]);
    let taken_off = [
        sleeps(10 * MS, 0, 7),
        woken(12 * MS, 0, 7, 0),
        comes(13 * MS, 0, 7),
        leaves(52 * MS, 0, 7, TaskState::Preempted),
        comes(53 * MS, 0, 7),
        sleeps(53 * MS + 10_000, 0, 7),
    ];
    assert_eq!(found(&taken_off), [(0, 13, 52)]);
}

#[test]
fn a_witness_that_was_held_up_itself_says_nothing() {
    // Stopped or frozen, it is woken by a task.
    assert_eq!(found(&[sleeps(10 * MS, 0, 7), woken(52 * MS, 0, 7, 99)]), []);
    // It was taken off the CPU, and did not sleep.
    let preempted = leaves(10 * MS, 0, 7, TaskState::Preempted);
    assert_eq!(found(&[preempted, woken(52 * MS, 0, 7, 0)]), []);
    // Woken in time, it ran late.
    let late_run = [
        sleeps(10 * MS, 0, 7),
        woken(12 * MS, 0, 7, 0),
        comes(52 * MS, 0, 7),
        sleeps(52 * MS + 10_000, 0, 7),
    ];
    assert_eq!(found(&late_run), []);
    // Its wake-up may be among what was lost.
    let gap = event(20 * MS, 1, SchedKind::Gap);
    assert_eq!(found(&[sleeps(10 * MS, 0, 7), gap, woken(52 * MS, 0, 7, 0)]), []);
}

#[test]
fn another_task_of_that_name_is_no_witness() {
    let events = [
        sleeps(10 * MS, 0, 7),
        sleeps(11 * MS, 0, 9),
        woken(12 * MS, 0, 7, 0),
        sleeps(12 * MS, 0, 7),
        woken(61 * MS, 0, 9, 0),
        woken(62 * MS, 0, 7, 0),
    ];
    assert_eq!(found(&events), [(0, 14, 62)]);
}
