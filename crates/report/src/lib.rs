//! Reports: a run, a sweep, or a workload not yet run, as text, JSON, HTML, Markdown and CSV.
//!
//! Duty: put numbers before people and programs. Data in: a [`Run`](fathom_core::run::Run) or a
//! [`Workload`](fathom_core::workload::Workload). Data out: strings. It must not measure, read files, look at the
//! terminal or print: the caller says how wide and how colourful.
#![forbid(unsafe_code)]

mod chart;
pub mod compared;
mod csv;
pub mod document;
pub mod dry_run;
pub mod emit;
pub mod explanation;
pub mod export;
pub mod fio;
#[cfg(test)]
mod fixtures;
pub mod fleet;
mod html;
pub mod identified;
pub mod json;
mod layout;
mod markdown;
/// What other pages share with those of reports: their look, how charts look, the script that draws them.
pub mod page {
    pub use crate::html::{CHARTS, STYLE, plotly};
}
pub mod planned;
pub mod repeats;
pub mod reproduction;
mod style;
mod terminal;
pub mod text;
pub mod words;

pub use document::{Format, LatencyHeat, RunReport, SpikeWindow, SweepReport};
pub use layout::wrap;
pub use style::Style;
