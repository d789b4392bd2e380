//! Flags about how much is done at once and how fast: threads, depth, directions, limits, pauses.

use super::super::draft::Draft;
use super::super::profile::Throughput;
use super::super::value::{number, size};
use super::{FlagRow, count, reads, switches};
use crate::diagnostic::Fault;

pub(super) const ROWS: &[FlagRow] = &[
    FlagRow::number(
        "F",
        "<count>",
        reads!(span.thread_count, count),
        "Threads in all; each uses all targets",
    )
    .default("-t")
    .example("-F4")
    .test("threads_of_all_targets"),
    FlagRow::number("g", "<n>[i]", throughput, "Limit of each thread on each target: bytes a millisecond, or with `i` I/Os a second")
        .default("none")
        .linux("bytes a millisecond only, and K, M, G or b may follow")
        .example("-g31457")
        .test("limits"),
    FlagRow::number(
        "i",
        "<count>",
        reads!(target.burst, |text| count(text).map(Some)),
        "Send so many I/Os, then pause (-j)",
    )
    .default("no pauses")
    .not_in_linux()
    .example("-i10")
    .test("bursts"),
    FlagRow::number(
        "I",
        "1 | 2 | 3",
        reads!(target.io_priority, |text| number(text, 1, 3).map(|level| level as u8)),
        "Priority of the I/O: very low (the kernel's idle class), low (best effort, last level), normal",
    )
    .default("3")
    .not_in_linux()
    .example("-I1")
    .test("priorities"),
    FlagRow::number(
        "j",
        "<ms>",
        reads!(target.think_ms, |text| count(text).map(Some)),
        "How long a pause is (-i), in milliseconds",
    )
    .default("no pauses")
    .not_in_linux()
    .example("-j100")
    .test("bursts"),
    FlagRow::number(
        "o",
        "<count>",
        reads!(target.request_count, count),
        "In flight on each target, by each thread",
    )
    .default("2")
    .example("-o32")
    .test("depth_chooses_the_engine"),
    FlagRow::number(
        "O",
        "<count>",
        reads!(span.request_count, count),
        "In flight by each thread over all targets, with -F; each I/O goes to a target drawn at random",
    )
    .default("-o")
    .not_in_linux()
    .example("-O16")
    .test("thread_pools"),
    FlagRow::new(
        "p",
        "",
        switches!(target.parallel_async),
        "Each of the I/Os in flight goes through the target by itself, so that each offset is visited -o times",
    )
    .not_in_linux()
    .example("-p")
    .test("parallel_at_one_offset"),
    FlagRow::number(
        "t",
        "<count>",
        reads!(target.threads_per_file, count),
        "Threads of each target",
    )
    .default("1")
    .example("-t4")
    .test("threads_of_each_target"),
    FlagRow::number("w", "<percent>", write_share, "Share of writes")
        .default("0")
        .linux("bare -w is 0")
        .example("-w30")
        .test("write_share"),
];

fn throughput(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.target.throughput = if draft.is_linux {
        match u32::try_from(size(text, draft.block)?) {
            Ok(bytes @ 1..) => Throughput::BytesPerMs(bytes),
            _ => return Err(Fault::new(format!("`{text}` is out of range")).remedy("write -g1M")),
        }
    } else if let Some(iops) = text.strip_suffix('i') {
        Throughput::Iops(count(iops)?)
    } else {
        Throughput::BytesPerMs(count(text)?)
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
