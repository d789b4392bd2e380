//! Whether the ranges of a random distribution fit together.
//!
//! Data in: a target. Data out: findings. The rules are diskspd's; it must not know where the ranges were written.

use super::refuse;
use crate::diagnostic::Findings;
use crate::diskspd::profile::{Distribution, Range, Target};

pub(super) fn check(target: &Target, findings: &mut Findings) {
    let Some(distribution) = &target.distribution else {
        return;
    };
    let ranges = distribution.ranges();
    let io: u64 = ranges.iter().map(|range| u64::from(range.io_percent)).sum();
    if io > 100 {
        refuse(
            findings,
            "the ranges of -rd take more than 100 % of the I/O",
            "let their shares add up to 100 or less",
        );
        return;
    }
    match distribution {
        Distribution::Percent(ranges) => percent(ranges, findings),
        Distribution::Absolute(ranges) => absolute(ranges, target.block_size, findings),
    }
}

fn percent(ranges: &[Range], findings: &mut Findings) {
    let covered = ranges
        .iter()
        .fold(0u64, |sum, range| sum.saturating_add(range.target));
    let empty = ranges.iter().any(|range| range.target == 0);
    if empty || covered > 100 {
        refuse(
            findings,
            "the ranges of -rd cover more than 100 % of the target, or all of it with I/O left over",
            "let their sizes add up to 100 together with what the rest of the I/O needs",
        );
    } else if covered < 100 {
        refuse(
            findings,
            "the ranges of -rd cover less than 100 % of the target",
            "add a range: 0/<percent> leaves a gap",
        );
    }
}

fn absolute(ranges: &[Range], block: u32, findings: &mut Findings) {
    let small = |range: &Range| range.target < u64::from(block);
    let last = ranges.len().saturating_sub(1);
    let wrong = ranges
        .iter()
        .enumerate()
        .any(|(index, range)| small(range) && !(index == last && range.target == 0));
    if wrong {
        refuse(
            findings,
            "a range of -rd is smaller than a block",
            "make each range at least one block",
        );
    }
}
