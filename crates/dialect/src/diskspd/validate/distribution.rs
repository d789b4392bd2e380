//! Whether the ranges of a random distribution fit together.
//!
//! Data in: a target. Data out: findings. The rules are diskspd's; it must not know where the ranges were written.

use crate::diagnostic::Findings;
use crate::diskspd::profile::{Distribution, Range, Target};

pub(super) fn check(target: &Target, findings: &mut Findings) {
    let Some(distribution) = &target.distribution else {
        return;
    };
    let io = distribution
        .ranges()
        .iter()
        .map(|range| u64::from(range.io_percent));
    if io.sum::<u64>() > 100 {
        findings.error_if(
            true,
            "the ranges of -rd take more than 100 % of the I/O",
            "let their shares add up to 100 or less",
        );
        return;
    }
    match distribution {
        Distribution::Percent(ranges) => percent(ranges, findings),
        Distribution::Absolute(ranges) => absolute(ranges, u64::from(target.block_size), findings),
    }
}

fn percent(ranges: &[Range], findings: &mut Findings) {
    let add = |sum: u64, range: &Range| sum.saturating_add(range.target);
    let covered = ranges.iter().fold(0, add);
    let too_much = covered > 100 || ranges.iter().any(|range| range.target == 0);
    findings.error_if(
        too_much,
        "the ranges of -rd cover more than 100 % of the target, or all of it with I/O left over",
        "let their sizes add up to 100 together with what the rest of the I/O needs",
    );
    findings.error_if(
        !too_much && covered < 100,
        "the ranges of -rd cover less than 100 % of the target",
        "add a range: 0/<percent> leaves a gap",
    );
}

fn absolute(ranges: &[Range], block: u64, findings: &mut Findings) {
    let last_is_open = ranges.last().is_some_and(|range| range.target == 0);
    let sized = &ranges[..ranges.len() - usize::from(last_is_open)];
    findings.error_if(
        sized.iter().any(|range| range.target < block),
        "a range of -rd is smaller than a block",
        "make each range at least one block",
    );
}
