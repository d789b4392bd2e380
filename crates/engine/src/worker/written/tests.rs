use super::*;
use fathom_core::backend::{Errno, Op};

fn write(number: u64) -> Request {
    Request {
        slot: 0,
        op: Op::Write,
        file: (number % 2) as u32,
        offset: number * 4096,
        len: 4096,
    }
}

#[test]
fn the_last_writes_are_kept_and_no_more() {
    let mut written = Written::new(2);
    for number in 0..10 {
        written.completed(&write(number), Ok(4096));
    }
    let state = written.so_far();
    assert_eq!((state.writes, state.depth), (10, 2));
    let LastWrites::Completed(last) = state.last else {
        panic!("completions are kept");
    };
    assert_eq!(
        last,
        [9, 8, 7, 6].map(|number| (number as u32 % 2, number * 4096))
    );
}

#[test]
fn a_write_that_failed_is_counted_and_not_kept() {
    let mut written = Written::new(1);
    written.completed(&write(0), Ok(4096));
    written.completed(&write(1), Err(Errno(5)));
    let state = written.so_far();
    assert_eq!(state.writes, 2);
    assert!(state.holds(0, 0, 0));
    assert!(!state.holds(1, 1, 4096));
}
