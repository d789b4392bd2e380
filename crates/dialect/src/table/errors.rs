//! Options: which errors are tolerated, and what ends other jobs.

use super::not_carried_out::{not_carried_out, time};
use super::row::OptionRow as Row;
use super::row::Support::{Approximate, NoEffect};
use super::rule::{Choice, Rule, field};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value;
use crate::value::TimeUnit::Seconds;
use fathom_core::workload::{ErrorRule, ExitWhat, Steady, SteadyOf};

const fn rule(read: bool, write: bool, verify: bool) -> ErrorRule {
    ErrorRule { read, write, verify }
}

const NONE: fn(&mut Draft) = |d| d.job.on_error = rule(false, false, false);
const ALL: fn(&mut Draft) = |d| d.job.on_error = rule(true, true, true);
/// What has to be steady, and whether a slope counts.
const STEADY: [(&str, SteadyOf, bool); 6] = [
    ("iops", SteadyOf::Iops, false),
    ("iops_slope", SteadyOf::Iops, true),
    ("bw", SteadyOf::Bandwidth, false),
    ("bw_slope", SteadyOf::Bandwidth, true),
    ("lat", SteadyOf::Latency, false),
    ("lat_slope", SteadyOf::Latency, true),
];

fn set_steady(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let wrong =
        |what: &str| Fault::new(format!("`{text}` {what}")).remedy("write such as iops:2% or bw_slope:0.1%");
    let (word, limit) = text.split_once(':').ok_or_else(|| wrong("has no limit"))?;
    let known = STEADY.iter().find(|(name, ..)| *name == word.trim());
    let &(_, of, slope) = known.ok_or_else(|| wrong("is not what can be steady"))?;
    let (limit, in_percent) = match limit.trim().strip_suffix('%') {
        Some(percent) => (percent, true),
        None => (limit, false),
    };
    let limit = value::float(limit)?;
    if limit < 0.0 {
        return Err(wrong("has a limit below 0"));
    }
    draft.steady = Steady {
        of,
        slope,
        limit,
        in_percent,
        ..draft.steady
    };
    draft.steady_given = true;
    Ok(())
}

fn show_steady(draft: &Draft) -> Option<String> {
    let steady = draft.steady;
    let (word, ..) = STEADY
        .iter()
        .find(|(_, of, slope)| (*of, *slope) == (steady.of, steady.slope))?;
    let percent = if steady.in_percent { "%" } else { "" };
    draft
        .steady_given
        .then(|| format!("{word}:{}{percent}", steady.limit))
}

/// The errors that fio knows by name, by their numbers.
const ERRORS: [(&str, i32); 34] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("ESRCH", 3),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("E2BIG", 7),
    ("ENOEXEC", 8),
    ("EBADF", 9),
    ("ECHILD", 10),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("ENOTBLK", 15),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ENOTTY", 25),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("EDOM", 33),
    ("ERANGE", 34),
];

fn errno(text: &str) -> Result<i32, Fault> {
    let text = text.trim();
    let named = ERRORS
        .iter()
        .find(|(name, _)| *name == text)
        .map(|&(_, number)| number);
    let number = named.or_else(|| text.parse().ok().filter(|&number: &i32| number > 0));
    number.ok_or_else(|| {
        Fault::new(format!("`{text}` is no error")).remedy("write such as EIO:ENOSPC, or a number")
    })
}

/// Of reads, writes, verification: what is not given stays as it was.
fn set_ignored(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let fields: Vec<&str> = text.split(',').collect();
    if fields.len() > 3 {
        return Err(Fault::new(format!("`{text}` has {} lists", fields.len()))
            .remedy("give at most three: reads, writes, verification"));
    }
    for (errors, field) in draft.job.ignored_errors.iter_mut().zip(fields) {
        if !field.trim().is_empty() {
            *errors = field.split(':').map(errno).collect::<Result<_, _>>()?;
        }
    }
    Ok(())
}

fn show_ignored(draft: &Draft) -> Option<String> {
    let ignored = &draft.job.ignored_errors;
    let list = |errors: &Vec<i32>| {
        errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(":")
    };
    let lists: Vec<String> = ignored.iter().map(list).collect();
    (!lists.iter().all(String::is_empty)).then(|| lists.join(","))
}

pub(super) static ROWS: &[&[Row]] = &[
    &[Row::new(
        "continue_on_error",
        Rule::Choice(&[
            Choice::new("none", NONE),
            Choice::new("read", |d| d.job.on_error = rule(true, false, false)),
            Choice::new("write", |d| d.job.on_error = rule(false, true, false)),
            Choice::new("io", |d| d.job.on_error = rule(true, true, false)),
            Choice::new("verify", |d| d.job.on_error = rule(false, false, true)),
            Choice::new("all", ALL),
            Choice::new("0", NONE),
            Choice::new("1", ALL),
        ]),
        "Which errors are counted without ending the job",
    )
    .example("io")],
    not_carried_out! {
        "steadystate_check_interval" | "ss_interval", time(Seconds), "1", "2s",
            "How often steadiness is looked at" => NoEffect("it is looked at each second");
    },
    &[
        Row::new(
            "error_dump",
            Rule::Bool(field!(job.reporting.tells_tolerated_errors)),
            "Tell errors that do not end the job as well (fathom fio)",
        )
        .support(Approximate("each kind is told once, with the results")),
        Row::new(
            "ignore_error",
            Rule::Text("errno[:errno…][,…]", set_ignored, show_ignored),
            "Errors, by name or number, that do not count: of reads, writes, verification",
        )
        .example("EIO"),
        Row::new(
            "exitall",
            Rule::Flag(field!(job.stops.exit_all)),
            "When a worker of this job ends, others end",
        ),
        Row::new(
            "exit_what",
            Rule::Choice(&[
                Choice::new("group", |d| d.job.stops.exit_what = ExitWhat::Group),
                Choice::new("stonewall", |d| d.job.stops.exit_what = ExitWhat::Running),
                Choice::new("all", |d| d.job.stops.exit_what = ExitWhat::All),
            ]),
            "Which jobs exitall ends: those of the group, those that run, or all",
        )
        .example("all"),
        Row::new(
            "exitall_on_error",
            Rule::Flag(field!(job.stops.exit_all_on_error)),
            "When a worker of this job fails, others end",
        ),
        Row::new(
            "steadystate",
            Rule::Text(
                "iops|iops_slope|bw|bw_slope|lat:limit[%]",
                set_steady,
                show_steady,
            ),
            "End once results are steady: all samples, or the slope of a line through them, within a limit",
        )
        .aliases(&["ss"])
        .example("iops:2%"),
        Row::new(
            "steadystate_duration",
            Rule::Time(Seconds, field!(steady.duration)),
            "How long results must be steady; 0: nothing is ended",
        )
        .aliases(&["ss_dur"])
        .default("0")
        .example("60s"),
        Row::new(
            "steadystate_ramp_time",
            Rule::Time(Seconds, field!(steady.ramp)),
            "When steadiness is first looked at",
        )
        .aliases(&["ss_ramp"])
        .default("0")
        .example("10s"),
    ],
];
