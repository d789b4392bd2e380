//! Options: which errors are borne, and what ends other jobs.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, Rule};
use crate::draft::Draft;
use crate::value::TimeUnit;
use fathom_core::workload::ErrorRule;

const fn rule(read: bool, write: bool, verify: bool) -> ErrorRule {
    ErrorRule { read, write, verify }
}

const NONE: fn(&mut Draft) = |d| d.job.on_error = rule(false, false, false);
const ALL: fn(&mut Draft) = |d| d.job.on_error = rule(true, true, true);
const EARLY_END: &str = "the other jobs would go on; give each a runtime";

pub(super) static ROWS: &[Row] = &[
    Row::new(
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
    .example("io"),
    Row::new(
        "ignore_error",
        Rule::ignored_text("errno[:errno…][,…]"),
        "Errors that do not count",
    )
    .example("EIO")
    .support(Support::NotYet(
        "use continue_on_error, which counts them without ending the job",
    )),
    Row::new("error_dump", Rule::ignored_bool(), "Print each error as it comes")
        .default("0")
        .support(Support::NoEffect("errors are reported with the results")),
    Row::new(
        "exitall",
        Rule::Flag(Field::ignored()),
        "End all jobs when this one ends",
    )
    .default("0")
    .support(Support::NotYet(EARLY_END)),
    Row::new(
        "exit_what",
        Rule::Choice(&[Choice::nothing("group|stonewall|all", Support::Exact)]),
        "Which jobs exitall ends",
    )
    .default("group")
    .example("all")
    .support(Support::NoEffect("it belongs to exitall")),
    Row::new(
        "exitall_on_error",
        Rule::Flag(Field::ignored()),
        "End all jobs when this one fails",
    )
    .default("0")
    .support(Support::NotYet(EARLY_END)),
    Row::new(
        "steadystate",
        Rule::ignored_text("iops|iops_slope|bw|bw_slope|lat:limit[%]"),
        "End once results are steady",
    )
    .aliases(&["ss"])
    .example("iops:2%")
    .support(Support::NotYet(
        "use time_based with a runtime that is long enough",
    )),
    Row::new(
        "steadystate_duration",
        Rule::ignored_time(TimeUnit::Seconds),
        "How long results must be steady",
    )
    .aliases(&["ss_dur"])
    .default("0")
    .example("60s")
    .support(Support::NoEffect("it belongs to steadystate")),
    Row::new(
        "steadystate_ramp_time",
        Rule::ignored_time(TimeUnit::Seconds),
        "When steadiness is first looked at",
    )
    .aliases(&["ss_ramp"])
    .default("0")
    .example("10s")
    .support(Support::NoEffect("it belongs to steadystate")),
    Row::new(
        "steadystate_check_interval",
        Rule::ignored_time(TimeUnit::Seconds),
        "How often steadiness is looked at",
    )
    .aliases(&["ss_interval"])
    .default("1")
    .example("2s")
    .support(Support::NoEffect("it belongs to steadystate")),
];
