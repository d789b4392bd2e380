//! Options: verification of what was written.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, text, words};
use super::row::OptionRow as Row;
use super::row::Support::NoEffect;
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
        // Of fio 3.40 and later.
        Row::new(
        "verify_pattern_interval",
        Rule::Size(0, MAX_U32, field!(verify.pattern_interval_bytes as u32)),
        "The pattern begins anew after so many bytes, with the offset there for %o; 0: with each I/O",
    )
    .default("0")
    .example("512"),
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
        Row::new(
            "trim_percentage",
            Rule::Number(0, 100, field!(verify.trim_percent as u8)),
            "Share of the verified blocks that are trimmed, after every trim_backlog writes",
        )
        .example("10"),
        Row::new(
            "trim_backlog",
            Rule::Number(0, MAX_COUNT, field!(verify.trim_every_ios as u32)),
            "Trim after every so many writes; 0: never",
        )
        .example("64"),
        Row::new(
            "trim_backlog_batch",
            Rule::Number(0, MAX_COUNT, field!(verify.trim_batch_ios as u32)),
            "Trim so many blocks at a time; 0: trim_backlog",
        )
        .example("32"),
        Row::new(
            "trim_verify_zero",
            Rule::Bool(Field {
                set: |d, on| d.verify.trimmed_holds_anything = !on,
                get: |d| Some(!d.verify.trimmed_holds_anything),
            }),
            "Check that trimmed blocks read as zero",
        ),
        // fathom always finds them so.
        Row::new(
            "experimental_verify",
            BOOL,
            "Find the blocks to verify by repeating the pattern",
        )
        .default("0"),
        Row::new(
            "verify_state_save",
            Rule::Bool(Field {
                set: |d, on| d.verify.forgets_state = !on,
                get: |d| Some(!d.verify.forgets_state),
            }),
            "Leave a file that tells how far the writes came (fathom fio)",
        ),
        Row::new(
            "verify_state_load",
            Rule::Bool(field!(verify.loads_state)),
            "Verify no more than a file of an earlier run says was written",
        ),
    ],
    not_carried_out! {
        "verify_async", NUMBER, "0", "2", "Verify in so many threads"
            => NoEffect("workers verify by themselves: the same blocks are checked");
        "verify_async_cpus", text("list of CPUs"), "", "0-1", "The CPUs of those threads"
            => NoEffect("it belongs to verify_async");
        "verify_policy", words!("completed|fsynced"), "completed", "fsynced",
            "Which of the writes before a crash are verified"
            => NoEffect("all writes are complete before a job ends, and no crash is recorded");
    },
];
