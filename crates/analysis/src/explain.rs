//! What limited a run, what caused each spike, and what averages hid.
//!
//! Data in: the run's own document, the rows of its record's streams (fed to [`IoScan`], [`BlockScan`] and [`CounterScan`],
//! each on its own, in batches), and an [`Evidence`] that gives all rows of a few windows again. Data out: an
//! [`Explanation`], plain data. It must not know where rows are stored, nor how the answer is printed.
//!
//! Two passes. The first keeps sums (a second, ten seconds, an hour) and the intervals that hold I/Os far slower than their
//! neighbours; its memory does not depend on the number of rows. The second reads only the windows of the worst of those
//! intervals and a few seconds of each job, row by row.

pub mod answer;
mod block_scan;
mod counter_scan;
mod detect;
mod distribution;
mod evidence;
mod facts;
mod io_scan;
mod limit;
mod period;
mod pulse;
#[cfg(test)]
mod scenarios;
mod sched_scan;
mod section;
mod spike;
mod timeline;
mod victims;
mod words;

pub use answer::Explanation;
pub use block_scan::{BlockScan, BlockScanned};
pub(crate) use counter_scan::label;
pub use counter_scan::{CounterScan, CounterScanned};
pub use evidence::{Evidence, Window};
pub use facts::{Facts, KnownDisk, LimitScope, is_fathom};
pub use io_scan::{IoScan, IoScanned};
pub use sched_scan::{SchedScan, SchedScanned};

use fathom_core::record::StreamKind;

/// The schema of an [`Explanation`] as JSON, raised when a field changes its meaning or goes away.
pub const SCHEMA: &str = "fathom.explanation/1";

/// What the first pass found in each stream; `None` where the record has no such stream.
#[derive(Debug, Default)]
pub struct Scanned {
    /// The load's I/Os.
    pub io: Option<IoScanned>,
    /// The devices' requests.
    pub block: Option<BlockScanned>,
    /// The system's counters.
    pub counters: Option<CounterScanned>,
    /// Stays on CPUs; needed only where there is no load.
    pub sched: Option<SchedScanned>,
}

impl Scanned {
    /// The same without the streams that hold nothing because nothing could be recorded: no requests at all is a finding
    /// only where requests were looked for.
    #[must_use]
    pub fn evidence(mut self, facts: &Facts<'_>) -> Self {
        let looked_for = |kind: StreamKind| {
            let mut streams = facts.run.summary.streams.iter();
            streams.any(|stream| stream.kind == kind && (stream.rows > 0 || stream.missing.is_empty()))
        };
        if self.block.as_ref().is_some_and(BlockScanned::is_empty) && !looked_for(StreamKind::Block) {
            self.block = None;
        }
        if self.counters.as_ref().is_some_and(CounterScanned::is_empty) {
            self.counters = None;
        }
        self
    }
}

/// Explains a run.
///
/// # Errors
/// Those of `evidence`, as they are.
pub fn explain<E: Evidence>(
    facts: &Facts<'_>,
    scanned: &Scanned,
    evidence: &mut E,
) -> Result<Explanation, E::Error> {
    let sections = section::of(facts, scanned);
    let limits = limit::of(facts, scanned, &sections, evidence)?;
    let spikes = match (&scanned.io, &scanned.block) {
        (None, None) => None,
        _ => Some(spike::of(facts, scanned, &sections, evidence)?),
    };
    Ok(Explanation {
        schema: String::from(SCHEMA),
        commands: limit::of_commands(facts, scanned, &sections),
        limits,
        spikes,
        distributions: sections.iter().map(|section| distribution::of(section)).collect(),
        usage: scanned
            .counters
            .as_ref()
            .map(|counters| counters.usage.clone())
            .unwrap_or_default(),
        missing: missing(facts, scanned),
    })
}

/// What the record lacks, and what cannot be told without it.
fn missing(facts: &Facts<'_>, scanned: &Scanned) -> Vec<String> {
    let mut missing = Vec::new();
    let mut add = |there: bool, kind: StreamKind, without: &str| {
        let summary = facts
            .run
            .summary
            .streams
            .iter()
            .find(|stream| stream.kind == kind);
        if !there {
            missing.push(format!("no stream `{}`: {without}", kind.name()));
        }
        let Some(summary) = summary else { return };
        if summary.dropped > 0 {
            missing.push(format!(
                "stream `{}`: {} rows were lost because the recording could not keep up",
                kind.name(),
                summary.dropped
            ));
        }
        for reason in &summary.missing {
            missing.push(format!("stream `{}`: {reason}", kind.name()));
        }
    };
    if !facts.run.workload.jobs.is_empty() {
        add(
            scanned.io.is_some(),
            StreamKind::Io,
            "no I/O of the load can be looked at",
        );
    }
    add(
        scanned.block.is_some(),
        StreamKind::Block,
        "latency cannot be split between the kernel and the device",
    );
    // A modelled machine has no other processes and no counters but the disk's own.
    if !facts.run.summary.target.modelled {
        add(
            scanned.counters.is_some(),
            StreamKind::Counters,
            "limits of cgroups in force, page cache and CPU use are not known",
        );
    }
    let of_range = scanned.io.as_ref().map_or(0, IoScanned::refused)
        + scanned.block.as_ref().map_or(0, BlockScanned::refused);
    if of_range > 0 {
        missing.push(format!(
            "{of_range} rows carry times or job numbers that no run can have; they were left out"
        ));
    }
    missing
}

#[cfg(test)]
mod tests;
