//! Two sides compared: what differs, by how much, how sure that is, and what would decide where it is not.
//!
//! Data in: figures of repeats on two sides, with the conditions they were measured under. Data out: plain data: differences with
//! their intervals, verdicts, conditions that differ. No sentences. It must not know where repeats are stored.
//!
//! A repeat is one run, one measurement of a sweep's point, one number of a column. The repeat is the unit: seconds or I/Os of
//! one run hang together, and taken for repeats they find a difference between equal disks in 39 to 69 of 100 comparisons.
//! Which method holds where is simulated in `docs/compare.md`; `crates/analysis/tests/compare` holds the verdicts to it.

pub mod caution;
#[cfg(test)]
pub(crate) mod chance;
pub mod commands;
pub mod conditions;
pub mod figure;
pub mod fleets;
pub mod groups;
mod holm;
pub mod judge;
pub mod measured;
pub mod order;
pub mod percentile;
pub mod permutation;
pub mod requests;
#[cfg(test)]
pub(crate) mod restores;
pub mod rule;
pub mod series;
#[cfg(test)]
mod simulated;
pub mod spread;
pub mod student;

pub use caution::{Caution, cautions};
pub use commands::observe_commands;
pub use conditions::{Condition, Field, Grade, conditions};
pub use figure::{Better, Figure, Observed, Quantity, Tail, Value, Within};
pub use fleets::observe_fleets;
pub use judge::{
    Difference, Few, Judged, Method, Scale, Settings, SideNumbers, SpreadVerdict, Verdict, judge,
};
pub use measured::{DirectionMeasured, LoadMeasured, Measured, SecondMeasured, observe};
pub use order::Order;
pub use requests::Requests;
pub use rule::{Outcome, Rule, RuleError, Ruled};
