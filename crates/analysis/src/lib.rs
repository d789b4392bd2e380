//! Judgement: what a run's own numbers say of their worth, and what to do about its failures.
//!
//! Duty: pure functions over a recorded run. Data in: a [`Run`](fathom_core::run::Run) and rows of its series.
//! Data out: warnings, remedies, summaries. It does no I/O, reads no clock and must not know how a run is made, stored
//! or printed.
#![forbid(unsafe_code)]

pub mod compare;
pub mod explain;
pub mod failures;
pub mod figures;
#[cfg(test)]
mod fixtures;
pub mod fleet;
mod growth;
mod latencies;
pub mod live;
pub mod outline;
pub mod partial;
pub mod repeats;
pub mod sweep;
pub mod usage;
pub mod warnings;
