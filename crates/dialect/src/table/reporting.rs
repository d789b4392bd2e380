//! Options: what is reported and logged.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, Rule, field, reads};
use crate::value;

const NO_LOG: Support = Support::LeftOut("no log file is written: the run directory holds a row a second");
const OF_LOGS: Support = Support::NoEffect("no log file is written");

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "clat_percentiles",
        Rule::Bool(field!(job.percentiles.clat)),
        "Report percentiles of completion latency",
    ),
    Row::new(
        "lat_percentiles",
        Rule::Bool(field!(job.percentiles.lat)),
        "Report percentiles of total latency",
    ),
    Row::new(
        "slat_percentiles",
        Rule::Bool(field!(job.percentiles.slat)),
        "Report percentiles of submission latency",
    ),
    Row::new(
        "percentile_list",
        Rule::Text(
            "percent[:percent…]",
            reads!(job.percentiles.list, value::ascending_floats),
            |d| Some(value::show_floats(&d.job.percentiles.list)),
        ),
        "Which percentiles are reported",
    )
    .example("50:99:99.9"),
    Row::new(
        "unified_rw_reporting",
        Rule::Choice(&[Choice::nothing("none|mixed|both|0|1|2", Support::Exact)]),
        "Report reads, writes and trims together",
    )
    .default("none")
    .example("mixed")
    .support(Support::LeftOut("directions are reported one by one")),
    Row::new(
        "significant_figures",
        Rule::Number(1, 10, Field::ignored()),
        "Digits of numbers in the text report",
    )
    .default("4")
    .example("3")
    .support(Support::NoEffect("the JSON results have all digits")),
    Row::new(
        "unit_base",
        Rule::Choice(&[Choice::nothing("0|8|1", Support::Exact)]),
        "Report bandwidth in bytes or bits",
    )
    .default("0")
    .example("8")
    .support(Support::NoEffect("bandwidth is reported in bytes")),
    Row::new("stats", Rule::ignored_bool(), "Keep statistics of this job")
        .default("1")
        .support(Support::LeftOut("every job is reported")),
    Row::new(
        "disk_util",
        Rule::ignored_bool(),
        "Report the disk's own counters",
    )
    .default("1")
    .support(Support::NoEffect("the disk's counters are always kept")),
    Row::new(
        "block_error_percentiles",
        Rule::ignored_bool(),
        "Count errors of trims by block",
    )
    .default("0")
    .support(Support::LeftOut("errors are counted by kind, not by block")),
    Row::new("write_bw_log", Rule::ignored_text("name"), "Log bandwidth")
        .example("bw")
        .support(NO_LOG),
    Row::new("write_lat_log", Rule::ignored_text("name"), "Log latencies")
        .example("lat")
        .support(NO_LOG),
    Row::new("write_iops_log", Rule::ignored_text("name"), "Log I/Os a second")
        .example("iops")
        .support(NO_LOG),
    Row::new(
        "write_hist_log",
        Rule::ignored_text("name"),
        "Log histograms of latency",
    )
    .example("hist")
    .support(NO_LOG),
    Row::new("per_job_logs", Rule::ignored_bool(), "A log for each job")
        .default("1")
        .support(OF_LOGS),
    Row::new(
        "bwavgtime",
        Rule::ignored_number(),
        "Window of the bandwidth statistics, in milliseconds",
    )
    .default("500")
    .example("1000")
    .support(Support::Approximate(
        "statistics over time are kept for each second",
    )),
    Row::new(
        "iopsavgtime",
        Rule::ignored_number(),
        "Window of the IOPS statistics, in milliseconds",
    )
    .default("500")
    .example("1000")
    .support(Support::Approximate(
        "statistics over time are kept for each second",
    )),
    Row::new(
        "log_entries",
        Rule::ignored_number(),
        "Rows of a log to reserve memory for",
    )
    .default("1024")
    .example("2048")
    .support(OF_LOGS),
    Row::new(
        "log_avg_msec",
        Rule::ignored_number(),
        "Window of a log, in milliseconds",
    )
    .default("0")
    .example("1000")
    .support(OF_LOGS),
    Row::new(
        "log_hist_msec",
        Rule::ignored_number(),
        "Window of a histogram log, in milliseconds",
    )
    .default("0")
    .example("1000")
    .support(OF_LOGS),
    Row::new(
        "log_hist_coarseness",
        Rule::Number(0, 6, Field::ignored()),
        "How coarse a histogram log is",
    )
    .default("0")
    .example("2")
    .support(OF_LOGS),
    Row::new(
        "log_max_value",
        Rule::ignored_bool(),
        "Log the maximum of a window",
    )
    .default("0")
    .support(OF_LOGS),
    Row::new(
        "log_window_value",
        Rule::Choice(&[Choice::nothing("avg|max|both", Support::Exact)]),
        "What a log keeps of a window",
    )
    .default("avg")
    .example("max")
    .support(OF_LOGS),
    Row::new("log_offset", Rule::ignored_bool(), "Log offsets")
        .default("0")
        .support(OF_LOGS),
    Row::new("log_prio", Rule::ignored_bool(), "Log priorities")
        .default("0")
        .support(OF_LOGS),
    Row::new("log_issue_time", Rule::ignored_bool(), "Log when I/Os were sent")
        .default("0")
        .support(OF_LOGS),
    Row::new(
        "log_compression",
        Rule::Size(0, 1 << 29, Field::ignored()),
        "Compress logs in pieces of this size",
    )
    .default("0")
    .example("64k")
    .support(OF_LOGS),
    Row::new(
        "log_compression_cpus",
        Rule::ignored_text("list of CPUs"),
        "CPUs that compress logs",
    )
    .example("0")
    .support(OF_LOGS),
    Row::new(
        "log_store_compressed",
        Rule::ignored_bool(),
        "Leave logs compressed",
    )
    .default("0")
    .support(OF_LOGS),
    Row::new("log_unix_epoch", Rule::ignored_bool(), "Log civil time")
        .default("0")
        .support(OF_LOGS),
    Row::new("log_alternate_epoch", Rule::ignored_bool(), "Log another clock")
        .default("0")
        .support(OF_LOGS),
    Row::new(
        "log_alternate_epoch_clock_id",
        Rule::ignored_number(),
        "Which clock that is",
    )
    .default("0")
    .example("1")
    .support(OF_LOGS),
];
