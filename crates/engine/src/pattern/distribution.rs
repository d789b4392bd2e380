//! Random positions: uniform, Zipf, Pareto, normal, zones.
//!
//! Logarithms and powers are those of `libm`: the system's own differ between machines in the last digit, and a
//! seed must draw the same positions everywhere.

use super::permutation::Permutation;
use fathom_core::rng::Rng;
use fathom_core::workload::{Distribution, Zone, ZoneSize};

/// Draws positions in `0..n`.
#[derive(Debug, Clone)]
pub enum Sampler {
    /// All alike.
    Uniform {
        /// How many positions.
        n: u64,
    },
    /// By rank.
    Zipf {
        /// Draws the rank.
        zipf: Zipf,
        /// Gives each rank its place.
        place: Place,
    },
    /// `n * u^exponent`: self-similar, `1 - h` of the draws fall into the first `h` of the positions
    /// (Gray et al. 1994).
    Pareto {
        /// How many positions.
        n: u64,
        /// `ln h / ln (1 - h)`.
        exponent: f64,
        /// Gives each rank its place.
        place: Place,
    },
    /// A normal curve, cut off at the ends.
    Normal {
        /// How many positions.
        n: u64,
        /// Its middle.
        center: f64,
        /// Its standard deviation, in positions.
        deviation: f64,
    },
    /// Uniform within each of several parts.
    Zones(Vec<Part>),
    /// Nothing is drawn: one after the other, over and over.
    Sequence(Box<Sequence>),
}

/// Positions one after the other, over and over.
#[derive(Debug, Clone)]
pub struct Sequence {
    positions: Vec<u64>,
    strides: bool,
    /// How many positions there are in all.
    n: u64,
    /// Which comes next.
    at: usize,
    /// What is added to each.
    base: u64,
}

impl Sequence {
    fn next(&mut self) -> u64 {
        let position = (self.base + self.positions[self.at]) % self.n;
        self.at += 1;
        if self.at == self.positions.len() {
            self.at = 0;
            if self.strides {
                self.base = (self.base + self.positions.len() as u64) % self.n;
            }
        }
        position
    }
}

/// One part of the positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// A draw of `0..1` below this and not below that of the part before falls here.
    until: f64,
    /// Its first position.
    first: u64,
    /// How many; at least 1.
    n: u64,
}

/// The parts of `0..n` that `zones` describe; positions are `align_bytes` apart. Zones without a whole position, and those
/// beyond the end, give their share to the others.
fn parts(zones: &[Zone], n: u64, align_bytes: u64) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut first, mut share, mut percent_end, mut byte_end) = (0, 0.0, 0.0, 0u64);
    for zone in zones {
        let end = match zone.size {
            ZoneSize::Percent(percent) => {
                percent_end += percent;
                ((percent_end / 100.0 * n as f64).round() as u64).min(n)
            }
            ZoneSize::Bytes(bytes) => {
                byte_end = byte_end.saturating_add(bytes);
                (byte_end / align_bytes).min(n)
            }
            ZoneSize::Rest => n,
        };
        if end > first && zone.io_percent > 0.0 {
            share += zone.io_percent;
            parts.push(Part {
                until: share,
                first,
                n: end - first,
            });
        }
        first = end.max(first);
    }
    for part in &mut parts {
        part.until /= share;
    }
    parts
}

/// Where the ranks of a skewed distribution are.
#[derive(Debug, Clone)]
pub enum Place {
    /// Scattered over the region, one to one.
    Scattered(Permutation),
    /// Rank k at `first + k`, around the end of the region.
    From {
        /// The place of the most popular.
        first: u64,
        /// How many positions.
        n: u64,
    },
}

impl Place {
    fn new(center: Option<f64>, n: u64, seed: u64) -> Self {
        match center {
            None => Self::Scattered(Permutation::new(n, seed)),
            Some(center) => Self::From {
                first: (center * n as f64) as u64,
                n,
            },
        }
    }
    fn of(&self, rank: u64) -> u64 {
        match self {
            Self::Scattered(permutation) => permutation.at(rank),
            Self::From { first, n } => (first + rank) % n,
        }
    }
}

