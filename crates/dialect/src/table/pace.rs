//! Options: rates, pauses, and limits on latency.

use super::row::OptionRow as Row;
use super::rule::{Choice, Field, MAX_COUNT, MAX_U32, Rule, field};
use crate::diagnostic::Fault;
use crate::draft::{Draft, merge};
use crate::value::{self, TimeUnit};
use fathom_core::units::Nanos;
use fathom_core::workload::{Arrival, PerOp, ThinkTimeBasis};

fn set_rate(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    // A range is its lower end, as in fio.
    let rate = |field: &str| value::size(field.split_once('-').map_or(field, |(low, _)| low), draft.kb_base);
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

/// A time for each direction; 0: none.
fn set_max_latency(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let given = value::per_direction(text, |field| value::time(field, TimeUnit::Microseconds))?;
    for (limit, given) in draft.job.stops.max_latency.iter_mut().zip(given) {
        if let Some(time) = given {
            *limit = Some(time).filter(|time| !time.is_zero());
        }
    }
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
        Row::new(
            "rate_ignore_thinktime",
            Rule::Bool(field!(think.puts_off)),
            "Put the schedule off by pauses, in place of catching up",
        ),
        Row::new(
            "rate_min",
            Rule::SizeText(
                "bytes/s[,bytes/s[,bytes/s]]",
                |d, text| {
                    let kb_base = d.kb_base;
                    let rate = |field: &str| value::size(field, kb_base);
                    merge(&mut d.rate_min_bytes, value::per_direction(text, rate)?);
                    Ok(())
                },
                |d| show_rate(d.rate_min_bytes, value::show_size),
            ),
            "A worker that is slower over rate_cycle fails",
        )
        .aliases(&["ratemin"])
        .default("0")
        .example("1m"),
        Row::new(
            "rate_iops_min",
            Rule::Text(
                "I/Os/s[,I/Os/s[,I/Os/s]]",
                |d, text| {
                    let kb_base = d.kb_base;
                    let rate = |field: &str| value::size(field, kb_base);
                    merge(&mut d.rate_min_iops, value::per_direction(text, rate)?);
                    Ok(())
                },
                |d| show_rate(d.rate_min_iops, |rate| rate.to_string()),
            ),
            "A worker that does fewer over rate_cycle fails",
        )
        .default("0")
        .example("100"),
        Row::new(
            "rate_cycle",
            Rule::Number(
                0,
                MAX_COUNT,
                Field {
                    set: |d, ms| {
                        d.job.stops.rate_cycle = Nanos::from_millis(if ms == 1000 { 0 } else { ms as u64 });
                    },
                    get: |d| {
                        Some(match d.job.stops.rate_cycle.get() / 1_000_000 {
                            0 => 1000,
                            ms => ms as i64,
                        })
                    },
                },
            ),
            "The time over which rate_min is judged, in milliseconds",
        )
        .aliases(&["ratecycle"])
        .example("500"),
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
    &[
        Row::new(
            "max_latency",
            Rule::Text("time[,time[,time]]", set_max_latency, |d| {
                let shown = d.job.stops.max_latency.map(|time| time.map(value::show_time));
                value::show_per_direction(shown)
            }),
            "An I/O that takes longer fails the job",
        )
        .default("0")
        .example("1s"),
        Row::new(
            "latency_target",
            Rule::Time(TimeUnit::Microseconds, field!(target.latency)),
            "Find the depth that keeps this latency, up to iodepth",
        )
        .default("0")
        .example("10ms"),
        Row::new(
            "latency_window",
            Rule::Time(TimeUnit::Microseconds, field!(target.window)),
            "How long each depth is tried",
        )
        .default("0")
        .example("5s"),
        Row::new(
            "latency_percentile",
            Rule::Text(
                "percent",
                |d, text| {
                    d.target.percentile = value::float(text)?;
                    if d.target.percentile > 0.0 && d.target.percentile <= 100.0 {
                        return Ok(());
                    }
                    Err(Fault::new(format!("`{text}` is not a share in percent"))
                        .remedy("write a number above 0 and at most 100"))
                },
                |d| Some(d.target.percentile.to_string()),
            ),
            "The share of the I/Os that must keep the latency",
        )
        .default("100")
        .example("99.9"),
        Row::new(
            "latency_run",
            Rule::Bool(field!(target.keeps_running)),
            "Go on once the depth is found",
        ),
    ],
];
