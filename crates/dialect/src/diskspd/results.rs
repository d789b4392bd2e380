//! The results of runs in diskspd's layout, as text and as XML, so that what reads diskspd's results reads these.
//!
//! Data in: a [`DiskspdResult`], which [`span_result`] fills from a run, its series and its histograms. Data out: text. It
//! must not know how a command line is read: of the profile it takes the settings of time spans, the rest comes as text. Layout, units and order are those of v2.2
//! (`ResultParser.cpp`, `XmlResultParser.cpp`); what this machine or this program cannot know says `N/A`, or is left out
//! where XML has a number.
//!
//! Latency is from the moment an I/O was made to its completion, as in diskspd; deviations are those of populations.

mod cpu;
mod fill;
mod input;
mod latency;
mod ranges;
mod text;
mod xml;

pub use cpu::{CpuTimes, CpuUse};
pub use fill::span_result;
pub use input::{Bucket, CpuPlace, Direction, DiskspdResult, Row, SpanResult, System, Totals};
pub use latency::Latency;
pub use ranges::EffectiveRange;
pub(super) use text::PERCENTILES;
pub use text::text;
pub use xml::xml;

#[cfg(test)]
mod tests;
