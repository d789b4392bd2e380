//! Options: verification of what was written.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, MAX_U32, Rule};
use crate::value;
use fathom_core::workload::VerifyAlgorithm;

const OTHER_SUM: Support = Support::NotYet("use crc32c, md5, xxhash, sha256 or pattern");

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "verify",
        Rule::Choice(&[
            Choice::new("0", |d| d.verify.algorithm = None),
            Choice::new("crc32c", |d| d.verify.algorithm = Some(VerifyAlgorithm::Crc32c)),
            Choice::new("crc32c-intel", |d| {
                d.verify.algorithm = Some(VerifyAlgorithm::Crc32c);
            }),
            Choice::new("md5", |d| d.verify.algorithm = Some(VerifyAlgorithm::Md5)),
            Choice::new("xxhash", |d| d.verify.algorithm = Some(VerifyAlgorithm::Xxhash)),
            Choice::new("sha256", |d| d.verify.algorithm = Some(VerifyAlgorithm::Sha256)),
            Choice::new("pattern", |d| d.verify.algorithm = Some(VerifyAlgorithm::Pattern)),
            Choice::but("pattern_hdr", OTHER_SUM, |_| {}),
            Choice::but("meta", OTHER_SUM, |_| {}),
            Choice::but("crc64", OTHER_SUM, |_| {}),
            Choice::but("crc32", OTHER_SUM, |_| {}),
            Choice::but("crc16", OTHER_SUM, |_| {}),
            Choice::but("crc7", OTHER_SUM, |_| {}),
            Choice::but("sha512", OTHER_SUM, |_| {}),
            Choice::but("sha1", OTHER_SUM, |_| {}),
            Choice::but("sha3-224", OTHER_SUM, |_| {}),
            Choice::but("sha3-256", OTHER_SUM, |_| {}),
            Choice::but("sha3-384", OTHER_SUM, |_| {}),
            Choice::but("sha3-512", OTHER_SUM, |_| {}),
            Choice::but("null", OTHER_SUM, |_| {}),
        ]),
        "Check what is read against what was written, by this checksum or pattern",
    )
    .default("0")
    .example("crc32c"),
    Row::new(
        "do_verify",
        Rule::Bool(|d, on| d.verify.read_back = on),
        "Read back after writing",
    )
    .default("1")
    .example("0"),
    Row::new(
        "verify_only",
        Rule::Flag(|d, on| d.verify.only = on),
        "Do not write, check what an earlier run wrote",
    )
    .default("0"),
    Row::new(
        "verify_interval",
        Rule::Size(80, MAX_U32, |d, bytes| d.verify.interval_bytes = bytes),
        "A header and a checksum for each so many bytes, not one a block",
    )
    .example("4k"),
    Row::new(
        "verify_pattern",
        Rule::Text("0x…, \"…\" or number", |d, text| {
            d.verify.pattern = value::byte_pattern(text)?;
            Ok(())
        }),
        "What blocks are filled with; alone it also means verify=pattern",
    )
    .example("0xff"),
    Row::new(
        "verify_fatal",
        Rule::Bool(|d, on| d.verify.fatal = on),
        "End the job at the first mismatch",
    )
    .default("0")
    .example("1"),
    Row::new(
        "verify_offset",
        Rule::Size(40, MAX_U32, |_, _| {}),
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
    .example("1")
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
    .example("1")
    .support(Support::NoEffect(
        "it changes how fio remembers blocks, not which it verifies",
    )),
    Row::new(
        "verify_state_load",
        Rule::ignored_bool(),
        "Read how far an earlier run came from a file",
    )
    .default("0")
    .example("1")
    .support(Support::NotYet(
        "use verify_only on a region that was written in full",
    )),
    Row::new(
        "verify_state_save",
        Rule::ignored_bool(),
        "Keep how far a run came in a file",
    )
    .default("1")
    .example("0")
    .support(Support::NoEffect("no such file is written")),
    Row::new(
        "verify_write_sequence",
        Rule::ignored_bool(),
        "Verify the order of writes as well",
    )
    .default("1")
    .example("0")
    .support(Support::NoEffect("the order of writes is not verified")),
    Row::new(
        "verify_header_seed",
        Rule::ignored_bool(),
        "Verify the seed in the header as well",
    )
    .default("1")
    .example("0")
    .support(Support::NoEffect("the seed in the header is not verified")),
    Row::new(
        "trim_percentage",
        Rule::Number(0, 100, |_, _| {}),
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
    .example("0")
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
