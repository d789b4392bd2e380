//! Options: contents of buffers, page cache, durability.

use super::not_carried_out::{NUMBER, not_carried_out, size};
use super::row::OptionRow as Row;
use super::row::Support::NoEffect;
use super::rule::{Choice, Field, MAX_COUNT, MAX_U32, Rule, field};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value;
use fathom_core::workload::{RangeSync, SyncMode, WriteLife};

/// Flags, and after how many writes; 1 where that is not said.
fn set_sync_range(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let wrong = || Fault::new(format!("`{text}` is not flags and a count")).remedy("write such as write:8");
    let (flags, count) = text.rsplit_once(':').unwrap_or((text, "1"));
    let mut range = RangeSync {
        every: count.trim().parse().map_err(|_| wrong())?,
        ..RangeSync::default()
    };
    for flag in flags.split(',') {
        match flag.trim() {
            "wait_before" => range.waits_before = true,
            "write" => range.writes = true,
            "wait_after" => range.waits_after = true,
            _ => return Err(wrong()),
        }
    }
    draft.job.sync.range = range;
    Ok(())
}

fn show_sync_range(draft: &Draft) -> Option<String> {
    let range = draft.job.sync.range;
    let flags = [
        (range.waits_before, "wait_before"),
        (range.writes, "write"),
        (range.waits_after, "wait_after"),
    ];
    let flags: Vec<&str> = flags
        .iter()
        .filter_map(|&(given, flag)| given.then_some(flag))
        .collect();
    (range.every > 0).then(|| format!("{}:{}", flags.join(","), range.every))
}

/// `malloc`, `shm`, `shmhuge`, `mmap`, `mmapshared`, `mmaphuge`; a file behind a colon is not needed.
fn set_memory(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let word = text.split_once(':').map_or(text, |(word, _)| word).trim();
    draft.huge_pages = match word {
        "malloc" | "shm" | "mmap" | "mmapshared" => false,
        "shmhuge" | "mmaphuge" | "mmapsharedhuge" => true,
        _ => {
            return Err(Fault::new(format!("`{word}` is no kind of memory"))
                .remedy("write malloc, shm, shmhuge, mmap, mmaphuge or mmapshared"));
        }
    };
    Ok(())
}

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
        // The flag that fio opens files with beside that is none of Linux's.
        Row::new(
            "atomic",
            Rule::Bool(field!(atomic)),
            "Write atomically: direct, as far as the device goes",
        ),
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
            "sync_file_range",
            Rule::Text("wait_before,write,wait_after:N", set_sync_range, show_sync_range),
            "sync_file_range(2) after every so many writes",
        )
        .example("write:8"),
        // fio sends the same I/Os with it and without.
        Row::new(
            "write_barrier",
            NUMBER,
            "Make every so many writes a barrier, where an interface has barriers (none of Linux has)",
        )
        .default("0")
        .example("8"),
        Row::new(
            "write_hint",
            Rule::Choice(&[
                Choice::new("none", |d| d.job.files.write_life = None),
                Choice::new("short", |d| d.job.files.write_life = Some(WriteLife::Short)),
                Choice::new("medium", |d| d.job.files.write_life = Some(WriteLife::Medium)),
                Choice::new("long", |d| d.job.files.write_life = Some(WriteLife::Long)),
                Choice::new("extreme", |d| d.job.files.write_life = Some(WriteLife::Extreme)),
            ]),
            "Tell the device how long the data will live",
        )
        .example("short"),
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
                "0x…, \"…\", number, or 'file'",
                |d, text| {
                    let value::Pattern { bytes, offsets, file } = value::verify_pattern(text)?;
                    if !offsets.is_empty() {
                        return Err(Fault::new("`%o` is for what is verified").remedy("use verify_pattern"));
                    }
                    (d.job.buffers.pattern, d.job.buffers.pattern_file) = (bytes, file);
                    Ok(())
                },
                |d| {
                    value::show_verify_pattern(&value::Pattern {
                        bytes: d.job.buffers.pattern.clone(),
                        offsets: Vec::new(),
                        file: d.job.buffers.pattern_file.clone(),
                    })
                },
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
        Row::new(
            "dedupe_percentage",
            Rule::Number(0, 100, field!(dedupe.percent as u8)),
            "Share of the blocks written that are copies of others",
        )
        .example("30"),
        Row::new(
            "dedupe_mode",
            Rule::Choice(&[
                Choice::new("repeat", |d| d.dedupe_of_set = false),
                Choice::new("working_set", |d| d.dedupe_of_set = true),
            ]),
            "Whether copies are of the block before, or of any of a set",
        )
        .example("working_set"),
        Row::new(
            "dedupe_working_set_percentage",
            Rule::Number(0, 100, field!(dedupe_set_percent as u8)),
            "How large that set is, in percent of the blocks of the region",
        )
        .example("10"),
        Row::new(
            "dedupe_global",
            Rule::Bool(field!(dedupe.shared)),
            "All jobs share that set",
        ),
        Row::new(
            "mem",
            Rule::Text(
                "malloc|shm|shmhuge|mmap|mmapshared|mmaphuge[:file]",
                set_memory,
                |_| None,
            ),
            "Memory of the buffers: private pages, or huge ones, of which the system must have enough",
        )
        .aliases(&["iomem"])
        .default("malloc")
        .example("mmap"),
    ],
    not_carried_out! {
        "iomem_align" | "mem_align", size(0, MAX_U32), "0", "4k", "Alignment of the buffers"
            => NoEffect("buffers are always aligned to a page");
    },
    &[Row::new(
        "hugepage-size",
        Rule::Size(
            0,
            MAX_U32,
            Field {
                // Those of 2 MiB are the usual ones.
                set: |d, bytes| {
                    d.job.buffers.huge_page_bytes = if bytes == 2 << 20 { 0 } else { bytes };
                },
                get: |d| Some(d.job.buffers.huge_page_bytes).filter(|&bytes| bytes > 0),
            },
        ),
        "Size of a huge page, for mem=shmhuge and mem=mmaphuge",
    )
    .default("2m")
    .example("2m")],
];
