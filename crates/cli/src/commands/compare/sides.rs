//! What was read of both sides, before it is judged.

use fathom_analysis::compare::{Condition, Measured, Observed};
use fathom_report::compared::Kind;
/// What was read of both sides.
pub(super) struct Read {
    pub(super) kind: Kind,
    pub(super) sides: [ReadSide; 2],
    pub(super) observed: Vec<Observed>,
    pub(super) conditions: Vec<Condition>,
}

/// What was read of one side.
#[derive(Default)]
pub(super) struct ReadSide {
    pub(super) measured: Vec<Measured>,
    pub(super) alone: Vec<String>,
    pub(super) notes: Vec<String>,
}
