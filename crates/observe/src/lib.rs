//! What else is true of the machine and of the disk while a run goes on.
//!
//! Duty: the environment, the device below each target, the disk's counters before and after, the verdict on
//! what would make numbers unsound, and the permission to write. Data in: `/proc`, `/sys` and the target's
//! own metadata. Data out: the plain types of `core::run`, and refusals. It must not know the workload: what
//! the load does comes in as a handful of facts.
//!
//! Every path below `/proc` and `/sys` goes through [`SystemRoot`], so that all of it runs on a recorded
//! tree. What the system does not tell is left out or said to be unknown; looking never fails a run. The one
//! part that stops a run is [`safety`], and there not knowing means no.
#![forbid(unsafe_code)]

pub mod busy;
pub mod counters;
pub mod disk;
#[cfg(test)]
mod fixture;
pub mod host;
pub mod limits;
pub mod mounts;
mod parents;
pub mod process_io;
pub mod room;
pub mod root;
pub mod safety;
mod sysfs;
pub mod target;
pub mod trace;
pub mod validity;

pub use root::SystemRoot;
