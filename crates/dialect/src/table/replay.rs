//! Options: traces of I/O, written and replayed.

use super::not_carried_out::{not_carried_out, text};
use super::row::OptionRow as Row;
use super::row::Support::{self, NotYet};
use super::rule::{Field, MAX_U32, Rule, field};
use crate::diagnostic::Fault;
use std::path::PathBuf;

const OF_MERGE: Support = Support::NoEffect("it belongs to merge_blktrace_file");

/// What `replay_skip` names, in the order of [`fathom_core::workload::ReadIolog::skips`].
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "sync"];

fn skips(text: &str) -> Result<[bool; 4], Fault> {
    let mut skips = [false; 4];
    for word in text.split(',').map(str::trim) {
        match DIRECTIONS.iter().position(|name| *name == word) {
            Some(at) => skips[at] = true,
            None => {
                return Err(
                    Fault::new(format!("`{word}` is none of {}", DIRECTIONS.join(", ")))
                        .remedy("write such as trim,sync"),
                );
            }
        }
    }
    Ok(skips)
}

fn path(text: &str) -> PathBuf {
    PathBuf::from(text.trim())
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "read_iolog",
            Rule::Text(
                "file",
                |d, text| {
                    if matches!(text.trim(), "-") {
                        return Err(Fault::new("a record is read twice, which stdin cannot be")
                            .remedy("write it to a file first"));
                    }
                    d.iolog.path = path(text);
                    Ok(())
                },
                |d| Some(d.iolog.path.display().to_string()).filter(|path| !path.is_empty()),
            ),
            "Play this record, fio's iolog or blktrace's, in place of a pattern",
        )
        .example("trace.log"),
        Row::new(
            "read_iolog_chunked",
            // Records are always read so: memory does not grow with them.
            Rule::Bool(Field::only(|_, _| {})),
            "Read the record piece by piece",
        )
        .default("0"),
        Row::new(
            "replay_no_stall",
            Rule::Bool(field!(iolog.no_stall)),
            "Play as fast as it goes, not at the recorded times",
        ),
        Row::new(
            "replay_redirect",
            Rule::Text(
                "file or device",
                |d, text| {
                    d.iolog.redirect = Some(path(text));
                    Ok(())
                },
                |d| Some(d.iolog.redirect.as_ref()?.display().to_string()),
            ),
            "Play all of it on this file or device",
        )
        .example("/dev/null"),
        Row::new(
            "replay_scale",
            Rule::Number(
                1,
                i64::MAX,
                Field {
                    set: |d, number| d.iolog.divisor = number as u64,
                    get: |d| Some(d.iolog.divisor as i64),
                },
            ),
            "Divide offsets by this",
        )
        .example("2"),
        Row::new(
            "replay_align",
            Rule::Size(0, MAX_U32, field!(iolog.align_bytes)),
            "Round offsets down to a multiple of this power of two",
        )
        .default("0")
        .example("4k"),
        Row::new(
            "replay_time_scale",
            Rule::Number(
                1,
                1_000_000,
                Field {
                    set: |d, number| d.iolog.speed_percent = number as u64,
                    get: |d| Some(d.iolog.speed_percent as i64),
                },
            ),
            "Play at so many percent of the recorded speed",
        )
        .example("50"),
        Row::new(
            "replay_skip",
            Rule::Text(
                "read,write,trim,sync",
                |d, text| {
                    d.iolog.skips = skips(text)?;
                    Ok(())
                },
                |d| {
                    let skipped = DIRECTIONS
                        .iter()
                        .zip(d.iolog.skips)
                        .filter(|(_, skipped)| *skipped);
                    let names: Vec<&str> = skipped.map(|(name, _)| *name).collect();
                    Some(names.join(",")).filter(|names| !names.is_empty())
                },
            ),
            "Directions of the record that are not played",
        )
        .example("write"),
    ],
    not_carried_out! {
    "merge_blktrace_file", text("name"), "", "merged.bin", "Merge traces into this file"
        => NotYet("merge the traces with another tool");
    "merge_blktrace_scalars", text("percent[:percent…]"), "", "100:50", "Stretch each trace by this"
        => OF_MERGE;
    "merge_blktrace_iters", text("number[:number…]"), "", "1:2", "Repeat each trace so often" => OF_MERGE;
    },
];
