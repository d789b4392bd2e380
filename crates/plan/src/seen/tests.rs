use super::{Amounts, Arrival, KeptSeen, SECOND_NS, SECONDS_MAX, Seen, Source, load};
use crate::setup::Lasts;
use fathom_core::backend::Op;

fn io(due_ns: u64, op: Op, offset_bytes: u64, len_bytes: u32) -> Arrival {
    Arrival {
        due_ns,
        offset_bytes,
        len_bytes,
        op,
        file: 0,
        worker: 0,
        depth: 0,
        think_ns: 0,
        took_ns: 1_000_000,
    }
}

fn seen() -> Seen {
    Seen::new(Source::Requests, 5 * SECOND_NS)
}

#[test]
fn each_second_has_what_was_due_in_it() {
    let mut seen = seen();
    seen.take(&[
        io(5 * SECOND_NS, Op::Read, 0, 4_096),
        io(6 * SECOND_NS - 1, Op::Write, 1 << 30, 512 << 10),
        io(6 * SECOND_NS, Op::Read, 0, 8_192),
        io(9 * SECOND_NS, Op::Sync, 0, 0),
        io(9 * SECOND_NS, Op::Trim, 0, 1 << 30),
        io(9 * SECOND_NS, Op::Read, 4_096, 4_096),
    ]);
    assert_eq!(seen.seconds(), 5);
    let first = Amounts {
        reads: 1,
        writes: 1,
        units: 3,
        read_bytes: 4_096,
        write_bytes: 512 << 10,
    };
    assert_eq!(seen.seconds[0], first);
    assert_eq!(seen.seconds[1].read_bytes, 8_192);
    assert_eq!(seen.seconds[2], Amounts::default());
    assert_eq!((seen.flushes, seen.discards, seen.total().ios()), (1, 1, 4));
    assert_eq!(seen.end_bytes, (1 << 30) + (512 << 10));
    assert_eq!(seen.touched_bytes(), 2 << 20);
}

/// The percentile of seconds, against the definition on a sorted list.
#[test]
fn percentiles_are_those_of_the_seconds() {
    let mut seen = seen();
    for second in 0..1_000u64 {
        for number in 0..second {
            seen.take(&[io((5 + second) * SECOND_NS + number, Op::Read, 0, 512)]);
        }
    }
    let of = |percent| seen.percentile(percent, Amounts::ios);
    assert_eq!([of(50.0), of(90.0), of(99.9), of(100.0)], [499, 899, 998, 999]);
}

#[test]
fn spans_are_spread_over_their_seconds_and_nothing_is_lost() {
    let mut seen = seen();
    let amounts = Amounts {
        reads: 1_001,
        writes: 13,
        units: 1_014,
        read_bytes: 4_100_096,
        write_bytes: 53_248,
    };
    let from_ns = 5 * SECOND_NS + SECOND_NS / 2;
    seen.span((from_ns, from_ns + 10 * SECOND_NS), &amounts, 0);
    assert_eq!(seen.total(), amounts);
    assert_eq!(seen.seconds(), 11);
    let of = |second: usize| seen.seconds[second].reads;
    assert_eq!((of(0), of(10)), (50, 51));
    assert!((1..10).all(|second| of(second).abs_diff(100) <= 1));
}

/// A clock that jumps takes no memory: rows stand for more time then.
#[test]
fn a_recording_without_end_is_seen_in_bounded_rows() {
    let mut seen = seen();
    seen.take(&[io(5 * SECOND_NS, Op::Read, 0, 4_096)]);
    seen.take(&[io(u64::MAX - 1, Op::Read, 0, 4_096)]);
    assert!(seen.seconds.len() <= SECONDS_MAX);
    assert_eq!(seen.total().ios(), 2);
    assert!(seen.each_seconds() > 1);
}

/// One second in a thousand may be cut: what is above the others' is not planned for, and the rest with its bursts is.
#[test]
fn the_load_is_that_of_all_seconds_but_the_busiest() {
    let mut seen = seen();
    for second in 0..2_000u64 {
        let ios = match second {
            700 => 5_000,
            800..1_000 => 400,
            _ => 40,
        };
        for number in 0..ios {
            seen.take(&[io(
                (5 + second) * SECOND_NS + number,
                Op::Read,
                number * 4_096,
                4_096,
            )]);
        }
    }
    let load = load(std::iter::once(&seen), 99.9);
    assert_eq!(
        (load.ios, load.bytes, load.read_ppm),
        (400, 400 * 4_096, 1_000_000)
    );
    let Lasts::AsSeen(course) = &load.lasts else {
        panic!("{:?}", load.lasts);
    };
    // 200 seconds of 400 on a base of 100: a bucket of 60,000 is enough, one of 50,000 is not.
    assert!(course.ios.passes(100, 1_000, 60_000) >= 400);
    assert!(course.ios.passes(100, 1_000, 50_000) < 400);
}

#[test]
fn several_recordings_are_carried_each() {
    let [mut small, mut large] = [seen(), seen()];
    for second in 5..65u64 {
        small.take(&[io(second * SECOND_NS, Op::Write, 0, 256 << 10)]);
        for number in 0..10 {
            large.take(&[io(second * SECOND_NS + number, Op::Read, 0, 4_096)]);
        }
    }
    let load = load([&small, &large].into_iter(), 99.9);
    assert_eq!((load.ios, load.bytes), (10, 256 << 10));
}

#[test]
fn what_is_kept_as_text_asks_for_the_same() {
    let mut seen = seen();
    for second in 0..40u64 {
        for number in 0..=second {
            let op = if number % 3 == 0 { Op::Write } else { Op::Read };
            seen.take(&[io((5 + second) * SECOND_NS + number, op, number << 21, 300 << 10)]);
        }
    }
    let text = serde_json::to_string(&seen.kept()).expect("it becomes text");
    let read: KeptSeen = serde_json::from_str(&text).expect("text becomes it");
    assert_eq!(read, seen.kept());
    let again = read.seen().expect("it can have been seen");
    assert_eq!(again.source, Source::Sums);
    assert_eq!(again.touched_bytes(), seen.touched_bytes());
    let [before, after] = [&seen, &again].map(|seen| load([seen].into_iter(), 99.9));
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    let spans = again.spans();
    assert_eq!(
        spans.iter().map(|span| span.amounts.ios()).sum::<u64>(),
        seen.total().ios()
    );
    for damaged in [
        text.replace("\"each_seconds\":1", "\"each_seconds\":0"),
        text.replace("\"start_ns\":5000000000", "\"start_ns\":18446744073709551615"),
    ] {
        let read: KeptSeen = serde_json::from_str(&damaged).expect("text");
        assert!(read.seen().is_none(), "{damaged}");
    }
}
