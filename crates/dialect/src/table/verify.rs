//! Options: verification of what was written.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, number, text, words};
use super::row::OptionRow as Row;
use super::row::Support::{LeftOut, NoEffect, NotYet};
use super::rule::{Field, MAX_COUNT, MAX_U32, Rule, field};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value;
use fathom_core::workload::VerifyAlgorithm;

fn set_algorithm(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let word = text.trim();
    draft.verify_algorithm = match word {
        "0" | "none" => None,
        "crc32c-intel" => Some(VerifyAlgorithm::Crc32c),
        word => {
            let known = VerifyAlgorithm::ALL.iter().find(|(name, _)| *name == word);
            let unknown = || {
                let names: Vec<&str> = VerifyAlgorithm::ALL.iter().map(|(name, _)| *name).collect();
                Fault::new(format!("`{word}` is not one of its values"))
                    .remedy(format!("write one of {}", names.join(", ")))
            };
            Some(known.ok_or_else(unknown)?.1)
        }
    };
    Ok(())
}

fn show_algorithm(draft: &Draft) -> String {
    let held = |(_, algorithm): &&(&str, VerifyAlgorithm)| Some(*algorithm) == draft.verify_algorithm;
    let found = VerifyAlgorithm::ALL.iter().find(held);
    found.map_or("0", |(name, _)| name).to_owned()
}

fn set_pattern(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let value::Pattern { bytes, offsets, file } = value::verify_pattern(text)?;
    (draft.verify.pattern, draft.verify.pattern_offsets) = (bytes, offsets);
    draft.verify.pattern_file = file;
    Ok(())
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "verify",
            Rule::Text(
                "crc7|crc16|crc32|crc32c|crc64|md5|xxhash|sha1|sha256|sha512|sha3-224|sha3-256|sha3-384|sha3-512|meta|pattern|\
                 pattern_hdr|null",
                set_algorithm,
                |d| Some(show_algorithm(d)),
            ),
            "Check what is read against what was written, by this checksum or pattern",
        )
        .default("0")
        .example("crc32c"),
        Row::new(
        "do_verify",
        Rule::Bool(field!(verify.read_back)),
        "Read back after writing",
    )
    .shown_behind("verify_pattern"),
        Row::new(
        "verify_only",
        Rule::Flag(field!(verify.only)),
        "Do not write, check what an earlier run wrote",
    )
    .shown_behind("verify_pattern"),
        Row::new(
        "verify_interval",
        Rule::Size(80, MAX_U32, field!(verify.interval_bytes as u32)),
        "A header and a checksum for each so many bytes, not one a block",
    )
    .example("4k")
    .shown_behind("verify_pattern"),
        Row::new(
        "verify_pattern",
        Rule::Text("0x…, \"…\", number, %o, or 'file'", set_pattern, |d| {
            value::show_verify_pattern(&value::Pattern {
                bytes: d.verify.pattern.clone(),
                offsets: d.verify.pattern_offsets.clone(),
                file: d.verify.pattern_file.clone(),
            })
        }),
        "What blocks are filled with; alone it also means verify=pattern",
    )
    .example("0xff"),
        Row::new(
        "verify_fatal",
        Rule::Bool(field!(verify.fatal)),
        "End the job at the first mismatch",
    ),
        Row::new(
            "verify_offset",
            Rule::Size(0, MAX_U32, field!(verify.offset_bytes as u32)),
            "Where in the interval the header is",
        )
        .default("0")
        .example("64"),
        Row::new(
            "verify_dump",
            Rule::Bool(field!(verify.dump)),
            "Leave blocks that do not match in files, beside what was expected",
        ),
        Row::new(
            "verify_write_sequence",
            Rule::Bool(Field {
                set: |d, on| d.verify.ignores_sequence = !on,
                get: |d| Some(!d.verify.ignores_sequence),
            }),
            "Verify the order of writes as well, where each block is written once",
        ),
        Row::new(
            "verify_header_seed",
            Rule::Bool(Field {
                set: |d, on| d.verify.ignores_seed = !on,
                get: |d| Some(!d.verify.ignores_seed),
            }),
            "Verify the random number in the header as well, where each block is written once",
        ),
        Row::new(
            "verify_backlog",
            Rule::Number(0, MAX_COUNT, field!(verify.backlog_ios as u32)),
            "Read back after every so many writes, not only when all are done",
        )
        .example("64"),
        Row::new(
            "verify_backlog_batch",
            Rule::Number(0, MAX_COUNT, field!(verify.backlog_batch_ios as u32)),
            "Read back so many of them at a time; 0: all",
        )
        .example("32"),
    ],
    not_carried_out! {
        "verify_async", NUMBER, "0", "2", "Verify in so many threads"
            => NoEffect("workers verify by themselves: the same blocks are checked");
        "verify_async_cpus", text("list of CPUs"), "", "0-1", "The CPUs of those threads"
            => NoEffect("it belongs to verify_async");
        "experimental_verify", BOOL, "0", "1", "Find the blocks to verify by repeating the pattern"
            => NoEffect("it changes how fio remembers blocks, not which it verifies");
        "verify_policy", words!("completed|fsynced"), "completed", "fsynced",
            "Which of the writes before a crash are verified"
            => NoEffect("all writes are complete before a job ends, and no crash is recorded");
        "verify_state_load", BOOL, "0", "1", "Read how far an earlier run came from a file"
            => LeftOut("no such file is read: all that was written is checked");
        "verify_state_save", BOOL, "1", "0", "Keep how far a run came in a file"
            => NoEffect("no such file is written");
        "trim_percentage", number(0, 100), "0", "10", "Share of verified blocks to trim"
            => NotYet("use a job of its own with rw=trim");
        "trim_verify_zero", BOOL, "1", "0", "Check that trimmed blocks read as zero"
            => NoEffect("it belongs to trim_percentage");
        "trim_backlog", NUMBER, "0", "64", "Trim after every so many writes"
            => NoEffect("it belongs to trim_percentage");
        "trim_backlog_batch", NUMBER, "0", "32", "Trim so many blocks at a time"
            => NoEffect("it belongs to trim_percentage");
    },
];
