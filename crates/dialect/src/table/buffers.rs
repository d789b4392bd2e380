//! Options: contents of buffers, page cache, durability.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, number, size, text, words};
use super::row::OptionRow as Row;
use super::row::Support::{LeftOut, NoEffect, NotYet};
use super::rule::{Choice, Field, MAX_COUNT, MAX_U32, Rule, field, reads};
use crate::value;
use fathom_core::workload::SyncMode;

pub(super) static ROWS: &[&[Row]] = &[
    &[
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
    ],
    not_carried_out! {
        "atomic", BOOL, "0", "1", "Write atomically" => NotYet("use direct=1 with sync=dsync");
    },
    &[
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
    ],
    not_carried_out! {
        "write_barrier", NUMBER, "0", "8", "Make every so many writes a barrier" => NotYet("use fdatasync");
        "sync_file_range", text("wait_before,write,wait_after:N"), "", "write:8",
            "sync_file_range(2) after writes" => NotYet("use fdatasync");
        "write_hint", words!("none|short|medium|long|extreme"), "none", "short",
            "Tell the device how long the data will live" => LeftOut("no lifetime is told to the device");
    },
    &[
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
            Rule::Number(0, 100, field!(compression.percent as u8)),
            "How much of the contents a compressor can remove",
        )
        .example("50"),
        Row::new(
            "buffer_compress_chunk",
            Rule::Size(0, MAX_U32, field!(compression.chunk_bytes as u32)),
            "The piece of the buffer in which that share holds; 0: the block",
        )
        .default("512")
        .example("4k")
        .shown(|d| (d.compression.percent > 0).then(|| d.compression.chunk_bytes.to_string())),
    ],
    not_carried_out! {
        "dedupe_percentage", number(0, 100), "0", "30", "Share of identical blocks"
            => NotYet("use buffer_pattern for blocks that are all equal");
        "dedupe_mode", words!("repeat|working_set"), "repeat", "working_set", "Which blocks are identical"
            => NoEffect("it belongs to dedupe_percentage");
        "dedupe_working_set_percentage", number(0, 100), "5", "10", "How many blocks have copies"
            => NoEffect("it belongs to dedupe_percentage");
        "dedupe_global", BOOL, "0", "1", "Share identical blocks between jobs"
            => NoEffect("it belongs to dedupe_percentage");
        "mem" | "iomem", text("malloc|shm|shmhuge|mmap|mmapshared|mmaphuge[:file]"), "malloc", "mmap",
            "Memory of the buffers" => NoEffect("buffers are private memory, aligned to a page");
        "iomem_align" | "mem_align", size(0, MAX_U32), "0", "4k", "Alignment of the buffers"
            => NoEffect("buffers are always aligned to a page");
        "hugepage-size", size(0, MAX_U32), "2m", "2m", "Size of a huge page"
            => NoEffect("it belongs to mem=shmhuge and mem=mmaphuge");
    },
];
