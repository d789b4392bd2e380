//! Options: what is logged of each I/O.

use super::not_carried_out::{number, size};
use super::row::OptionRow as Row;
use super::rule::{Choice, Field, MAX_COUNT, Rule, Set, field, reads};
use crate::value;
use fathom_core::workload::LogValue;

/// A log with a prefix, which may be left out.
macro_rules! prefix {
    ($name:literal, $field:ident, $example:literal, $help:literal) => {
        Row::new(
            $name,
            Rule::OptionalText(
                "prefix",
                |d, text| -> Set {
                    d.job.reporting.logs.$field = Some(text.trim().to_owned());
                    Ok(())
                },
                |d| d.job.reporting.logs.$field.clone(),
            ),
            $help,
        )
        .example($example)
    };
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        prefix!("write_bw_log", bw, "bw", "Log bandwidth"),
        prefix!(
            "write_lat_log",
            lat,
            "lat",
            "Log latencies: slat, clat and lat, a file each"
        ),
        prefix!("write_iops_log", iops, "iops", "Log I/Os a second"),
        prefix!(
            "write_hist_log",
            hist,
            "hist",
            "Log histograms of completion latency"
        ),
        Row::new(
            "write_iolog",
            Rule::Text(
                "file",
                |d, text| {
                    d.job.reporting.logs.iolog = Some(text.trim().to_owned());
                    Ok(())
                },
                |d| d.job.reporting.logs.iolog.clone(),
            ),
            "Write each I/O to a trace that can be replayed",
        )
        .example("trace.log"),
        Row::new(
            "log_avg_msec",
            Rule::Number(0, MAX_COUNT, field!(job.reporting.logs.window_ms as u32)),
            "Window of a log, in milliseconds; 0: a row for each I/O",
        )
        .example("1000"),
        Row::new(
            "log_hist_msec",
            Rule::Number(0, MAX_COUNT, field!(job.reporting.logs.hist_window_ms as u32)),
            "Window of a histogram log, in milliseconds",
        )
        .example("1000"),
        Row::new(
            "log_hist_coarseness",
            Rule::Number(0, 6, field!(job.reporting.logs.hist_coarseness as u8)),
            "How often neighbouring buckets of a histogram log are put together",
        )
        .example("2"),
        Row::new(
            "log_window_value",
            Rule::Choice(&[
                Choice::new("avg|0", |d| d.job.reporting.logs.value = LogValue::Mean),
                Choice::new("max|1", |d| d.job.reporting.logs.value = LogValue::Max),
                Choice::new("both|2", |d| d.job.reporting.logs.value = LogValue::Both),
            ]),
            "What a log keeps of a window",
        )
        .aliases(&["log_max_value"])
        .example("max"),
        Row::new(
            "log_offset",
            Rule::Bool(field!(job.reporting.logs.offset)),
            "Log the offset of each I/O",
        ),
        Row::new(
            "log_prio",
            Rule::Bool(field!(job.reporting.logs.priority)),
            "Log the whole I/O priority",
        ),
        Row::new(
            "log_issue_time",
            Rule::Bool(field!(job.reporting.logs.issue_time)),
            "Log when each I/O was sent",
        ),
        Row::new(
            "log_store_compressed",
            Rule::Bool(field!(job.reporting.logs.compressed)),
            "Leave logs compressed, for fathom fio --inflate-log",
        ),
        Row::new(
            "per_job_logs",
            Rule::Bool(field!(job.reporting.logs.per_job)),
            "A log for each worker, with its number in its name",
        ),
        Row::new(
            "log_alternate_epoch",
            Rule::Bool(field!(log_epoch)),
            "Times of logs are those of a clock, in place of those since the job's start",
        )
        .aliases(&["log_unix_epoch"]),
        Row::new(
            "log_alternate_epoch_clock_id",
            Rule::Number(
                0,
                1,
                Field {
                    set: |d, clock| d.log_clock = clock as u32,
                    get: |d| Some(d.log_clock.into()),
                },
            ),
            "Which clock that is: 0 civil time, 1 CLOCK_MONOTONIC",
        )
        .example("1"),
    ],
    // What these two save is memory that fathom's logs never take: rows are written while the job runs. The files are the same.
    &[
        Row::new(
            "log_entries",
            number(0, i64::MAX),
            "Rows of a log to reserve memory for",
        )
        .default("1024")
        .example("2048"),
        Row::new(
            "log_compression",
            size(0, 1 << 29),
            "Keep logs compressed in pieces of this size until they are written",
        )
        .default("0")
        .example("64k"),
        Row::new(
            "log_compression_cpus",
            Rule::Text(
                "list of CPUs",
                reads!(job.reporting.logs.cpus, value::cpu_list),
                |d| value::show_cpus(&d.job.reporting.logs.cpus),
            ),
            "CPUs of the thread that writes logs",
        )
        .example("0"),
    ],
];
