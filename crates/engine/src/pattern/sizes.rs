//! Block sizes of one direction.

use fathom_core::rng::Rng;
use fathom_core::workload::BlockSize;

/// Draws block sizes.
#[derive(Debug, Clone)]
pub enum Sizes {
    /// Always the same.
    Fixed(u32),
    /// `smallest * (1..=steps)`.
    Steps {
        /// The unit.
        smallest: u32,
        steps: u64,
    },
    /// Any number of bytes between the two, both included.
    Any { smallest: u32, largest: u32 },
    /// A few sizes, with the percentage up to and including each.
    Split {
        /// Smallest size of all.
        smallest: u32,
        /// Cumulated percentage and size.
        entries: Vec<(u8, u32)>,
    },
}

impl Sizes {
    /// The sizes that `block_size` describes.
    pub fn new(block_size: &BlockSize) -> Self {
        let small = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        match block_size {
            BlockSize::Fixed(bytes) => Self::Fixed(small(*bytes)),
            BlockSize::Range { min, max, .. } if min == max => Self::Fixed(small(*min)),
            BlockSize::Range {
                min,
                max,
                unaligned: true,
            } => Self::Any {
                smallest: small(*min),
                largest: small(*max),
            },
            BlockSize::Range { min, max, .. } => Self::Steps {
                smallest: small(*min),
                steps: (max / (*min).max(1)).max(1),
            },
            BlockSize::Split(list) => {
                let mut cumulated = 0u8;
                let entries = list
                    .iter()
                    .map(|entry| {
                        cumulated = cumulated.saturating_add(entry.percent);
                        (cumulated, small(entry.bytes))
                    })
                    .collect();
                Self::Split {
                    smallest: small(block_size.min()),
                    entries,
                }
            }
        }
    }

    /// The next size in bytes.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            _ => self.draw_varied(rng),
        }
    }

    fn draw_varied(&self, rng: &mut Rng) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Steps { smallest, steps } => smallest * (1 + rng.below(*steps) as u32),
            Self::Any { smallest, largest } => smallest + rng.below(u64::from(largest - smallest) + 1) as u32,
            Self::Split { entries, smallest } => {
                let point = rng.below(100) as u8;
                entries
                    .iter()
                    .find(|(up_to, _)| point < *up_to)
                    .map_or(*smallest, |&(_, bytes)| bytes)
            }
        }
    }

    /// The smallest size.
    #[inline]
    pub fn smallest(&self) -> u32 {
        match self {
            Self::Fixed(smallest)
            | Self::Steps { smallest, .. }
            | Self::Any { smallest, .. }
            | Self::Split { smallest, .. } => *smallest,
        }
    }

    /// `len` cut down to `room`, in multiples of the smallest size where sizes are such multiples. `room` is
    /// at least the smallest size.
    #[inline]
    pub fn fit(&self, len: u32, room: u64) -> u32 {
        if u64::from(len) <= room {
            return len;
        }
        match self {
            Self::Fixed(_) | Self::Any { .. } => room as u32,
            Self::Steps { smallest, .. } | Self::Split { smallest, .. } => room as u32 / smallest * smallest,
        }
    }
}
