//! Where between two bounds a point lies, and what to expect of one that nothing is known of.
//!
//! Data in: known points. Data out: IOPS interpolated between neighbours on both sides; whether that has proved right. It
//! must not bound anything.
//!
//! Below a limit, mean latency is linear in size (so much an I/O, so much a byte) and in mix (it is the mean of the two
//! kinds). Whether that is so of this disk is tried on each measured point that has measured neighbours on both sides.

use fathom_core::sweep::Coordinates;

/// A law has proved right on so many points,
const PROVED_MIN: usize = 2;
/// each within this.
const PROVED: f64 = 0.05;

/// A point whose IOPS are known, or supposed to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) number: u32,
    pub(super) at: Coordinates,
    pub(super) iops: f64,
}

/// Along which coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    Size,
    Mix,
}

/// Which laws have proved right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Laws {
    size: bool,
    mix: bool,
}

impl Laws {
    /// Tries both on all points.
    pub(super) fn of(sources: &[Source]) -> Self {
        Self {
            size: proved(sources, Along::Size),
            mix: proved(sources, Along::Mix),
        }
    }
    /// Whether this one has.
    pub(super) fn holds(self, along: Along) -> bool {
        match along {
            Along::Size => self.size,
            Along::Mix => self.mix,
        }
    }
}

fn proved(sources: &[Source], along: Along) -> bool {
    let mut tried = 0;
    for source in sources {
        let Some(found) = between(sources, source.at, along) else {
            continue;
        };
        if (found / source.iops).ln().abs() > PROVED {
            return false;
        }
        tried += 1;
    }
    tried >= PROVED_MIN
}

/// IOPS from the nearest known neighbours on both sides, in size where there are such, else in mix.
pub(super) fn interpolated(sources: &[Source], at: Coordinates) -> Option<(f64, Along)> {
    let along = |along: Along| Some((between(sources, at, along)?, along));
    along(Along::Size).or_else(|| along(Along::Mix))
}

/// The place of `one` on the line through `at`; `None`: it is not on it.
fn place(one: Coordinates, at: Coordinates, along: Along) -> Option<f64> {
    let mut moved = one;
    let place = match along {
        Along::Size => std::mem::replace(&mut moved.block_size_bytes, at.block_size_bytes) as f64,
        Along::Mix => std::mem::replace(&mut moved.read_percent, at.read_percent).into(),
    };
    (moved == at).then_some(place)
}

fn between(sources: &[Source], at: Coordinates, along: Along) -> Option<f64> {
    let (one, other) = neighbours(sources, at, along)?;
    let placed = |source: Source| Some((place(source.at, at, along)?, 1.0 / source.iops));
    Some(1.0 / line(placed(one)?, placed(other)?, place(at, at, along)?))
}

/// The nearest known points on both sides.
pub(super) fn neighbours(sources: &[Source], at: Coordinates, along: Along) -> Option<(Source, Source)> {
    let here = place(at, at, along)?;
    let placed = || {
        sources
            .iter()
            .filter_map(|source| Some((place(source.at, at, along)?, *source)))
    };
    let below = placed()
        .filter(|(x, _)| *x < here)
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let above = placed()
        .filter(|(x, _)| *x > here)
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((below.1, above.1))
}

fn line(one: (f64, f64), other: (f64, f64), here: f64) -> f64 {
    if other.0 <= one.0 {
        return one.1;
    }
    one.1 + (here - one.0) / (other.0 - one.0) * (other.1 - one.1)
}

/// What to expect of a point: the latency of the least depth, linear in size and in mix between what is known of its
/// order, shared by as many as are in flight.
pub(super) fn expected(sources: &[Source], at: Coordinates) -> Option<f64> {
    let same = |source: &&Source| (source.at.random, source.at.threads) == (at.random, at.threads);
    let depth = sources
        .iter()
        .filter(same)
        .map(|source| source.at.iodepth)
        .min()?;
    let shallow: Vec<&Source> = sources
        .iter()
        .filter(same)
        .filter(|source| source.at.iodepth == depth)
        .collect();
    let mut mixes: Vec<u8> = shallow.iter().map(|source| source.at.read_percent).collect();
    mixes.sort_unstable();
    mixes.dedup();
    let of_mix = |&mix: &u8| {
        let of_size = shallow.iter().filter(|source| source.at.read_percent == mix);
        let latency = around(
            of_size.map(|source| (source.at.block_size_bytes as f64, 1.0 / source.iops)),
            at.block_size_bytes as f64,
        )?;
        Some((f64::from(mix), latency))
    };
    let latency = around(mixes.iter().filter_map(of_mix), f64::from(at.read_percent))?;
    Some(f64::from(at.iodepth) / f64::from(depth) / latency)
}

/// The value at `here`: between the nearest on both sides, or that of the nearest on one.
fn around(values: impl Iterator<Item = (f64, f64)> + Clone, here: f64) -> Option<f64> {
    let below = values
        .clone()
        .filter(|(x, _)| *x <= here)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let above = values
        .filter(|(x, _)| *x >= here)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    match (below, above) {
        (Some(one), Some(other)) => Some(line(one, other, here)),
        (one, other) => one.or(other).map(|(_, value)| value),
    }
}

#[cfg(test)]
mod tests;
