//! Where random I/O went: a distribution laid on a region of a known size.
//!
//! Data in: zones and sizes. Data out: ranges in bytes. It must not know threads. As in diskspd, shares of a region are
//! rounded down to the alignment, gaps are left out, and zones beyond the end give their I/O to the others.

use fathom_core::workload::{Distribution, Zone, ZoneSize};

/// One range that I/O went to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveRange {
    /// Its share of the I/Os, percent.
    pub io_percent: f64,
    /// The same as it was asked for: where ranges are left out, those of the others do not add up to 100.
    pub stated_percent: f64,
    /// Where it begins, in bytes from the begin of the region.
    pub begin: u64,
    pub end: u64,
}

/// The ranges of `distribution` over a region of `bytes`, with blocks of `block` bytes at multiples of `align`.
pub(super) fn effective(
    distribution: &Distribution,
    bytes: u64,
    block: u64,
    align: u64,
) -> Vec<EffectiveRange> {
    let Distribution::Zones(zones) = distribution else {
        return Vec::new();
    };
    let Some(room) = bytes.checked_sub(block) else {
        return Vec::new();
    };
    let align = align.max(1);
    // Up to the last offset at which a block fits.
    let reach = room - room % align + align;
    let mut begin = 0u64;
    let mut percent = 0.0;
    let mut ranges = Vec::new();
    for &Zone { io_percent, size } in zones {
        let end = match size {
            ZoneSize::Bytes(length) => begin.saturating_add(length).min(bytes),
            ZoneSize::Percent(share) => {
                percent += share;
                let end = if percent >= 100.0 {
                    reach
                } else {
                    (reach as f64 * percent / 100.0) as u64
                };
                end - end % align
            }
            ZoneSize::Rest => bytes,
        };
        let fits = match size {
            ZoneSize::Percent(_) => end > begin,
            _ => end.saturating_sub(begin) >= block,
        };
        if io_percent > 0.0 && fits {
            ranges.push(EffectiveRange {
                io_percent,
                stated_percent: io_percent,
                begin,
                end,
            });
        }
        begin = end.max(begin);
    }
    let given: f64 = ranges.iter().map(|range| range.io_percent).sum();
    let in_percent = zones.iter().any(|zone| matches!(zone.size, ZoneSize::Percent(_)));
    for range in &mut ranges {
        range.io_percent *= 100.0 / given;
        if in_percent {
            range.stated_percent = range.io_percent;
        }
    }
    ranges
}

/// Whether ranges beyond the end of the target were left out.
pub(super) fn trimmed(ranges: &[EffectiveRange]) -> bool {
    ranges.iter().map(|range| range.stated_percent).sum::<f64>() < 100.0 - 1e-6
}
