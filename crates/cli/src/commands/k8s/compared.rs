//! Two sides of a run on a cluster by figures of its own: attach times, what many pods had together.
//!
//! Data in: figures of repeats. Data out: a text, pages, a part of a document. Loads of one pod are `fathom compare`'s.

use crate::terminal::{self, Colour};
use anyhow::Context as _;
use fathom_analysis::compare::{Better, Caution, Judged, Observed, Settings, cautions, judge};
use fathom_door::output;
use fathom_report::compared::{CompareFormat, CompareReport, Kind, SideReport};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The difference that matters, as `fathom compare` has it.
const MARGIN: f64 = 0.1;

/// One side.
pub(super) struct Side {
    pub(super) name: String,
    /// Its repeats, in words.
    pub(super) from: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// What was found.
pub(super) struct Found {
    kind: Kind,
    sides: [Side; 2],
    judged: Vec<Judged>,
    cautions: Vec<Caution>,
}

impl Found {
    pub(super) fn new(kind: Kind, sides: [Side; 2], observed: Vec<Observed>) -> Self {
        let judged = judge(observed, Settings { margin: MARGIN });
        Self {
            kind,
            sides,
            cautions: cautions(&judged),
            judged,
        }
    }

    fn report(&self) -> CompareReport<'_> {
        let side = |side: &Side| SideReport {
            name: side.name.clone(),
            from: side.from.clone(),
            measured: &[],
            alone: Vec::new(),
            notes: side.notes.clone(),
        };
        CompareReport {
            kind: self.kind,
            sides: self.sides.each_ref().map(side),
            judged: &self.judged,
            conditions: &[],
            allowed: &[],
            cautions: &self.cautions,
            ruled: &[],
            strict: false,
            settings: Settings { margin: MARGIN },
            unit: None,
            better: Better::Lower,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    pub(super) fn text(&self) -> String {
        self.report().text(terminal::stdout_style(Colour::Auto))
    }

    /// As a part of a document, with what is compared.
    pub(super) fn document(&self, of: &str) -> Value {
        named(of, self.report().value())
    }

    /// Keeps it as pages. A run that is taken up again is told anew.
    pub(super) fn leave(&self, dir: &Path, what: &str) -> anyhow::Result<()> {
        let report = self.report();
        for path in pages(dir, what, &self.sides[1].name) {
            if let Some(format) = CompareFormat::of(&path) {
                output::leave(&path, report.render(format).as_bytes(), true)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// A comparison as a part of a document, with what is compared.
pub(super) fn named(of: &str, mut comparison: Value) -> Value {
    comparison["of"] = json!(of);
    comparison
}

/// The files that a comparison of the first side with `other` is kept in.
pub(super) fn pages(dir: &Path, what: &str, other: &str) -> Vec<PathBuf> {
    ["html", "md"]
        .map(|ending| dir.join(format!("{what}-{other}.{ending}")))
        .into()
}
