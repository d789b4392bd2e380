//! The disk model: what a cloud disk and its machine do with I/O, in virtual time.
//!
//! Duty: from a target in words or a model file, by way of the catalogue, to a machine that says of each I/O when it
//! is complete. Data in: text, the catalogue's tables, I/Os at their moments. Data out: a [`Spec`], completion
//! times, counters. It does no I/O, reads no clock and must not know who sends the I/O or what is made of the
//! answers.
#![forbid(unsafe_code)]

pub mod attached;
mod below;
pub mod catalog;
mod company;
mod crowd;
pub mod defaults;
mod device;
mod even;
mod events;
pub mod file;
mod host_cache;
mod in_flight;
mod machine;
mod medium;
mod merge;
mod outage;
mod page_cache;
mod pages;
mod path;
mod sampler;
mod slices;
pub mod spec;
pub mod target;
#[cfg(test)]
mod testing;
pub mod validate;
mod volume;
mod waiter;
mod watch;

pub use catalog::Catalog;
pub use machine::Machine;
pub use path::LimitState;
pub use spec::Spec;
pub use watch::{DEVICE, Watch};
