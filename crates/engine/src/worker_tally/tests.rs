//! Tallies of workers.

use super::WorkerTally;
use crate::interval::{Interval, Metrics, Phase, Stamps};
use fathom_core::backend::Op;
use fathom_core::units::{MonoTime, Nanos};

const HALF: Nanos = Nanos::from_millis(500);

fn interval(from_ms: u64, to_ms: u64, ios: u64) -> Interval {
    let mut interval = Interval::new();
    interval.start = MonoTime(from_ms * 1_000_000);
    interval.end = MonoTime(to_ms * 1_000_000);
    let metrics = Metrics {
        split: false,
        response: false,
    };
    for _ in 0..ios {
        let stamps = Stamps {
            completed: 1_000,
            ..Stamps::default()
        };
        interval.record(Op::Write, 4096, &stamps, metrics);
    }
    interval
}

#[test]
fn each_half_second_is_a_sample_and_a_short_rest_is_none() {
    let mut tally = WorkerTally::new(HALF, Nanos::from_secs(1));
    tally.add(&interval(1_000, 1_500, 100));
    tally.add(&interval(1_500, 2_000, 300));
    tally.add(&interval(2_000, 2_200, 50));
    let [read, write, ..] = tally.ops();
    assert_eq!((write.ios(), write.bytes), (450, 450 * 4096));
    assert_eq!((write.bw.n, write.bw.min, write.bw.max), (2, 800, 2_400));
    assert_eq!((write.iops.n, write.iops.min), (1, 400));
    assert_eq!((read.ios(), read.bw.n), (0, 0));
}

#[test]
fn silence_lowers_the_next_sample() {
    let mut tally = WorkerTally::new(HALF, HALF);
    tally.add(&interval(0, 500, 100));
    tally.add(&interval(4_000, 4_500, 90));
    let iops = tally.ops()[1].iops;
    assert_eq!((iops.n, iops.min, iops.max), (2, 22, 200));
}

#[test]
fn the_ramp_counts_in_nothing() {
    let mut tally = WorkerTally::new(HALF, HALF);
    let mut ramp = interval(0, 500, 100);
    ramp.phase = Phase::Ramp;
    tally.add(&ramp);
    let write = &tally.ops()[1];
    assert_eq!((write.ios(), write.bw.n), (0, 0));
}
