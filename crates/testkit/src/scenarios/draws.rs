//! Chance: each thing that happens has draws of its own.
//!
//! Data in: the machine's seed, whose draws they are and how many that one has had. Data out: generators. The same I/O, burst or
//! request then has the same luck whatever else happens meanwhile, so that a machine can be run again without what was done to
//! it and differs in nothing but that.

use fathom_core::rng::{Rng, split_mix};

/// Whose draws they are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    /// An I/O of the worker with this index.
    Io(usize),
    /// When the next I/O of the worker is due.
    Arrival(usize),
    /// The bursts of the task with this number.
    Task(u32),
    /// The requests of the stream with this process number.
    Stream(u32),
    Journal,
    Flusher,
    Throttle,
}

/// The generator for number `number` of these.
pub(super) fn draws(seed: u64, of: Of, number: u64) -> Rng {
    let (kind, which) = match of {
        Of::Io(worker) => (1, worker as u64),
        Of::Arrival(worker) => (2, worker as u64),
        Of::Task(tid) => (3, u64::from(tid)),
        Of::Stream(pid) => (4, u64::from(pid)),
        Of::Journal => (5, 0),
        Of::Flusher => (6, 0),
        Of::Throttle => (7, 0),
    };
    Rng::stream(seed ^ split_mix(kind << 32 | which), number)
}

/// A log-normal draw with this median.
pub(super) fn log_normal(rng: &mut Rng, median: f64, sigma: f64) -> f64 {
    let (radius, angle) = (rng.unit_open_low(), rng.unit());
    let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
    median * (sigma * normal).exp()
}

pub(super) fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -mean * rng.unit_open_low().ln()
}
