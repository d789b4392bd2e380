//! Options: which errors are tolerated, and what ends other jobs.

use super::not_carried_out::{BOOL, FLAG, not_carried_out, text, time, words};
use super::row::OptionRow as Row;
use super::row::Support::{NoEffect, NotYet};
use super::rule::{Choice, Rule};
use crate::draft::Draft;
use crate::value::TimeUnit::Seconds;
use fathom_core::workload::ErrorRule;

const fn rule(read: bool, write: bool, verify: bool) -> ErrorRule {
    ErrorRule { read, write, verify }
}

const NONE: fn(&mut Draft) = |d| d.job.on_error = rule(false, false, false);
const ALL: fn(&mut Draft) = |d| d.job.on_error = rule(true, true, true);
const EARLY_END: &str = "the other jobs would go on; give each a runtime";

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
        "ignore_error", text("errno[:errno…][,…]"), "", "EIO", "Errors that do not count"
            => NotYet("use continue_on_error, which counts them without ending the job");
        "error_dump", BOOL, "0", "1", "Print each error as it comes"
            => NoEffect("errors are reported with the results");
        "exitall", FLAG, "0", "", "End all jobs when this one ends" => NotYet(EARLY_END);
        "exit_what", words!("group|stonewall|all"), "group", "all", "Which jobs exitall ends"
            => NoEffect("it belongs to exitall");
        "exitall_on_error", FLAG, "0", "", "End all jobs when this one fails" => NotYet(EARLY_END);
        "steadystate" | "ss", text("iops|iops_slope|bw|bw_slope|lat:limit[%]"), "", "iops:2%",
            "End once results are steady" => NotYet("use time_based with a runtime that is long enough");
        "steadystate_duration" | "ss_dur", time(Seconds), "0", "60s", "How long results must be steady"
            => NoEffect("it belongs to steadystate");
        "steadystate_ramp_time" | "ss_ramp", time(Seconds), "0", "10s", "When steadiness is first looked at"
            => NoEffect("it belongs to steadystate");
        "steadystate_check_interval" | "ss_interval", time(Seconds), "1", "2s",
            "How often steadiness is looked at" => NoEffect("it belongs to steadystate");
    },
];
