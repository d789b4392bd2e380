//! Whether the machine was short of memory while a spike lasted.
//!
//! Data in: a spike, the counters of its seconds. Data out: a sentence. It names no cause: a task that waits for memory may
//! be any.

use super::scene::Scene;
use fathom_core::units::Nanos;

/// In a second: that little is spent on memory where there is enough of it.
const WAITED_MIN_S: f32 = 0.01;

/// What the pressure on memory was (PSI, Documentation/accounting/psi.rst), where a second of the spike shows any.
pub(super) fn evidence(scene: &Scene<'_>) -> Option<String> {
    let counters = scene.context.scanned.counters.as_ref()?;
    let seconds = scene.seconds();
    let waited: Vec<f32> = counters
        .system
        .range(seconds.clone())
        .map(|(_, second)| second.memory_waiting)
        .collect();
    if waited.iter().all(|waited_s| *waited_s < WAITED_MIN_S) {
        return None;
    }
    let waited_s: f64 = waited.into_iter().map(f64::from).sum();
    let during = match seconds.end() - seconds.start() + 1 {
        1 => String::from("in that second"),
        several => format!("in those {several} seconds"),
    };
    Some(format!(
        "memory pressure: tasks waited {} for memory {during}",
        Nanos((waited_s * 1e9).round() as u64)
    ))
}
