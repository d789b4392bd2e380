//! What one run contributes to what many did: made of its directory where it ran, kept beside its records, put together by whoever
//! asks.
//!
//! Data in: what was found in a run directory. Data out: `part.json`, and again. It must not know who finds it, nor where it is kept.

use anyhow::{Context as _, bail};
use fathom_analysis::compare::Measured;
use fathom_analysis::fleet;
use fathom_core::run::Run;
use fathom_plan::seen::KeptSeen;
use serde::{Deserialize, Serialize};

/// Raised when a field changes its meaning or goes away.
const SCHEMA: &str = "fathom.part/1";

/// All that others need of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    schema: String,
    /// `run.json`.
    pub(crate) run: Run,
    /// Its rates and its buckets.
    pub(crate) fleet: fleet::Part,
    /// Its figures, as they are compared; `None`: it has none, as a command.
    pub(crate) measured: Option<Measured>,
    /// What there is to plan from; `None`: nothing was read or written.
    pub(crate) seen: Option<SeenPart>,
}

/// What was seen of its load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SeenPart {
    pub(crate) seen: KeptSeen,
    pub(crate) devices: Vec<String>,
    pub(crate) aside: Vec<String>,
    pub(crate) dropped: u64,
    pub(crate) above_cache: bool,
}

impl Part {
    /// Of what a run was found to be.
    pub(crate) fn new(
        run: Run,
        fleet: fleet::Part,
        measured: Option<Measured>,
        seen: Option<SeenPart>,
    ) -> Self {
        Self {
            schema: String::from(SCHEMA),
            run,
            fleet,
            measured,
            seen,
        }
    }

    /// As it is kept.
    pub(crate) fn to_json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// Of text from outside.
    pub(crate) fn read(text: &[u8]) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_slice(text).context("no part of a run (part.json)")?;
        if head.schema != SCHEMA {
            bail!(
                "a part of schema {}, and this fathom reads {SCHEMA}: use the fathom that wrote it, or a newer one",
                head.schema
            );
        }
        let part: Self = serde_json::from_slice(text).context("no part of a run (part.json)")?;
        if !part.fleet.is_possible() {
            bail!("no part of a run (part.json): no run can have had such amounts");
        }
        Ok(part)
    }
}
