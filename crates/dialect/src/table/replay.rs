//! Options: traces of I/O, written and replayed.

use super::row::{OptionRow as Row, Support};
use super::rule::{Field, Rule};

const OF_REPLAY: Support = Support::NoEffect("it belongs to read_iolog");
const OF_MERGE: Support = Support::NoEffect("it belongs to merge_blktrace_file");

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "write_iolog",
        Rule::ignored_text("name"),
        "Write each I/O to a trace",
    )
    .example("trace.log")
    .support(Support::LeftOut(
        "no trace file is written: the run directory holds a row a second",
    )),
    Row::new("read_iolog", Rule::ignored_text("name"), "Replay a trace")
        .example("trace.log")
        .support(Support::NotYet(
            "describe the workload with rw, bssplit and rate_iops",
        )),
    Row::new(
        "read_iolog_chunked",
        Rule::ignored_bool(),
        "Read the trace piece by piece",
    )
    .default("0")
    .support(OF_REPLAY),
    Row::new(
        "replay_no_stall",
        Rule::ignored_bool(),
        "Replay as fast as it goes",
    )
    .default("0")
    .support(OF_REPLAY),
    Row::new(
        "replay_redirect",
        Rule::ignored_text("device"),
        "Replay on another device",
    )
    .example("/dev/null")
    .support(OF_REPLAY),
    Row::new("replay_scale", Rule::ignored_number(), "Divide offsets by this")
        .default("1")
        .example("2")
        .support(OF_REPLAY),
    Row::new("replay_align", Rule::ignored_number(), "Align offsets to this")
        .default("0")
        .example("4k")
        .support(OF_REPLAY),
    Row::new(
        "replay_time_scale",
        Rule::Number(1, i64::MAX, Field::ignored()),
        "Stretch time by this many percent",
    )
    .default("100")
    .example("50")
    .support(OF_REPLAY),
    Row::new(
        "replay_skip",
        Rule::ignored_text("read,write,trim,sync"),
        "Directions to leave out",
    )
    .example("write")
    .support(OF_REPLAY),
    Row::new(
        "merge_blktrace_file",
        Rule::ignored_text("name"),
        "Merge traces into this file",
    )
    .example("merged.bin")
    .support(Support::NotYet("merge the traces with another tool")),
    Row::new(
        "merge_blktrace_scalars",
        Rule::ignored_text("percent[:percent…]"),
        "Stretch each trace by this",
    )
    .example("100:50")
    .support(OF_MERGE),
    Row::new(
        "merge_blktrace_iters",
        Rule::ignored_text("number[:number…]"),
        "Repeat each trace so often",
    )
    .example("1:2")
    .support(OF_MERGE),
];