impl Sampler {
    /// A sampler of `0..n`, positions that are `align_bytes` apart; `seed` decides where popular positions lie, not what
    /// is drawn.
    pub fn new(distribution: &Distribution, (n, align_bytes): (u64, u64), seed: u64) -> Self {
        match *distribution {
            _ if n <= 1 => Self::Uniform { n },
            Distribution::Uniform => Self::Uniform { n },
            Distribution::Zipf { theta, center } => Self::Zipf {
                zipf: Zipf::new(n, theta),
                place: Place::new(center, n, seed),
            },
            Distribution::Pareto { h, center } => Self::Pareto {
                n,
                exponent: libm::log(h) / libm::log(1.0 - h),
                place: Place::new(center, n, seed),
            },
            Distribution::Normal {
                deviation_percent,
                center,
            } => Self::Normal {
                n,
                // Within the region, or a narrow curve at its very end would never hit it.
                center: (center.unwrap_or(0.5) * n as f64).clamp(0.0, n as f64 - 0.5),
                deviation: (deviation_percent / 100.0 * n as f64).max(f64::MIN_POSITIVE),
            },
            Distribution::Sequence { ref blocks, strides } => Self::Sequence(Box::new(Sequence {
                positions: blocks.iter().map(|block| block % n).collect(),
                strides,
                n,
                at: 0,
                base: 0,
            })),
            Distribution::Zones(ref zones) => match parts(zones, n, align_bytes) {
                parts if parts.is_empty() => Self::Uniform { n },
                parts => Self::Zones(parts),
            },
        }
    }

    /// The next position.
    #[inline]
    pub fn draw(&mut self, rng: &mut Rng) -> u64 {
        match self {
            Self::Uniform { n } => rng.below(*n),
            _ => self.draw_skewed(rng),
        }
    }

    /// Begins again, where there is an order.
    pub fn restart(&mut self) {
        if let Self::Sequence(sequence) = self {
            (sequence.at, sequence.base) = (0, 0);
        }
    }

    fn draw_skewed(&mut self, rng: &mut Rng) -> u64 {
        match self {
            Self::Uniform { n } => rng.below(*n),
            Self::Sequence(sequence) => sequence.next(),
            Self::Zipf { zipf, place } => place.of(zipf.draw(rng)),
            Self::Pareto { n, exponent, place } => {
                let rank = (power(rng.unit(), *exponent) * *n as f64) as u64;
                place.of(rank.min(*n - 1))
            }
            Self::Normal { n, center, deviation } => loop {
                let position = *center + *deviation * normal(rng);
                if position >= 0.0 && position < *n as f64 {
                    return position as u64;
                }
            },
            Self::Zones(parts) => {
                let draw = rng.unit();
                let last = &parts[parts.len() - 1];
                let part = parts.iter().find(|part| draw < part.until).unwrap_or(last);
                part.first + rng.below(part.n)
            }
        }
    }
}

/// `base^exponent` for a base of 0 or more: a third of the time of `libm::pow`, whose last digits are not needed.
#[inline]
fn power(base: f64, exponent: f64) -> f64 {
    libm::exp(exponent * libm::log(base))
}

/// A standard normal number (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * libm::log(rng.unit_open_low())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * rng.unit())
}

/// Ranks `0..n` with weight `1 / (rank + 1)^theta`, by rejection inversion (Hörmann and Derflinger 1996):
/// constant time and no table, whatever n is.
#[derive(Debug, Clone)]
pub struct Zipf {
    n: f64,
    theta: f64,
    integral_start: f64,
    integral_end: f64,
    shortcut: f64,
}

impl Zipf {
    /// `n` at least 1; `theta` above 0.
    pub fn new(n: u64, theta: f64) -> Self {
        let mut zipf = Self {
            n: n as f64,
            theta,
            integral_start: 0.0,
            integral_end: 0.0,
            shortcut: 0.0,
        };
        zipf.integral_start = zipf.integral(1.5) - 1.0;
        zipf.integral_end = zipf.integral(zipf.n + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse(zipf.integral(2.5) - power(2.0, -theta));
        zipf
    }

    /// The integral of `x^-theta` from 1 to x, written so that theta near 1 loses no digits.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let scaled = (1.0 - self.theta) * log;
        if scaled.abs() > 1e-8 {
            libm::expm1(scaled) / scaled * log
        } else {
            (1.0 + scaled / 2.0) * log
        }
    }

    fn inverse(&self, y: f64) -> f64 {
        let scaled = (y * (1.0 - self.theta)).max(-1.0);
        let log = if scaled.abs() > 1e-8 {
            libm::log1p(scaled) / scaled * y
        } else {
            (1.0 - scaled / 2.0) * y
        };
        libm::exp(log)
    }

    /// The next rank, 0 the most popular.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.integral_end + rng.unit() * (self.integral_start - self.integral_end);
            let x = self.inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.n);
            if rank - x <= self.shortcut || u >= self.integral(rank + 0.5) - power(rank, -self.theta) {
                return rank as u64 - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
