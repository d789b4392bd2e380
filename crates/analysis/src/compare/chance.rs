//! Numbers by chance for simulations, from one seed.

use fathom_core::rng::Rng;

pub(crate) struct Chance(Rng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Normal, mean 0, deviation 1 (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.0.unit_open_low().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.unit()).cos()
    }

    /// Exponential, mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.0.unit_open_low().ln()
    }

    /// Normal values of deviation 1, each correlated with the one before.
    pub(crate) fn remembering(&mut self, n: usize, correlation: f64) -> Vec<f64> {
        let fresh = (1.0 - correlation * correlation).sqrt();
        let mut last = self.normal();
        let mut next = || {
            let value = last;
            last = correlation * last + fresh * self.normal();
            value
        };
        (0..n).map(|_| next()).collect()
    }
}
