//! What is said of a step that did not end well.
//!
//! Data in: what came of it, and the log of its pod. Data out: a sentence. It must not ask anybody.

use super::StepDone;
use crate::agent::Said;
use crate::objects::DATA_DEVICE;
use crate::plan::Plan;

/// Begins the line in which this program says why it ends.
const ERROR: &str = "error:";
/// A device stays its node's, whatever the pod's `fsGroup` says.
const BLOCK_REMEDY: &str = ". The device belongs to a group of its node that the pod is not in: give --privileged, or have the nodes' \
    containerd give devices to whom the pod runs as (device_ownership_from_security_context)";

/// What is not well with a step, with what it said last, and what to do where that is known.
pub(super) fn why(plan: &Plan, step: &StepDone, log: &str) -> String {
    if let Some(why) = &step.unstarted {
        return format!("{} could not be started: {why}", step.name);
    }
    let ended = step.exit.map_or_else(
        || String::from("by a signal"),
        |code| format!("with exit code {code}"),
    );
    let Some(said) = last_words(log, &step.name) else {
        return format!("{} ended {ended}", step.name);
    };
    let is_refused = said.contains("ermission denied") && said.contains(DATA_DEVICE);
    let remedy = if is_refused && plan.claim.block && !plan.pod.privileged {
        BLOCK_REMEDY
    } else {
        ""
    };
    format!("{} ended {ended}: {said}{remedy}", step.name)
}

/// What of its own a step said last: the error that ended it, if it says one.
fn last_words(log: &str, step: &str) -> Option<String> {
    const LENGTH_MAX: usize = 400;
    let mut within = false;
    let mut last: Option<&str> = None;
    for line in log.lines() {
        match Said::read(line) {
            Some(Said::Begun { step: begun }) => {
                within = begun == step;
                if within {
                    last = None;
                }
            }
            Some(_) => within = false,
            None if within && !line.trim().is_empty() => {
                let was_error = last.is_some_and(|last| last.starts_with(ERROR));
                if !was_error || line.starts_with(ERROR) {
                    last = Some(line.trim_end());
                }
            }
            None => {}
        }
    }
    let last = last?;
    let last = last.strip_prefix(ERROR).unwrap_or(last).trim();
    let short: String = last.chars().take(LENGTH_MAX).collect();
    Some(if short.len() < last.len() {
        short + "…"
    } else {
        short
    })
}

#[cfg(test)]
mod tests;
