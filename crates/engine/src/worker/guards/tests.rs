use super::Guards;
use crate::balance::Balances;
use crate::pattern::Draw;
use fathom_core::backend::{Op, Request};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::Flow;

fn draw(op: Op, offset: u64, len: u32) -> Draw {
    Draw {
        op,
        file: 0,
        offset,
        len,
    }
}

#[test]
fn what_overlaps_waits() {
    let mut guards = Guards::new(None, Some(4), None).expect("guards");
    guards.sent(&Request {
        slot: 2,
        op: Op::Write,
        file: 0,
        offset: 4096,
        len: 4096,
    });
    for (op, offset, len, overlaps) in [
        (Op::Read, 0, 4096, false),
        (Op::Read, 8192, 4096, false),
        (Op::Read, 0, 4097, true),
        (Op::Write, 8191, 1, true),
        (Op::Write, 4096, 4096, true),
    ] {
        assert_eq!(
            guards.overlaps(&draw(op, offset, len)),
            overlaps,
            "{op:?} {offset} {len}"
        );
    }
    guards.completed(2);
    assert!(!guards.overlaps(&draw(Op::Write, 4096, 4096)));
}

#[test]
fn who_is_ahead_waits_until_the_others_have_come() {
    let mut balances = Balances::default();
    let flow = |weight| Flow {
        id: 7,
        weight,
        sleep: Nanos::ZERO,
    };
    let mut one = balances.share(flow(3));
    let mut other = balances.share(flow(1));
    let mut taken = [0u32; 2];
    for _ in 0..4000 {
        if !one.is_ahead() {
            one.take();
            taken[0] += 1;
        }
        if !other.is_ahead() {
            other.take();
            taken[1] += 1;
        }
    }
    // Each has a lead of its share of 64.
    assert!(taken[0].abs_diff(3 * taken[1]) <= 3 * 64, "{taken:?}");
    // Alone, nobody waits.
    drop(other);
    let mut guards = Guards::new(Some(one), None, None).expect("guards");
    assert_eq!(guards.waits(MonoTime(0)), None);
}
