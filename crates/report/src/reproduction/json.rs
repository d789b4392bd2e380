//! Published against modelled as one JSON document.
//!
//! Data in: chapters. Data out: JSON; what is no number (off a published 0) is `null`. It must not know where
//! numbers are from.

use super::{Chapter, Tally};
use fathom_analysis::figures::{Judged, Published, Verdict};
use serde_json::{Value, json};

/// The document's schema, raised when a field changes its meaning or goes away.
const SCHEMA: &str = "fathom.reproduction/1";

/// The whole document, indented, with a newline at its end.
pub fn render(chapters: &[Chapter]) -> String {
    let document = json!({
        "schema": SCHEMA,
        "tally": Tally::of(chapters.iter().flat_map(|chapter| &chapter.figures)),
        "experiments": chapters.iter().map(experiment).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn experiment(chapter: &Chapter) -> Value {
    let pairs = |entries: &[(String, String)], names: [&str; 2]| -> Vec<Value> {
        let pair = |(first, second): &(String, String)| json!({ names[0]: first, names[1]: second });
        entries.iter().map(pair).collect()
    };
    json!({
        "name": chapter.name,
        "title": chapter.title,
        "source": chapter.source,
        "ios": chapter.ios,
        "virtual_ns": chapter.virtual_ns,
        "tally": Tally::of(&chapter.figures),
        "figures": chapter.figures.iter().map(figure).collect::<Vec<_>>(),
        "fitted": pairs(&chapter.fitted, ["constant", "to"]),
        "not_modelled": pairs(&chapter.not_modelled, ["what", "reason"]),
    })
}

fn figure(judged: &Judged) -> Value {
    let figure = &judged.figure;
    let published = match figure.published {
        Published::Value(value) => json!({ "value": value }),
        Published::Between(low, high) => json!({ "min": low, "max": high }),
        Published::AtLeast(low) => json!({ "min": low }),
        Published::AtMost(high) => json!({ "max": high }),
    };
    let verdict = match judged.verdict() {
        Verdict::Met => "met",
        Verdict::KnownMiss => "known_miss",
        Verdict::NotMissed => "not_missed",
        Verdict::Missed => "missed",
    };
    json!({
        "run": figure.run,
        "what": figure.what,
        "measure": figure.measure.text,
        "published": published,
        "modelled": judged.modelled,
        "unit": figure.unit.name,
        "deviation_percent": judged.deviation_percent,
        "bound_percent": figure.bound_percent,
        "source": figure.source.name(),
        "fitted": figure.fitted,
        "mechanism": figure.mechanism,
        "verdict": verdict,
        "known_miss": figure.known_miss,
    })
}
