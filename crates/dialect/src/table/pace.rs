//! Options: rates, pauses, and limits on latency.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, text, time};
use super::row::OptionRow as Row;
use super::row::Support::{NoEffect, NotYet};
use super::rule::{Choice, Field, MAX_COUNT, MAX_U32, Rule, field};
use crate::diagnostic::Fault;
use crate::draft::{Draft, merge};
use crate::value::TimeUnit::Microseconds;
use crate::value::{self, TimeUnit};
use fathom_core::workload::{Arrival, PerOp, ThinkTimeBasis};

fn set_rate(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let rate = |field: &str| value::size(field, draft.kb_base);
    merge(&mut draft.rate_bytes, value::per_direction(text, rate)?);
    Ok(())
}

fn set_rate_iops(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let rate = |field: &str| match value::size(field, draft.kb_base)? {
        n if n > MAX_U32 => Err(Fault::new(format!("{n} I/Os a second are too many"))),
        n => Ok(n),
    };
    merge(&mut draft.rate_iops, value::per_direction(text, rate)?);
    Ok(())
}

fn show_rate(rate: PerOp<u64>, show: fn(u64) -> String) -> Option<String> {
    value::show_per_direction(rate.map(|rate| (rate > 0).then(|| show(rate))))
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "rate",
            Rule::SizeText("bytes/s[,bytes/s[,bytes/s]]", set_rate, |d| {
                show_rate(d.rate_bytes, value::show_size)
            }),
            "Bandwidth of each worker, in bytes a second, per direction; 0: as fast as it goes",
        )
        .default("0")
        .example("10m,1m"),
        Row::new(
            "rate_iops",
            Rule::Text("I/Os/s[,I/Os/s[,I/Os/s]]", set_rate_iops, |d| {
                show_rate(d.rate_iops, |rate| rate.to_string())
            }),
            "I/Os a second of each worker, per direction; 0: as fast as it goes",
        )
        .default("0")
        .example("1000"),
        Row::new(
            "rate_process",
            Rule::Choice(&[
                Choice::new("linear", |d| d.job.pace.arrival = Arrival::Constant),
                Choice::new("poisson", |d| d.job.pace.arrival = Arrival::Poisson),
            ]),
            "How the arrivals of a rate are spaced: evenly or at random",
        )
        .example("poisson"),
    ],
    not_carried_out! {
        "rate_min" | "ratemin", text("bytes/s[,…]"), "0", "1m", "Stop a job that is slower"
            => NotYet("no job would be stopped; compare the result with the limit afterwards");
        "rate_iops_min", text("I/Os/s[,…]"), "0", "100", "Stop a job that is slower"
            => NotYet("no job would be stopped; compare the result with the limit afterwards");
        "rate_cycle" | "ratecycle", NUMBER, "1000", "500",
            "The time over which rate_min is judged, in milliseconds"
            => NoEffect("rates are kept I/O by I/O, and there is no rate_min");
        "rate_ignore_thinktime", BOOL, "0", "1", "Catch up for pauses"
            => NotYet("leave either the rate or the pauses out");
    },
    &[
        Row::new(
            "thinktime",
            Rule::Time(TimeUnit::Microseconds, field!(think.pause)),
            "Pause after every few I/Os",
        )
        .default("0")
        .example("10ms"),
        Row::new(
            "thinktime_spin",
            Rule::Time(TimeUnit::Microseconds, field!(think.spin)),
            "Spend this part of the pause spinning",
        )
        .default("0")
        .example("100us"),
        Row::new(
            "thinktime_blocks",
            Rule::Number(1, MAX_COUNT, field!(think.blocks as u32)),
            "How many I/Os there are between pauses",
        )
        .example("8"),
        Row::new(
            "thinktime_blocks_type",
            Rule::Choice(&[
                Choice::new("complete", |d| d.think.basis = ThinkTimeBasis::Complete),
                Choice::new("issue", |d| d.think.basis = ThinkTimeBasis::Issue),
            ]),
            "Whether completed or sent I/Os are counted",
        )
        .example("issue"),
        Row::new(
            "thinktime_iotime",
            Rule::Time(
                TimeUnit::Seconds,
                Field {
                    set: |d, time| d.think.after_run = Some(time).filter(|time| !time.is_zero()),
                    get: |d| d.think.after_run,
                },
            ),
            "Pause once this much time has passed since the last pause",
        )
        .default("0")
        .example("1s"),
    ],
    not_carried_out! {
        "max_latency", text("time[,time[,time]]"), "0", "1s", "Stop the job at an I/O that takes longer"
            => NotYet("no job would be stopped; see the maximum in the result");
        "latency_target", time(Microseconds), "0", "10ms", "Find the depth that keeps this latency"
            => NotYet("run the job at several depths and compare");
        "latency_window", time(Microseconds), "0", "5s", "How long a depth must keep the latency"
            => NoEffect("it belongs to latency_target");
        "latency_percentile", text("percent"), "100", "99.9", "The share of I/Os that must keep the latency"
            => NoEffect("it belongs to latency_target");
        "latency_run", BOOL, "0", "1", "Go on once the depth is found"
            => NoEffect("it belongs to latency_target");
    },
];
