//! Options: what is reported and logged.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, number, size, text, words};
use super::row::OptionRow as Row;
use super::row::Support::{self, Approximate, LeftOut, NoEffect};
use super::rule::{Rule, field, reads};
use crate::value;

const NO_LOG: Support = Support::LeftOut("no log file is written: the run directory holds a row a second");
const OF_LOGS: Support = Support::NoEffect("no log file is written");

pub(super) static ROWS: &[&[Row]] = &[
    &[
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
    ],
    not_carried_out! {
        "unified_rw_reporting", words!("none|mixed|both|0|1|2"), "none", "mixed",
            "Report reads, writes and trims together" => LeftOut("directions are reported one by one");
        "significant_figures", number(1, 10), "4", "3", "Digits of numbers in the text report"
            => NoEffect("the JSON results have all digits");
        "unit_base", words!("0|8|1"), "0", "8", "Report bandwidth in bytes or bits"
            => NoEffect("bandwidth is reported in bytes");
        "stats", BOOL, "1", "0", "Keep statistics of this job" => LeftOut("every job is reported");
        "disk_util", BOOL, "1", "0", "Report the disk's own counters"
            => NoEffect("the disk's counters are always kept");
        "block_error_percentiles", BOOL, "0", "1", "Count errors of trims by block"
            => LeftOut("errors are counted by kind, not by block");
        "write_bw_log", text("name"), "", "bw", "Log bandwidth" => NO_LOG;
        "write_lat_log", text("name"), "", "lat", "Log latencies" => NO_LOG;
        "write_iops_log", text("name"), "", "iops", "Log I/Os a second" => NO_LOG;
        "write_hist_log", text("name"), "", "hist", "Log histograms of latency" => NO_LOG;
        "per_job_logs", BOOL, "1", "0", "A log for each job" => OF_LOGS;
        "bwavgtime", NUMBER, "500", "1000", "Window of the bandwidth statistics, in milliseconds"
            => Approximate("statistics over time are kept for each second");
        "iopsavgtime", NUMBER, "500", "1000", "Window of the IOPS statistics, in milliseconds"
            => Approximate("statistics over time are kept for each second");
        "log_entries", NUMBER, "1024", "2048", "Rows of a log to reserve memory for" => OF_LOGS;
        "log_avg_msec", NUMBER, "0", "1000", "Window of a log, in milliseconds" => OF_LOGS;
        "log_hist_msec", NUMBER, "0", "1000", "Window of a histogram log, in milliseconds" => OF_LOGS;
        "log_hist_coarseness", number(0, 6), "0", "2", "How coarse a histogram log is" => OF_LOGS;
        "log_max_value", BOOL, "0", "1", "Log the maximum of a window" => OF_LOGS;
        "log_window_value", words!("avg|max|both"), "avg", "max", "What a log keeps of a window" => OF_LOGS;
        "log_offset", BOOL, "0", "1", "Log offsets" => OF_LOGS;
        "log_prio", BOOL, "0", "1", "Log priorities" => OF_LOGS;
        "log_issue_time", BOOL, "0", "1", "Log when I/Os were sent" => OF_LOGS;
        "log_compression", size(0, 1 << 29), "0", "64k", "Compress logs in pieces of this size" => OF_LOGS;
        "log_compression_cpus", text("list of CPUs"), "", "0", "CPUs that compress logs" => OF_LOGS;
        "log_store_compressed", BOOL, "0", "1", "Leave logs compressed" => OF_LOGS;
        "log_unix_epoch", BOOL, "0", "1", "Log civil time" => OF_LOGS;
        "log_alternate_epoch", BOOL, "0", "1", "Log another clock" => OF_LOGS;
        "log_alternate_epoch_clock_id", NUMBER, "0", "1", "Which clock that is" => OF_LOGS;
    },
];
