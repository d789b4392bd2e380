//! Whether the load did not run.
//!
//! Data in: the times in which it was stopped, as the run's document has them; the slow I/Os. Data out: the verdict.

use super::super::scene::{Scene, SlowIo};
use super::{Cause, Judged, MOST, percent};
use fathom_core::run::{LoadStop, Warning};
use fathom_core::units::Nanos;

/// The load was stopped for most of the time that the worst I/O took: the one that makes it a spike.
pub(super) fn judge(scene: &Scene<'_>) -> Option<Judged> {
    let facts = scene.context.facts;
    let stops = facts
        .run
        .summary
        .warnings
        .iter()
        .find_map(|warning| match warning {
            Warning::LoadStopped { stops, .. } => Some(stops),
            _ => None,
        })?;
    let worst = scene.slow.iter().max_by_key(|io| io.total_ns())?;
    let common = stops
        .iter()
        .map(|stop| common_ns(worst, stop, facts.started_ns()));
    let share = common.sum::<u64>() as f64 / worst.total_ns().max(1) as f64;
    let longest = stops
        .iter()
        .max_by_key(|stop| common_ns(worst, stop, facts.started_ns()))?;
    (share >= MOST).then(|| {
        let because = format!(
            "the load was stopped for {}, which is {} % of the worst I/O's time: nothing of it ran, and what the disk had \
             answered meanwhile was seen afterwards",
            Nanos(longest.length_ns),
            percent(share.min(1.0))
        );
        Judged::new(Cause::LoadStopped, 0.6 + 0.39 * share.min(1.0), because)
    })
}

/// How long an I/O and a stop went on at the same time.
fn common_ns(io: &SlowIo, stop: &LoadStop, started_ns: u64) -> u64 {
    let from_ns = started_ns.saturating_add(stop.at_ns);
    let to_ns = from_ns.saturating_add(stop.length_ns);
    to_ns.min(io.completed_ns).saturating_sub(from_ns.max(io.due_ns))
}
