//! The summary of a run as one JSON document: what `--json` prints.
//!
//! Data in: a run. Data out: JSON that always parses; what is no number (a rate over no time) is `null`. The document is
//! [`fathom_core::run::Summary`]; all that is added to it are `remedies`, what to do about its errors, where there are any
//! and it is known.

use crate::document::run::facts;
use fathom_analysis::sweep::findings::Conclusions;
use fathom_core::run::{Run, Summary};
use fathom_core::sweep::{SweepPlan, SweepResults};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remedies: Vec<Remedy<'a>>,
}

/// What to do about one kind of error of one job.
#[derive(Serialize)]
struct Remedy<'a> {
    job: &'a str,
    what: &'a str,
    errno: i32,
    #[serde(rename = "remedy")]
    text: String,
}

/// A sweep: plan, results and conclusions, as one document. Points are numbered by their place.
///
/// # Panics
/// Never, as [`summary`].
pub fn sweep(plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'a str,
        plan: &'a SweepPlan,
        results: &'a SweepResults,
        conclusions: &'a Conclusions,
    }
    pretty(&Document {
        schema: &plan.schema,
        plan,
        results,
        conclusions,
    })
}

/// The summary, indented, with a newline at its end.
///
/// # Panics
/// Never: a summary has only strings for keys and nothing else that JSON cannot say.
pub fn summary(run: &Run) -> String {
    let document = Document {
        summary: &run.summary,
        remedies: remedies(run),
    };
    pretty(&document)
}

pub(crate) fn pretty<T: Serialize>(document: &T) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("documents have only strings for keys");
    text.push('\n');
    text
}

fn remedies(run: &Run) -> Vec<Remedy<'_>> {
    let known = facts::remedies(run).filter_map(|(job, error, remedy)| {
        Some(Remedy {
            job: &job.name,
            what: &error.what,
            errno: error.errno,
            text: remedy?,
        })
    });
    known.collect()
}

#[cfg(test)]
mod tests;
