//! The modelled disk in real time: what asks for I/O gets its answers when the model says.
//!
//! Duty: one [`Bench`] of disks on one modelled machine, and two doors to it: a file in a FUSE file system ([`fuse`]) and the
//! network block device protocol ([`nbd`]). Data in: a machine's specification, where the data is, I/O, faults. Data out: the
//! data and the answers at their times, how late those were, a record in the format of a run directory. It must not parse
//! arguments, print or exit; nor know how the model arrives at its answers.
//!
//! An I/O's way: a door → [`Bench::submit`] (faults, the model's answer, the data) → [`timer`] → the door's answer.
#![forbid(unsafe_code)]

pub mod bench;
pub mod control;
pub mod fault;
pub mod fuse;
pub mod leftover;
pub mod nbd;
#[cfg(feature = "record")]
pub mod record;
pub mod series;
pub mod stack;
pub mod status;
pub mod store;
pub mod timer;

pub use bench::{Bench, BenchError, DiskOptions, Io, IoKind, Options};
