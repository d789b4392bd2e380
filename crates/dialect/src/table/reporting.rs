//! Options: what is reported.

use super::not_carried_out::{BOOL, not_carried_out};
use super::row::OptionRow as Row;
use super::row::Support::LeftOut;
use super::rule::{Choice, Field, MAX_COUNT, Rule, field, reads};
use crate::value;
use fathom_core::workload::{Unified, Without};

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
        Row::new(
            "unified_rw_reporting",
            Rule::Choice(&[
                Choice::new("none|0", |d| d.job.reporting.unified = Unified::None),
                Choice::new("mixed|1", |d| d.job.reporting.unified = Unified::Mixed),
                Choice::new("both|2", |d| d.job.reporting.unified = Unified::Both),
            ]),
            "Report reads, writes and trims together in fio's outputs",
        )
        .example("mixed"),
        Row::new(
            "significant_figures",
            Rule::Number(1, 10, field!(job.reporting.significant_figures as u8)),
            "Digits of numbers in fio's text output",
        )
        .example("3"),
        Row::new(
            "unit_base",
            Rule::Choice(&[
                Choice::new("0|8", |d| d.job.reporting.bits = false),
                Choice::new("1", |d| d.job.reporting.bits = true),
            ]),
            "Report bandwidth in bytes (8) or bits (1) in fio's text output",
        )
        .example("1"),
        Row::new(
            "stats",
            Rule::Bool(field!(job.reporting.stats)),
            "Report this job in fio's outputs",
        ),
        Row::new(
            "disk_util",
            Rule::Bool(field!(job.reporting.disk_util)),
            "Report the disk's own counters in fio's outputs",
        ),
        Row::new(
            "bwavgtime",
            Rule::Number(1, MAX_COUNT, field!(job.reporting.bw_window_ms as u32)),
            "Window of the bandwidth samples in fio's outputs, in milliseconds",
        )
        .example("1000"),
        Row::new(
            "iopsavgtime",
            Rule::Number(1, MAX_COUNT, field!(job.reporting.iops_window_ms as u32)),
            "Window of the IOPS samples in fio's outputs, in milliseconds",
        )
        .example("1000"),
        Row::new(
            "gtod_reduce",
            Rule::Bool(Field::only(|d, on| {
                d.job.reporting.without = Without {
                    lat: on,
                    clat: on,
                    slat: on,
                    bw: on,
                };
            })),
            "Leave latencies and samples of bandwidth out of fio's outputs",
        )
        .default("0"),
        Row::new(
            "disable_lat",
            Rule::Bool(field!(job.reporting.without.lat)),
            "Leave total latency out of fio's outputs",
        ),
        Row::new(
            "disable_clat",
            Rule::Bool(field!(job.reporting.without.clat)),
            "Leave completion latency out of fio's outputs",
        ),
        Row::new(
            "disable_slat",
            Rule::Bool(field!(job.reporting.without.slat)),
            "Leave submission latency out of fio's outputs",
        ),
        Row::new(
            "disable_bw_measurement",
            Rule::Bool(field!(job.reporting.without.bw)),
            "Leave samples of bandwidth out of fio's outputs",
        )
        .aliases(&["disable_bw"]),
    ],
    not_carried_out! {
        "block_error_percentiles", BOOL, "0", "1", "Count errors of trims by block"
            => LeftOut("errors are counted by kind, not by block");
    },
];
