//! Options: verification of what was written.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, MAX_U32, Rule, field, reads};
use crate::value;
use fathom_core::workload::VerifyAlgorithm::{Crc32c, Md5, Pattern, Sha256, Xxhash};

const OTHER_SUM: Support = Support::NotYet("use crc32c, md5, xxhash, sha256 or pattern");

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "verify",
        Rule::Choice(&[
            Choice::new("0", |d| d.verify.algorithm = None),
            Choice::new("crc32c|crc32c-intel", |d| d.verify.algorithm = Some(Crc32c)),
            Choice::new("md5", |d| d.verify.algorithm = Some(Md5)),
            Choice::new("xxhash", |d| d.verify.algorithm = Some(Xxhash)),
            Choice::new("sha256", |d| d.verify.algorithm = Some(Sha256)),
            Choice::new("pattern", |d| d.verify.algorithm = Some(Pattern)),
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
        Rule::Size(80, MAX_U32, field!(verify.interval_bytes)),
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
    Row::new(
        "verify_offset",
        Rule::Size(40, MAX_U32, Field::ignored()),
        "Where in the interval the header is",
    )
    .example("64")
    .support(Support::NotYet("leave it out: the header is at the beginning")),
    Row::new(
        "verify_dump",
        Rule::ignored_bool(),
        "Write blocks that do not match to files",
    )
    .default("0")
    .support(Support::LeftOut(
        "blocks that do not match are reported by offset, not written to files",
    )),
    Row::new(
        "verify_async",
        Rule::ignored_number(),
        "Verify in so many threads",
    )
    .default("0")
    .example("2")
    .support(Support::Approximate("workers verify by themselves")),
    Row::new(
        "verify_async_cpus",
        Rule::ignored_text("list of CPUs"),
        "The CPUs of those threads",
    )
    .example("0-1")
    .support(Support::NoEffect("it belongs to verify_async")),
    Row::new(
        "verify_backlog",
        Rule::ignored_number(),
        "Verify after every so many writes",
    )
    .default("0")
    .example("64")
    .support(Support::NotYet(
        "leave it out: what was written is verified at the end",
    )),
    Row::new(
        "verify_backlog_batch",
        Rule::ignored_number(),
        "Verify so many blocks at a time",
    )
    .default("0")
    .example("32")
    .support(Support::NoEffect("it belongs to verify_backlog")),
    Row::new(
        "experimental_verify",
        Rule::ignored_bool(),
        "Find the blocks to verify by repeating the pattern",
    )
    .default("0")
    .support(Support::NoEffect(
        "it changes how fio remembers blocks, not which it verifies",
    )),
    Row::new(
        "verify_state_load",
        Rule::ignored_bool(),
        "Read how far an earlier run came from a file",
    )
    .default("0")
    .support(Support::NotYet(
        "use verify_only on a region that was written in full",
    )),
    Row::new(
        "verify_state_save",
        Rule::ignored_bool(),
        "Keep how far a run came in a file",
    )
    .default("1")
    .support(Support::NoEffect("no such file is written")),
    Row::new(
        "verify_write_sequence",
        Rule::ignored_bool(),
        "Verify the order of writes as well",
    )
    .default("1")
    .support(Support::NoEffect("the order of writes is not verified")),
    Row::new(
        "verify_header_seed",
        Rule::ignored_bool(),
        "Verify the seed in the header as well",
    )
    .default("1")
    .support(Support::NoEffect("the seed in the header is not verified")),
    Row::new(
        "trim_percentage",
        Rule::Number(0, 100, Field::ignored()),
        "Share of verified blocks to trim",
    )
    .default("0")
    .example("10")
    .support(Support::NotYet("use a job of its own with rw=trim")),
    Row::new(
        "trim_verify_zero",
        Rule::ignored_bool(),
        "Check that trimmed blocks read as zero",
    )
    .default("1")
    .support(Support::NoEffect("it belongs to trim_percentage")),
    Row::new(
        "trim_backlog",
        Rule::ignored_number(),
        "Trim after every so many writes",
    )
    .default("0")
    .example("64")
    .support(Support::NoEffect("it belongs to trim_percentage")),
    Row::new(
        "trim_backlog_batch",
        Rule::ignored_number(),
        "Trim so many blocks at a time",
    )
    .default("0")
    .example("32")
    .support(Support::NoEffect("it belongs to trim_percentage")),
];
