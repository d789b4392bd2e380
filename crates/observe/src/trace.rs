//! The kernel's own account: every request of a block device, who had a CPU, and what the kernel did for a while.
//!
//! Duty: have the kernel write its tracepoints into ring buffers of our own (a tracefs instance), read those raw, and
//! make rows of the events. Data in: the ring buffers and the descriptions of the events beside them, untrusted like
//! all that is read. Data out: [`BlockRequest`](fathom_core::record::BlockRequest),
//! [`SchedSlice`](fathom_core::record::SchedSlice), [`CpuShare`](fathom_core::record::CpuShare),
//! [`KernelSpan`](fathom_core::record::KernelSpan), and how much was lost, exactly. It must not know the load, what the
//! rows are for, or how they are stored.
//!
//! The way of an event: [`source`] (pages of one CPU) → [`page`] (records) → [`decode`] (events) → [`order`] (one
//! stream in the order of time) → [`matcher`] (requests), [`slices`] (stays on a CPU) or [`spans`] (the kernel's doings, and
//! on whose behalf requests were made); [`standstill`] sees in them when nothing ran. All but `source`,
//! [`instance`] and `witness` are pure, so that a simulated kernel runs through the same code. No kernel module, no
//! compiler and no capability is needed: files that root may open.

pub mod block;
pub mod decode;
pub mod error;
pub mod format;
pub mod instance;
pub mod kernel;
pub mod matcher;
mod names;
pub mod order;
pub mod page;
#[cfg(test)]
mod peer;
mod principals;
#[cfg(test)]
mod real;
pub mod rwbs;
pub mod sched;
pub mod slices;
pub mod source;
pub mod spans;
pub mod standstill;
pub mod symbols;
mod table;
mod tids;
mod tracefs;
mod tree;
mod waits;
mod witness;

pub use block::{BlockTracer, TraceAudit};
pub use error::TraceUnavailable;
pub use kernel::{KernelAudit, KernelTracer};
pub use sched::{Load, SchedAudit, SchedTracer};
pub use tracefs::{numbers_tasks_as_here, sweep_left_over};
pub use tree::{Tree, TreeSeen};
pub use witness::Witnesses;
