//! Options: how long a job runs, when it begins, how time is taken.

use super::not_carried_out::{NUMBER, SIZE, not_carried_out};
use super::row::OptionRow as Row;
use super::row::Support::{NoEffect, NotYet};
use super::rule::{Choice, Field, MAX_COUNT, Rule, field, reads};
use crate::value::{self, TimeUnit};
use fathom_core::workload::TimedBy;

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "runtime",
            Rule::Time(
                TimeUnit::Seconds,
                Field {
                    set: |d, time| d.job.limit.runtime = Some(time).filter(|time| !time.is_zero()),
                    get: |d| d.job.limit.runtime,
                },
            ),
            "Stop after this time at the latest; 0: no limit",
        )
        .aliases(&["timeout"])
        .default("0")
        .example("30s"),
        Row::new(
            "time_based",
            Rule::Flag(field!(job.limit.time_based)),
            "Go on over the same region until the runtime is over",
        ),
        Row::new(
            "ramp_time",
            Rule::Time(TimeUnit::Seconds, field!(job.limit.ramp_time)),
            "Run this long before anything is counted, on top of the runtime",
        )
        .default("0")
        .example("5s"),
    ],
    not_carried_out! {
        "ramp_size", SIZE, "0", "1g", "Do so much I/O before anything is counted" => NotYet("use ramp_time");
    },
    &[
        Row::new(
            "startdelay",
            Rule::Text(
                "time, or from-to",
                reads!(job.start.delay, |text| value::time_range(text, TimeUnit::Seconds)),
                |d| Some(value::show_time_range(d.job.start.delay)),
            ),
            "Start this much later; of a range, each worker draws its own delay",
        )
        .default("0")
        .example("1-5"),
        Row::new(
            "loops",
            Rule::Number(
                0,
                MAX_COUNT,
                Field {
                    set: |d, n| d.job.region.loops = n as u32,
                    get: |d| Some(d.job.region.loops.max(1).into()),
                },
            ),
            "Do the whole job so many times",
        )
        .example("3"),
        Row::new(
            "clocksource",
            Rule::Choice(&[
                Choice::new("gettimeofday", |d| d.job.timed_by = TimedBy::Microseconds),
                Choice::new("clock_gettime", |d| d.job.timed_by = TimedBy::Monotonic),
                Choice::new("cpu", |d| d.job.timed_by = TimedBy::Counter),
            ]),
            "The clock that I/O is timed by: of microseconds, of the kernel, of the processor",
        )
        .shown(|d| match d.job.timed_by {
            TimedBy::Best => None,
            TimedBy::Counter => Some(String::from("cpu")),
            TimedBy::Monotonic => Some(String::from("clock_gettime")),
            TimedBy::Microseconds => Some(String::from("gettimeofday")),
        })
        .example("clock_gettime"),
    ],
    not_carried_out! {
        "gtod_cpu", NUMBER, "", "1", "A CPU that does nothing but read the clock"
            => NoEffect("every worker reads the clock by itself");
    },
];
