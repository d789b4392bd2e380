//! Options: how long a job runs, when it begins, how time is taken.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, MAX_COUNT, Rule, field, reads};
use crate::value::{self, TimeUnit};

pub(super) static ROWS: &[Row] = &[
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
    Row::new(
        "ramp_size",
        Rule::Size(0, u64::MAX, Field::ignored()),
        "Do so much I/O before anything is counted",
    )
    .default("0")
    .example("1g")
    .support(Support::NotYet("use ramp_time")),
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
        Rule::Choice(&[Choice::nothing("gettimeofday|clock_gettime|cpu", Support::Exact)]),
        "The clock that I/O is timed by",
    )
    .example("clock_gettime")
    .support(Support::NoEffect("fathom chooses its clock by itself")),
    Row::new(
        "gtod_reduce",
        Rule::ignored_bool(),
        "Take the time less often, and lose latencies",
    )
    .default("0")
    .support(Support::NoEffect("every I/O keeps its four time stamps")),
    Row::new(
        "gtod_cpu",
        Rule::ignored_number(),
        "A CPU that does nothing but read the clock",
    )
    .example("1")
    .support(Support::NoEffect("every worker reads the clock by itself")),
    Row::new(
        "disable_lat",
        Rule::ignored_bool(),
        "Do not measure total latency",
    )
    .default("0")
    .support(Support::NoEffect("latencies are always measured")),
    Row::new(
        "disable_clat",
        Rule::ignored_bool(),
        "Do not measure completion latency",
    )
    .default("0")
    .support(Support::NoEffect("latencies are always measured")),
    Row::new(
        "disable_slat",
        Rule::ignored_bool(),
        "Do not measure submission latency",
    )
    .default("0")
    .support(Support::NoEffect("latencies are always measured")),
    Row::new(
        "disable_bw_measurement",
        Rule::ignored_bool(),
        "Do not measure bandwidth",
    )
    .aliases(&["disable_bw"])
    .default("0")
    .support(Support::NoEffect("bandwidth is always measured")),
];
