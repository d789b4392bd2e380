//! Which offsets come, against naive sets.

mod coverage;
mod runs;
mod sequences;
mod sizes;
