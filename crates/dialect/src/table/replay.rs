//! Options: traces of I/O, written and replayed.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, number, text};
use super::row::OptionRow as Row;
use super::row::Support::{self, NotYet};

const OF_REPLAY: Support = Support::NoEffect("it belongs to read_iolog");
const OF_MERGE: Support = Support::NoEffect("it belongs to merge_blktrace_file");

pub(super) static ROWS: &[&[Row]] = &[not_carried_out! {
    "read_iolog", text("name"), "", "trace.log", "Replay a trace"
        => NotYet("play it with `fathom replay`");
    "read_iolog_chunked", BOOL, "0", "1", "Read the trace piece by piece" => OF_REPLAY;
    "replay_no_stall", BOOL, "0", "1", "Replay as fast as it goes" => OF_REPLAY;
    "replay_redirect", text("device"), "", "/dev/null", "Replay on another device" => OF_REPLAY;
    "replay_scale", NUMBER, "1", "2", "Divide offsets by this" => OF_REPLAY;
    "replay_align", NUMBER, "0", "4k", "Align offsets to this" => OF_REPLAY;
    "replay_time_scale", number(1, i64::MAX), "100", "50", "Stretch time by this many percent"
        => OF_REPLAY;
    "replay_skip", text("read,write,trim,sync"), "", "write", "Directions to leave out" => OF_REPLAY;
    "merge_blktrace_file", text("name"), "", "merged.bin", "Merge traces into this file"
        => NotYet("merge the traces with another tool");
    "merge_blktrace_scalars", text("percent[:percent…]"), "", "100:50", "Stretch each trace by this"
        => OF_MERGE;
    "merge_blktrace_iters", text("number[:number…]"), "", "1:2", "Repeat each trace so often" => OF_MERGE;
}];
