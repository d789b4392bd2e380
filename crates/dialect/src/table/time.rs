//! Options: how long a job runs, when it begins, how time is taken.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, MAX_COUNT, Rule};
use crate::value::{self, TimeUnit};

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "runtime",
        Rule::Time(TimeUnit::Seconds, |d, time| {
            d.job.limit.runtime = Some(time).filter(|time| !time.is_zero());
        }),
        "Stop after this time at the latest; 0: no limit",
    )
    .aliases(&["timeout"])
    .default("0")
    .example("30s"),
    Row::new(
        "time_based",
        Rule::Flag(|d, on| d.job.limit.time_based = on),
        "Go on over the same region until the runtime is over",
    )
    .default("0"),
    Row::new(
        "ramp_time",
        Rule::Time(TimeUnit::Seconds, |d, time| d.job.limit.ramp_time = time),
        "Run this long before anything is counted, on top of the runtime",
    )
    .default("0")
    .example("5s"),
    Row::new(
        "ramp_size",
        Rule::Size(0, u64::MAX, |_, _| {}),
        "Do so much I/O before anything is counted",
    )
    .default("0")
    .example("1g")
    .support(Support::NotYet("use ramp_time")),
    Row::new(
        "startdelay",
        Rule::Text("time, or from-to", |d, text| {
            d.job.start.delay = value::time_range(text, TimeUnit::Seconds)?;
            Ok(())
        }),
        "Start this much later; of a range, each worker draws its own delay",
    )
    .default("0")
    .example("1-5"),
    Row::new(
        "loops",
        Rule::Number(0, MAX_COUNT, |d, n| d.job.region.loops = n as u32),
        "Do the whole job so many times",
    )
    .default("1")
    .example("3"),
    Row::new(
        "clocksource",
        Rule::Choice(&[
            Choice::nothing("gettimeofday"),
            Choice::nothing("clock_gettime"),
            Choice::nothing("cpu"),
        ]),
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
    .example("1")
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
    .example("1")
    .support(Support::NoEffect("latencies are always measured")),
    Row::new(
        "disable_clat",
        Rule::ignored_bool(),
        "Do not measure completion latency",
    )
    .default("0")
    .example("1")
    .support(Support::NoEffect("latencies are always measured")),
    Row::new(
        "disable_slat",
        Rule::ignored_bool(),
        "Do not measure submission latency",
    )
    .default("0")
    .example("1")
    .support(Support::NoEffect("latencies are always measured")),
    Row::new(
        "disable_bw_measurement",
        Rule::ignored_bool(),
        "Do not measure bandwidth",
    )
    .aliases(&["disable_bw"])
    .default("0")
    .example("1")
    .support(Support::NoEffect("bandwidth is always measured")),
];
