//! The words of the field: units, clock, random numbers, histogram, workload, I/O, backend, record, run.
//!
//! Duty: the narrow vocabulary that every other crate speaks. Data in: nothing. Data out: types.
//! It must not know files, threads, the operating system or any text format; it does no I/O, reads no
//! clock and has no `unsafe`.
#![forbid(unsafe_code)]

pub mod arrival;
pub mod backend;
pub mod clock;
pub mod histogram;
pub mod nbd;
pub mod record;
pub mod rng;
pub mod run;
pub mod served;
pub mod sweep;
pub mod units;
pub mod virtual_disk;
pub mod workload;
