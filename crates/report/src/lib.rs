//! Reports: a run, or a workload not yet run, as text and JSON.
//!
//! Duty: put numbers before people and programs. Data in: a [`Run`](fathom_core::run::Run) or a
//! [`Workload`](fathom_core::workload::Workload). Data out: strings. It must not measure, read files, look at the
//! terminal or print: the caller says how wide and how colourful.
#![forbid(unsafe_code)]

pub mod dry_run;
pub mod explanation;
pub mod export;
#[cfg(test)]
mod fixtures;
pub mod json;
mod layout;
pub mod reproduction;
mod style;
pub mod text;
pub mod words;

pub use layout::wrap;
pub use style::Style;
pub use text::in_full;
