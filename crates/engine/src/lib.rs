//! The measured loop: pacing, access pattern, stop rules, backends.
//!
//! Duty: to carry out a [`fathom_core::workload::Workload`] on files and devices and to count what happened.
//! Data in: the workload and where to send it. Data out: rows a second, and a summary with histograms. It
//! must not know job-file dialects, the run directory, or how anything is printed; only
//! [`fathom_core::clock::Clock`] tells it the time.
#![forbid(unsafe_code)]

pub mod backends;
mod balance;
mod blocks;
mod checksum;
pub mod collect;
pub mod content;
pub mod driver;
pub mod errors;
pub mod interval;
pub mod layout;
mod locks;
mod open;
pub mod pace;
pub mod pattern;
pub mod plan;
mod queue;
pub mod recording;
pub mod replay;
pub mod run;
mod sequences;
mod sysfs;
#[cfg(test)]
mod testing;
mod thread;
mod verify;
pub mod wait;
pub mod worker;
mod worker_tally;
pub mod zones;

pub use thread::{Boundary, BoundaryHook, StartFailure};
