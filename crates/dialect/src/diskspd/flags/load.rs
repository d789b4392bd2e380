//! Flags about how much is done at once and how fast: threads, depth, directions, limits, pauses.

use super::super::draft::Draft;
use super::super::profile::Throughput;
use super::super::value::{number, size};
use super::{FlagRow, like_a_number};
use crate::diagnostic::Fault;

/// As C's `int`, which is what diskspd reads counts into.
pub(super) const INT_MAX: u32 = i32::MAX as u32;

pub(super) const ROWS: &[FlagRow] = &[
    FlagRow::new(
        "F",
        "<count>",
        |draft, text| {
            draft.span.thread_count = number(text, 1, INT_MAX)?;
            Ok(())
        },
        "Threads in all; each uses all targets",
    )
    .default("-t")
    .example("-F4")
    .test("threads_of_all_targets")
    .fits(like_a_number),
    FlagRow::new("g", "<n>[i]", throughput, "Limit of each thread on each target: bytes a millisecond, or with `i` I/Os a second")
        .default("none")
        .linux("bytes a millisecond only, and K, M, G or b may follow")
        .example("-g31457")
        .test("limits")
        .fits(like_a_number),
    FlagRow::new(
        "i",
        "<count>",
        |draft, text| {
            draft.target.burst = Some(number(text, 1, INT_MAX)?);
            Ok(())
        },
        "Send so many I/Os, then pause (-j)",
    )
    .default("no pauses")
    .not_in_linux()
    .example("-i10")
    .test("bursts")
    .fits(like_a_number),
    FlagRow::new(
        "I",
        "1 | 2 | 3",
        |draft, text| {
            draft.target.io_priority = number(text, 1, 3)? as u8;
            Ok(())
        },
        "Priority of the I/O: very low (the kernel's idle class), low (best effort, last level), normal",
    )
    .default("3")
    .not_in_linux()
    .example("-I1")
    .test("priorities")
    .fits(like_a_number),
    FlagRow::new(
        "j",
        "<ms>",
        |draft, text| {
            draft.target.think_ms = Some(number(text, 1, INT_MAX)?);
            Ok(())
        },
        "How long a pause is (-i), in milliseconds",
    )
    .default("no pauses")
    .not_in_linux()
    .example("-j100")
    .test("bursts")
    .fits(like_a_number),
    FlagRow::new(
        "o",
        "<count>",
        |draft, text| {
            draft.target.request_count = number(text, 1, INT_MAX)?;
            Ok(())
        },
        "In flight on each target, by each thread",
    )
    .default("2")
    .example("-o32")
    .test("depth_chooses_the_engine")
    .fits(like_a_number),
    FlagRow::new(
        "O",
        "<count>",
        |draft, text| {
            draft.span.request_count = number(text, 1, INT_MAX)?;
            Ok(())
        },
        "In flight by each thread over all targets, with -F; each I/O goes to a target drawn at random",
    )
    .default("-o")
    .not_in_linux()
    .example("-O16")
    .test("thread_pools")
    .fits(like_a_number),
    FlagRow::new(
        "p",
        "",
        |draft, _| {
            draft.target.parallel_async = true;
            Ok(())
        },
        "Each of the I/Os in flight goes through the target by itself, so that each offset is visited -o times",
    )
    .not_in_linux()
    .example("-p")
    .test("parallel_at_one_offset"),
    FlagRow::new(
        "t",
        "<count>",
        |draft, text| {
            draft.target.threads_per_file = number(text, 1, INT_MAX)?;
            Ok(())
        },
        "Threads of each target",
    )
    .default("1")
    .example("-t4")
    .test("threads_of_each_target")
    .fits(like_a_number),
    FlagRow::new("w", "<percent>", write_share, "Share of writes")
        .default("0")
        .linux("bare -w is 0")
        .example("-w30")
        .test("write_share")
        .fits(like_a_number),
];

fn throughput(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.target.throughput = if draft.is_linux {
        match u32::try_from(size(text, draft.block)?) {
            Ok(bytes @ 1..) => Throughput::BytesPerMs(bytes),
            _ => return Err(Fault::new(format!("`{text}` is out of range")).remedy("write -g1M")),
        }
    } else if let Some(iops) = text.strip_suffix('i') {
        Throughput::Iops(number(iops, 1, INT_MAX)?)
    } else {
        Throughput::BytesPerMs(number(text, 1, INT_MAX)?)
    };
    Ok(())
}

fn write_share(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    if text.is_empty() {
        if draft.is_linux {
            draft.target.write_percent = 0;
            return Ok(());
        }
        let fault =
            Fault::new("its percentage is missing (diskspd's help takes it for 0, its code does not)");
        return Err(fault.remedy("write -w0"));
    }
    draft.target.write_percent = number(text, 0, 100)?;
    Ok(())
}
