//! A sweep judged: the figures of each point, what the whole matrix says of the disk, and which point to measure next.
//!
//! Data in: the record of a point's run, or a [`SweepPlan`](fathom_core::sweep::SweepPlan) with what was measured so far.
//! Data out: figures, [`conclude`]d findings with their evidence, the next step. It must not know how points are carried
//! out, stored or printed.

pub mod adaptive;
mod conclude;
pub mod findings;
#[cfg(test)]
mod fixture;
pub mod point;
pub mod probe;
mod seen;

pub use conclude::conclude;
