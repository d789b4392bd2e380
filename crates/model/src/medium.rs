//! The medium: how long it takes to serve one I/O, once it is let through.
//!
//! Data in: an operation, its place and size. Data out: nanoseconds. Service times of reads and writes have tables
//! of their own; on a disk with heads, an I/O that follows none of the last streams pays for a seek. It must not
//! know limits.

use crate::sampler::Sampler;
use crate::spec::{DiskSpec, SeekSpec};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;

#[derive(Debug, Clone)]
pub(crate) struct Medium {
    read: Sampler,
    write: Sampler,
    heads: Option<Heads>,
    rng: Rng,
}

/// Where the last streams stand.
#[derive(Debug, Clone)]
struct Heads {
    spec: SeekSpec,
    /// Where each ends, the one used last in front.
    ends: Vec<u64>,
}

/// What one I/O takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Service {
    /// How long.
    pub(crate) time_ns: u64,
    /// What it adds to the bytes of a limit on writes.
    pub(crate) extra_bytes: u64,
}

impl Medium {
    /// The medium of `spec`, its draws seeded.
    pub(crate) fn new(spec: &DiskSpec, seed: u64) -> Self {
        Self {
            read: Sampler::new(&spec.read),
            write: Sampler::new(&spec.write),
            heads: spec.seek.map(|seek| Heads {
                spec: seek,
                ends: vec![u64::MAX; seek.streams.max(1) as usize],
            }),
            rng: Rng::new(seed),
        }
    }

    /// Serves `len` bytes at `offset`. A flush takes what a write of one page takes.
    #[inline]
    pub(crate) fn serve(&mut self, op: Op, offset: u64, len: u32) -> Service {
        let sampler = if op == Op::Read { &self.read } else { &self.write };
        let time_ns = sampler.draw(len.max(4096), &mut self.rng);
        let plain = Service {
            time_ns,
            extra_bytes: 0,
        };
        match &mut self.heads {
            Some(heads) if op.index() < 2 => heads.seek(op, offset, len, plain, &mut self.rng),
            _ => plain,
        }
    }
}

impl Heads {
    fn seek(&mut self, op: Op, offset: u64, len: u32, plain: Service, rng: &mut Rng) -> Service {
        let known = self.ends.iter().position(|&last| last == offset);
        // The one that was not used for longest makes room.
        let at = known.unwrap_or(self.ends.len() - 1);
        self.ends[..=at].rotate_right(1);
        self.ends[0] = offset + u64::from(len);
        if known.is_some() {
            return plain;
        }
        let (shortest, longest, extra_bytes) = if op == Op::Read {
            (self.spec.read_min_ns, self.spec.read_max_ns, 0)
        } else {
            let spec = &self.spec;
            (spec.write_min_ns, spec.write_max_ns, spec.write_cost_bytes)
        };
        // No draw where there is nothing to draw: a seek that costs nothing is no seek.
        let spread = match longest.saturating_sub(shortest) {
            0 => 0,
            span => rng.below(span + 1),
        };
        Service {
            time_ns: plain.time_ns + shortest + spread,
            extra_bytes,
        }
    }
}

#[cfg(test)]
mod tests;
