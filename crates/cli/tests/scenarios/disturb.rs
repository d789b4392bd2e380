//! Kinds of real disturbances, each with a known truth: when, which class of cause, by whom, and who is innocent.
//!
//! A kind does one thing to a load, or to another program that `fathom record` watches, and says what it did; the judge
//! compares that with `fathom explain`. `cargo xtask disturb` runs each of them several times and makes a table; here each is
//! a test. The victim's own record has to show that it was hurt as much as is claimed: otherwise the kind is skipped.

mod bench;
mod cpu;
mod device;
mod limits;
mod locks;
mod memory;
mod neighbours;
mod own;
mod quiet;
mod table;
mod truth;
mod watched;

use bench::Bench;
use fathom_testkit::{skipped, telling};
use truth::{Judgement, Recorded, Told};

/// Does it once; or what is missing to do it.
type Run = fn(&Bench) -> Result<Recorded, String>;

/// A kind of disturbance.
struct Kind {
    name: &'static str,
    run: Run,
}

/// All kinds, and a test of each.
macro_rules! kinds {
    ($($family:ident: $($kind:ident)+;)+) => {
        const KINDS: &[Kind] = &[$($(Kind {
            name: concat!(stringify!($family), "::", stringify!($kind)),
            run: $family::$kind,
        },)+)+];

        mod of {
            $(mod $family {
                $(#[test]
                fn $kind() {
                    let name = concat!(stringify!($family), "::", stringify!($kind));
                    super::super::check(name, super::super::$family::$kind);
                })+
            })+
        }
    };
}

kinds! {
    cpu: realtime_hog four_equal_hogs one_equal_hog hog_elsewhere quota quota_and_hog eager_quota stopped frozen;
    device: stalls shift slow_pipe stalls_beside_4k stalls_beside_64k shift_beside_4k shift_beside_64k
        slow_pipe_beside_4k slow_pipe_under_large_reads drift;
    neighbours: big_reads bursts_of_256k many_4k writeback fsync_storm discard all_along on_another_disk;
    limits: throttle_switched_on throttle_that_does_not_bind tags_taken;
    locks: same_file frozen_file_system;
    memory: reclaim own_dirty_limit;
    own: second_section large_reads surge;
    quiet: busy_innocents;
    watched: stalls neighbour_guilty neighbour_innocent realtime_hog stopped;
}

/// Does it once, and compares what is said with the truth.
fn judged(bench: &Bench, run: Run) -> Result<Judgement, String> {
    let recorded = run(bench)?;
    Ok(recorded.judge(bench))
}

/// Fails where it is told wrongly twice in a row: a check must not fail for what the machine did once. `cargo xtask disturb`
/// counts each.
fn check(name: &'static str, run: Run) {
    let _alone = crate::alone();
    telling(name, &crate::quiet(), || {
        for again in [true, false] {
            let bench = Bench::new();
            let judgement = match judged(&bench, run) {
                Ok(judgement) => judgement,
                Err(missing) => return skipped(name, missing),
            };
            match &judgement.told {
                Told::Right => return,
                Told::NoEffect(seen) => {
                    return skipped(name, format!("a disturbance that takes effect ({seen})"));
                }
                _ if again => eprintln!("wrong once: {name}: {judgement}"),
                _ => panic!("{name}: {judgement}"),
            }
        }
    });
}
