//! What a disk is, from the fewest measurements.
//!
//! Duty: name the next small measurement ([`schedule`]), read limits, release and service from what came back ([`fit`]), make
//! a model of it ([`spec`]), find the product whose limits are nearest ([`nearest`]) and judge what was promised
//! ([`claim`]). Data in: completions of I/Os, the catalogue. Data out: measurements to make, a [`Fit`], a verdict. It carries no
//! measurement out on a real disk, reads no clock and must not know words for people; of a modelled disk [`drive`] measures in
//! virtual time.
#![forbid(unsafe_code)]

pub mod candidates;
pub mod claim;
pub mod drive;
pub mod fit;
pub mod held_out;
pub mod nearest;
pub mod predict;
pub mod probe;
pub mod schedule;
pub mod spec;

pub use fit::Fit;
pub use probe::{Io, Mix, Outcome, Pattern, Probe, Purpose};
pub use schedule::{Options, Schedule};
