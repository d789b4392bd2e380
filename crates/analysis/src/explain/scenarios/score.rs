//! How verdicts do against what was done.

use super::cause;
use crate::explain::Explanation;
use crate::explain::answer::{Cause, Spike};
use fathom_testkit::scenarios::{Injected, Scenario};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How near a spike must be to what was done, to be its effect.
const NEAR_NS: u64 = 60_000_000;

/// What became of one scenario.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// What was done; `None`: nothing.
    pub(super) done: Option<Cause>,
    /// What was said of the worst spike in that time; `None`: there was none.
    pub(super) said: Option<Cause>,
    /// Whether that is right: cause and, where one is named, process. `None` where it is `unknown`.
    pub(super) right: Option<bool>,
    /// Processes that were named and had done nothing.
    pub(super) accused: Vec<String>,
}

/// Whether a spike is near enough to what was done to be its effect.
pub(super) fn near(injected: &Injected, spike: &Spike, started_ns: u64) -> bool {
    let start = spike.start_ns + started_ns;
    let end = start + spike.duration_ns;
    start <= injected.window.end_ns + NEAR_NS && end + NEAR_NS >= injected.window.start_ns
}

/// Compares an explanation with what was done.
pub(super) fn score(scenario: &Scenario, explanation: &Explanation) -> Outcome {
    let started_ns = scenario.run.started_monotonic_ns.0;
    let kept = explanation.spikes.as_ref().map_or(&[][..], |spikes| &spikes.kept);
    let at_it = |spike: &&Spike| {
        scenario
            .injected
            .iter()
            .any(|injected| near(injected, spike, started_ns))
    };
    let worst = kept
        .iter()
        .filter(at_it)
        .max_by_key(|spike| spike.worst.response_ns);
    let named = kept.iter().filter_map(|spike| spike.verdict.process);
    let guilty: Vec<&str> = scenario
        .injected
        .iter()
        .filter_map(|injected| injected.process.as_deref())
        .collect();
    // On a disk at its limit everybody's I/O holds up everybody's: whoever has any is no innocent.
    let at_limit = scenario.label.starts_with("surge");
    let accused: Vec<String> = named
        .filter(|_| !at_limit)
        .map(|process| process.comm.to_string())
        .filter(|name| !guilty.contains(&name.as_str()))
        .collect();
    let said = worst.map(|spike| spike.verdict.cause);
    let right = match (scenario.injected.is_empty(), worst) {
        // Nothing was done: whatever is not an accusation of somebody is right.
        (true, _) => Some(kept.iter().all(|spike| innocent(spike.verdict.cause))),
        // Large I/Os are slow as large ones are: only those that come behind them are disturbed.
        (false, None) => Some(scenario.label.starts_with("large I/Os")),
        (false, Some(spike)) if spike.verdict.cause == Cause::Unknown => None,
        (false, Some(spike)) => Some(scenario.injected.iter().any(|injected| {
            let verdict = &spike.verdict;
            let process = verdict.process.map(|process| process.comm.to_string());
            cause(injected.cause) == verdict.cause && (process.is_none() || process == injected.process)
        })),
    };
    Outcome {
        done: scenario.injected.first().map(|injected| cause(injected.cause)),
        said,
        right,
        accused,
    }
}

/// What may be said where nothing was done: disks and queues have tails of their own.
fn innocent(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Device | Cause::Unknown | Cause::FlushOrJournal | Cause::KernelQueue
    )
}

/// All outcomes together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// How many were right, wrong, unknown.
    pub(super) right: usize,
    pub(super) wrong: usize,
    /// Unknown ones: neither.
    pub(super) unknown: usize,
    /// Times that a process was named that had done nothing.
    pub(super) accused: usize,
}

impl Tally {
    /// Counts outcomes.
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let count = |right: Option<bool>| outcomes.iter().filter(|outcome| outcome.right == right).count();
        Self {
            right: count(Some(true)),
            wrong: count(Some(false)),
            unknown: count(None),
            accused: outcomes.iter().map(|outcome| outcome.accused.len()).sum(),
        }
    }

    /// The share of right ones among those that are right or wrong.
    pub(super) fn share_right(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }
}

/// What was done (rows) against what was said (columns), as a Markdown table, with the tally below.
pub(super) fn confusion_markdown(outcomes: &[Outcome]) -> String {
    let mut counts: BTreeMap<(Option<Cause>, Option<Cause>), usize> = BTreeMap::new();
    for outcome in outcomes {
        *counts.entry((outcome.done, outcome.said)).or_default() += 1;
    }
    let name =
        |cause: Option<Cause>, none: &str| cause.map_or(none.to_owned(), |cause| cause.name().to_owned());
    let said: Vec<Option<Cause>> = Cause::ALL.into_iter().map(Some).chain([None]).collect();
    let done = Cause::ALL.into_iter().map(Some).chain([None]);
    let mut text = String::from("| done \\ said |");
    for cause in &said {
        let _ = write!(text, " {} |", name(*cause, "no spike"));
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(said.len()));
    text.push('\n');
    for row in done {
        if !outcomes.iter().any(|outcome| outcome.done == row) {
            continue;
        }
        let _ = write!(text, "| {} |", name(row, "nothing"));
        for cause in &said {
            match counts.get(&(row, *cause)) {
                Some(count) => {
                    let _ = write!(text, " {count} |");
                }
                None => text.push_str(" |"),
            }
        }
        text.push('\n');
    }
    let tally = Tally::of(outcomes);
    let _ = writeln!(
        text,
        "\n{} scenarios: {} right, {} wrong, {} unknown: {:.1} % of those that were decided are right; {} wrong accusations of \
         a process.",
        outcomes.len(),
        tally.right,
        tally.wrong,
        tally.unknown,
        tally.share_right() * 100.0,
        tally.accused
    );
    text
}
