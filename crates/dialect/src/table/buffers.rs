//! Options: contents of buffers, page cache, durability.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, MAX_COUNT, MAX_U32, Rule, field, reads};
use crate::value;
use fathom_core::workload::SyncMode;

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "direct",
        Rule::Bool(field!(job.direct)),
        "Bypass the page cache (O_DIRECT)",
    ),
    Row::new(
        "buffered",
        Rule::Bool(Field::only(|d, on| d.job.direct = !on)),
        "Use the page cache; the opposite of direct",
    )
    .default("1"),
    Row::new("atomic", Rule::ignored_bool(), "Write atomically")
        .default("0")
        .support(Support::NotYet("use direct=1 with sync=dsync")),
    Row::new(
        "sync",
        Rule::Choice(&[
            Choice::new("none|0", |d| d.job.sync.mode = SyncMode::None),
            Choice::new("sync|1", |d| d.job.sync.mode = SyncMode::Sync),
            Choice::new("dsync", |d| d.job.sync.mode = SyncMode::DataSync),
        ]),
        "Open files with O_SYNC or O_DSYNC",
    )
    .example("dsync"),
    Row::new(
        "fsync",
        Rule::Number(0, MAX_COUNT, field!(job.sync.fsync_every as u32)),
        "fsync after every so many writes",
    )
    .example("32"),
    Row::new(
        "fdatasync",
        Rule::Number(0, MAX_COUNT, field!(job.sync.fdatasync_every as u32)),
        "fdatasync after every so many writes",
    )
    .example("1"),
    Row::new(
        "end_fsync",
        Rule::Bool(field!(job.sync.fsync_at_end)),
        "fsync once when the writes are done",
    ),
    Row::new(
        "fsync_on_close",
        Rule::Bool(field!(job.sync.fsync_on_close)),
        "fsync when a file is closed",
    ),
    Row::new(
        "write_barrier",
        Rule::ignored_number(),
        "Make every so many writes a barrier",
    )
    .default("0")
    .example("8")
    .support(Support::NotYet("use fdatasync")),
    Row::new(
        "sync_file_range",
        Rule::ignored_text("wait_before,write,wait_after:N"),
        "sync_file_range(2) after writes",
    )
    .example("write:8")
    .support(Support::NotYet("use fdatasync")),
    Row::new(
        "write_hint",
        Rule::Choice(&[Choice::nothing("none|short|medium|long|extreme", Support::Exact)]),
        "Tell the device how long the data will live",
    )
    .default("none")
    .example("short")
    .support(Support::LeftOut("no lifetime is told to the device")),
    Row::new(
        "zero_buffers",
        Rule::Flag(field!(job.buffers.zero)),
        "Write zeroes",
    ),
    Row::new(
        "refill_buffers",
        Rule::Flag(field!(job.buffers.refill)),
        "Fill the buffer anew for each write",
    ),
    Row::new(
        "scramble_buffers",
        Rule::Bool(field!(job.buffers.scramble)),
        "Change a few bytes for each write, so that no two blocks are equal",
    ),
    Row::new(
        "buffer_pattern",
        Rule::Text(
            "0x…, \"…\" or number",
            reads!(job.buffers.pattern, value::byte_pattern),
            |d| value::show_pattern(&d.job.buffers.pattern),
        ),
        "Bytes that are repeated in each write",
    )
    .example("0xdeadbeef"),
    Row::new(
        "buffer_compress_percentage",
        Rule::Number(0, 100, field!(compress_percent as u8)),
        "How much of the contents a compressor can remove",
    )
    .example("50"),
    Row::new(
        "buffer_compress_chunk",
        Rule::Size(0, MAX_U32, field!(compress_chunk_bytes as u32)),
        "The piece of the buffer in which that share holds; 0: the block",
    )
    .default("512")
    .example("4k")
    .shown(|d| (d.compress_percent > 0).then(|| d.compress_chunk_bytes.to_string())),
    Row::new(
        "dedupe_percentage",
        Rule::Number(0, 100, Field::ignored()),
        "Share of identical blocks",
    )
    .default("0")
    .example("30")
    .support(Support::NotYet(
        "use buffer_pattern for blocks that are all equal",
    )),
    Row::new(
        "dedupe_mode",
        Rule::Choice(&[Choice::nothing("repeat|working_set", Support::Exact)]),
        "Which blocks are identical",
    )
    .default("repeat")
    .example("working_set")
    .support(Support::NoEffect("it belongs to dedupe_percentage")),
    Row::new(
        "dedupe_working_set_percentage",
        Rule::Number(0, 100, Field::ignored()),
        "How many blocks have copies",
    )
    .default("5")
    .example("10")
    .support(Support::NoEffect("it belongs to dedupe_percentage")),
    Row::new(
        "dedupe_global",
        Rule::ignored_bool(),
        "Share identical blocks between jobs",
    )
    .default("0")
    .support(Support::NoEffect("it belongs to dedupe_percentage")),
    Row::new(
        "mem",
        Rule::ignored_text("malloc|shm|shmhuge|mmap|mmapshared|mmaphuge[:file]"),
        "Memory of the buffers",
    )
    .aliases(&["iomem"])
    .default("malloc")
    .example("mmap")
    .support(Support::NoEffect("buffers are private memory, aligned to a page")),
    Row::new(
        "iomem_align",
        Rule::Size(0, MAX_U32, Field::ignored()),
        "Alignment of the buffers",
    )
    .aliases(&["mem_align"])
    .default("0")
    .example("4k")
    .support(Support::NoEffect("buffers are always aligned to a page")),
    Row::new(
        "hugepage-size",
        Rule::Size(0, MAX_U32, Field::ignored()),
        "Size of a huge page",
    )
    .default("2m")
    .example("2m")
    .support(Support::NoEffect("it belongs to mem=shmhuge and mem=mmaphuge")),
];
