use super::{ArrivalSource, Recording, Survey};
use fathom_core::arrival::Arrival;
use fathom_core::backend::Op;
use fathom_core::units::Nanos;
use fathom_core::workload::{Fold, FoldKind, RecordFormat, Replay, ReplayOrder};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Gives so many I/Os, a few at a time, and then fails where it is to.
struct Made {
    given: u64,
    all: u64,
    fails: bool,
}

impl ArrivalSource for Made {
    fn next(&mut self, arrivals: &mut Vec<Arrival>) -> anyhow::Result<bool> {
        if self.given == self.all {
            if self.fails {
                anyhow::bail!("trace:7: changed");
            }
            return Ok(false);
        }
        for _ in 0..7.min(self.all - self.given) {
            arrivals.push(arrival(self.given));
            self.given += 1;
        }
        Ok(true)
    }
}

fn arrival(number: u64) -> Arrival {
    let op = [Op::Read, Op::Write, Op::Sync][number as usize % 3];
    Arrival {
        due_ns: 1_000_000 + number * 1_000,
        offset_bytes: if op == Op::Sync { 0 } else { number * 8192 },
        len_bytes: if op == Op::Sync { 0 } else { 4096 },
        op,
        file: 0,
        worker: number as u32 % 5,
        depth: 0,
        think_ns: 500,
        took_ns: 0,
    }
}

fn made(all: u64) -> Made {
    Made {
        given: 0,
        all,
        fails: false,
    }
}

fn replay() -> Replay {
    Replay {
        record: String::from("made"),
        format: RecordFormat::FioIolog,
        order: ReplayOrder::Timed,
        speed_permille: 1_000,
        ios: [1, 1, 0, 1],
        bytes: [1, 1, 0],
        length: Nanos::ZERO,
        extent_bytes: 1 << 30,
        fold: None,
        left_out: Vec::new(),
        layout: fathom_core::workload::ReplayLayout::default(),
    }
}

#[test]
fn a_survey_counts_all_of_it() {
    let survey = Survey::of(&mut made(300), &mut |_| true).expect("good");
    let survey = survey.expect("not ended");
    assert_eq!(survey.ios, [100, 100, 0, 100]);
    assert_eq!(survey.bytes, [409_600, 409_600, 0]);
    assert_eq!((survey.first_ns, survey.last_ns), (1_000_000, 1_299_000));
    assert_eq!(survey.extent_bytes, 298 * 8192 + 4096);
    assert_eq!(survey.align_bytes, 4096);
    assert_eq!(
        (survey.smallest, survey.largest),
        ([4096, 4096, 0], [4096, 4096, 0])
    );
    assert_eq!(Survey::of(&mut made(300), &mut |_| false).expect("good"), None);
}

/// What of a record is sent.
fn changed(replay: &Replay, ios: u64) -> Vec<Arrival> {
    let change = Recording::new(Box::new(made(ios)), replay, 1_000_000).change;
    (0..ios)
        .filter_map(|number| change.of(&arrival(number)))
        .collect()
}

#[test]
fn a_record_is_rebased_sped_up_folded_and_sorted_out() {
    let whole = changed(&replay(), 6);
    assert_eq!(whole.len(), 6);
    assert_eq!((whole[0].due_ns, whole[5].due_ns), (0, 5_000));
    let other = Replay {
        speed_permille: 2_000,
        ios: [1, 0, 0, 0],
        fold: Some(Fold {
            to_bytes: 16_384,
            how: FoldKind::Wrap,
        }),
        ..replay()
    };
    let reads = changed(&other, 9);
    let seen: Vec<(u64, u64, u32)> = reads
        .iter()
        .map(|read| (read.due_ns, read.offset_bytes, read.think_ns))
        .collect();
    assert_eq!(seen, [(0, 0, 250), (1_500, 8_192, 250), (3_000, 0, 250)]);
}

/// A reader with more than the rings hold stops when nobody wants any more, and tells an error of its own.
#[test]
fn a_reader_ends_with_its_workers_and_says_what_failed() {
    let stop = Arc::new(AtomicBool::new(false));
    let begin = |source: Made| Recording::new(Box::new(source), &replay(), 0).begin((0, 2), false, &stop);
    begin(made(1_000_000))
        .expect("full")
        .1
        .end()
        .expect("nobody wanted the rest");
    let fails = Made {
        fails: true,
        ..made(10)
    };
    let at_once = begin(fails).err().expect("it failed before it was full");
    assert_eq!(at_once.to_string(), "trace:7: changed");
    let recording = Recording::new(Box::new(made(10)), &replay(), 0);
    recording
        .begin((0, 1), false, &stop)
        .expect("once")
        .1
        .end()
        .expect("read");
    assert!(
        recording.begin((0, 1), false, &stop).is_err(),
        "it is played once"
    );
}
