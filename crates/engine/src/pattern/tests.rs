//! Which offsets come, against naive sets.

mod coverage;
mod sequences;
mod sizes;
