use super::*;

const WORKER: Worker = (0, 0);

fn ledger(parts: &[(OwnerClass, u64)]) -> Ledger {
    let mut ledger = Ledger::default();
    for (class, ns) in parts {
        ledger.add(Owner::of(*class), *ns);
    }
    ledger
}

/// One I/O waited 900 at the device, and those behind it took the 100 that they always take.
fn behind_a_stall() -> Queue {
    let mut queue = Queue::default();
    queue.line(WORKER, Busy::of([(100, 2_000)]));
    let stalled = ledger(&[(OwnerClass::Device, 900), (OwnerClass::Usual, 100)]);
    queue.push(WORKER, 0, 1_000, stalled);
    for number in 10..20 {
        let usual = ledger(&[(OwnerClass::Usual, 100)]);
        queue.push(WORKER, number * 100, (number + 1) * 100, usual);
    }
    queue
}

fn waited(queue: &Queue, from: u64, to: u64) -> Ledger {
    let mut found = Ledger::default();
    queue.add(Some(WORKER), (from, to), &mut found);
    assert_eq!(found.total_ns(), to - from);
    found
}

#[test]
fn behind_what_a_stall_left_it_is_the_stall() {
    let queue = behind_a_stall();
    assert_eq!(waited(&queue, 1_200, 1_800).of_class(OwnerClass::Device), 600);
}

#[test]
fn no_more_is_inherited_than_was_lost() {
    let queue = behind_a_stall();
    let found = waited(&queue, 1_000, 2_000);
    assert_eq!(found.of_class(OwnerClass::Device), 900);
    assert_eq!(found.of_class(OwnerClass::OwnQueue), 100);
}

#[test]
fn who_asks_for_more_has_made_its_queue_itself() {
    let mut queue = behind_a_stall();
    queue.surge = true;
    assert_eq!(waited(&queue, 1_200, 1_800).of_class(OwnerClass::OwnQueue), 600);
}

#[test]
fn what_was_lost_before_it_was_late_is_nothing_to_it() {
    let mut queue = Queue::default();
    queue.line(WORKER, Busy::of([(100, 900), (1_500, 2_000)]));
    queue.push(WORKER, 0, 800, ledger(&[(OwnerClass::Device, 800)]));
    queue.push(WORKER, 1_400, 1_900, ledger(&[(OwnerClass::Usual, 500)]));
    assert_eq!(waited(&queue, 1_500, 1_900).of_class(OwnerClass::OwnQueue), 400);
}
