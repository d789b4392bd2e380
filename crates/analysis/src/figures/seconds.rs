//! Figures from the series: seconds, phases, silences.
//!
//! Data in: the rows of a selection. Data out: values per second, phases. It must not know how figures are written.

use super::measure::{Direction, PerSecond};
use super::outcome::Selection;
use fathom_core::backend::Op;
use std::collections::BTreeMap;

const SECOND_NS: u64 = 1_000_000_000;
/// Seconds without I/O that end a phase; a slow disk may have one.
const SILENT_SECONDS: u64 = 2;

/// One second of a selection.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Second {
    ios: u64,
    bytes: u64,
    lat_sum_ns: f64,
    duration_ns: u64,
}

/// A time of I/O between silences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Phase {
    /// Its first second, from the start of the run.
    pub(crate) from: u64,
    /// The second behind its last one.
    pub(crate) to: u64,
    ios: u64,
    bytes: u64,
}

impl Phase {
    /// How long it was.
    pub(crate) fn duration_ns(self) -> u64 {
        (self.to - self.from) * SECOND_NS
    }
    /// I/Os a second.
    pub(crate) fn iops(self) -> f64 {
        self.ios as f64 / (self.to - self.from) as f64
    }
    /// Bytes a second.
    pub(crate) fn bandwidth(self) -> f64 {
        self.bytes as f64 / (self.to - self.from) as f64
    }
}

/// Whether an operation is of a direction.
pub(crate) fn is_of(direction: Direction, op: Op) -> bool {
    match direction {
        Direction::Read => op == Op::Read,
        Direction::Write => op == Op::Write,
        Direction::Total => matches!(op, Op::Read | Op::Write | Op::Trim),
    }
}

/// The seconds after the ramp, by number.
fn seconds(selection: &Selection<'_>, direction: Direction) -> BTreeMap<u64, Second> {
    let mut seconds: BTreeMap<u64, Second> = BTreeMap::new();
    let rows = selection.outcome.series.iter();
    for row in rows.filter(|row| !row.ramp && selection.jobs.contains(&row.job) && is_of(direction, row.op)) {
        let second = seconds.entry(u64::from(row.second)).or_default();
        second.ios += row.ios;
        second.bytes += row.bytes;
        second.lat_sum_ns += row.lat.mean * row.lat.n as f64;
        second.duration_ns = second.duration_ns.max(row.duration_ns);
    }
    seconds
}

/// A value of each whole second; of the latency, of each with I/O in it.
pub(crate) fn values(selection: &Selection<'_>, direction: Direction, what: PerSecond) -> Vec<f64> {
    let seconds = seconds(selection, direction);
    let whole = seconds.values().filter(|second| second.duration_ns >= SECOND_NS);
    match what {
        PerSecond::Iops => whole
            .map(|second| second.ios as f64 * SECOND_NS as f64 / second.duration_ns as f64)
            .collect(),
        PerSecond::Lat => whole
            .filter(|second| second.ios > 0)
            .map(|second| second.lat_sum_ns / second.ios as f64)
            .collect(),
    }
}

/// The phases, in order.
pub(crate) fn phases(selection: &Selection<'_>) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let seconds = seconds(selection, Direction::Total);
    for (&number, second) in seconds.iter().filter(|(_, second)| second.ios > 0) {
        match phases.last_mut() {
            Some(phase) if number < phase.to + SILENT_SECONDS => {
                phase.to = number + 1;
                phase.ios += second.ios;
                phase.bytes += second.bytes;
            }
            _ => phases.push(Phase {
                from: number,
                to: number + 1,
                ios: second.ios,
                bytes: second.bytes,
            }),
        }
    }
    phases
}

/// The longest silence between two phases; 0 where there is none.
pub(crate) fn stall_ns(phases: &[Phase]) -> u64 {
    let silences = phases.windows(2).map(|pair| pair[1].from - pair[0].to);
    silences.max().unwrap_or(0) * SECOND_NS
}

#[cfg(test)]
mod tests;
