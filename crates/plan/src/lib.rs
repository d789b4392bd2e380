//! The cheapest disks and machine that meet a need, and why.
//!
//! Duty: from a need ([`need`]) and the catalogue to the cheapest layouts ([`search`]), the limit that binds each
//! ([`judge`]), what the model shows of each ([`prove`]), and what an impossible need fails at ([`impossible`]); [`plan`] puts
//! them together. What limits, counts and costs is one table
//! ([`rules`]). Everything is computed, in whole numbers where a comparison decides; nothing is read, measured or printed. It
//! must not know how answers are put into words, nor where the catalogue came from.

pub mod cost;
pub mod envelope;
pub mod explain;
pub mod front;
pub mod impossible;
pub mod judge;
pub mod layout;
pub mod need;
mod pieces;
pub mod plan;
pub mod prove;
pub mod replay;
pub mod rules;
pub mod search;
pub mod seen;
pub mod setup;

pub use fathom_model::catalog::{Directions, Family, Vm};
