//! How an I/O is counted: in I/O units, sequential ones merged where the disk merges them.
//!
//! Data in: the place and the size of each I/O, in their order. Data out: what it costs in units and bytes. An I/O that begins
//! where one of the last streams ended goes into the unit that was begun there; only what has no room begins another. It must
//! not know limits.

use crate::device::Units;
use crate::spec::DiskSpec;

/// How the I/Os of a disk are counted.
#[derive(Debug, Clone)]
pub(crate) struct Merge {
    units: Units,
    unit_bytes: u64,
    whole_units: bool,
    /// The one used last in front.
    streams: Vec<Stream>,
}

#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Where it stands.
    end: u64,
    /// What the unit that was begun has room for.
    room: u64,
}

/// What an I/O costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) units: u64,
    pub(crate) bytes: u64,
}

impl Merge {
    /// `None` where an I/O costs what it is alone.
    pub(crate) fn new(spec: &DiskSpec) -> Option<Self> {
        let nothing = Stream {
            end: u64::MAX,
            room: 0,
        };
        let needed = spec.merged_streams > 0 || spec.whole_units;
        needed.then(|| Self {
            units: Units::new(spec.io_unit_bytes),
            unit_bytes: spec.io_unit_bytes,
            whole_units: spec.whole_units,
            streams: vec![nothing; spec.merged_streams as usize],
        })
    }

    /// The cost of `len` bytes at `offset`.
    pub(crate) fn cost(&mut self, offset: u64, len: u32) -> Cost {
        let units = self.units_of(offset, len);
        let bytes = if self.whole_units {
            units * self.unit_bytes
        } else {
            u64::from(len)
        };
        Cost { units, bytes }
    }

    fn units_of(&mut self, offset: u64, len: u32) -> u64 {
        if self.streams.is_empty() {
            return self.units.of(len);
        }
        let known = self.streams.iter().position(|stream| stream.end == offset);
        // The one that was not used for longest makes room.
        let at = known.unwrap_or(self.streams.len() - 1);
        self.streams[..=at].rotate_right(1);
        let stream = &mut self.streams[0];
        let room = if known.is_some() { stream.room } else { 0 };
        let len = u64::from(len);
        let beyond = len.saturating_sub(room);
        let begun = beyond.div_ceil(self.unit_bytes);
        stream.end = offset + len;
        stream.room = room + begun * self.unit_bytes - len;
        begun
    }
}

#[cfg(test)]
mod tests;
