//! Options: verification of what was written.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, number, size, text};
use super::row::OptionRow as Row;
use super::row::Support::{self, Approximate, LeftOut, NoEffect, NotYet};
use super::rule::{Choice, MAX_U32, Rule, field, reads};
use crate::value;
use fathom_core::workload::VerifyAlgorithm::{Crc32c, Md5, Pattern, Sha256, Xxhash};

const OTHER_SUM: Support = Support::NotYet("use crc32c, md5, xxhash, sha256 or pattern");

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
        "verify",
        Rule::Choice(&[
            Choice::new("0", |d| d.verify_algorithm = None),
            Choice::new("crc32c|crc32c-intel", |d| d.verify_algorithm = Some(Crc32c)),
            Choice::new("md5", |d| d.verify_algorithm = Some(Md5)),
            Choice::new("xxhash", |d| d.verify_algorithm = Some(Xxhash)),
            Choice::new("sha256", |d| d.verify_algorithm = Some(Sha256)),
            Choice::new("pattern", |d| d.verify_algorithm = Some(Pattern)),
            Choice::nothing(
                "pattern_hdr|meta|crc64|crc32|crc16|crc7|sha512|sha1|sha3-224|sha3-256|sha3-384|sha3-512|null",
                OTHER_SUM,
            ),
        ]),
        "Check what is read against what was written, by this checksum or pattern",
    )
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
        Rule::Text(
            "0x…, \"…\" or number",
            reads!(verify.pattern, value::byte_pattern),
            |d| value::show_pattern(&d.verify.pattern),
        ),
        "What blocks are filled with; alone it also means verify=pattern",
    )
    .example("0xff"),
        Row::new(
        "verify_fatal",
        Rule::Bool(field!(verify.fatal)),
        "End the job at the first mismatch",
    ),
    ],
    not_carried_out! {
        "verify_offset", size(40, MAX_U32), "", "64", "Where in the interval the header is"
            => NotYet("leave it out: the header is at the beginning");
        "verify_dump", BOOL, "0", "1", "Write blocks that do not match to files"
            => LeftOut("blocks that do not match are reported by offset, not written to files");
        "verify_async", NUMBER, "0", "2", "Verify in so many threads"
            => Approximate("workers verify by themselves");
        "verify_async_cpus", text("list of CPUs"), "", "0-1", "The CPUs of those threads"
            => NoEffect("it belongs to verify_async");
        "verify_backlog", NUMBER, "0", "64", "Verify after every so many writes"
            => NotYet("leave it out: what was written is verified at the end");
        "verify_backlog_batch", NUMBER, "0", "32", "Verify so many blocks at a time"
            => NoEffect("it belongs to verify_backlog");
        "experimental_verify", BOOL, "0", "1", "Find the blocks to verify by repeating the pattern"
            => NoEffect("it changes how fio remembers blocks, not which it verifies");
        "verify_state_load", BOOL, "0", "1", "Read how far an earlier run came from a file"
            => NotYet("use verify_only on a region that was written in full");
        "verify_state_save", BOOL, "1", "0", "Keep how far a run came in a file"
            => NoEffect("no such file is written");
        "verify_write_sequence", BOOL, "1", "0", "Verify the order of writes as well"
            => NoEffect("the order of writes is not verified");
        "verify_header_seed", BOOL, "1", "0", "Verify the seed in the header as well"
            => NoEffect("the seed in the header is not verified");
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
