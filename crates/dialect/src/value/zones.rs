//! Zones of a random distribution: `60/10:30/20:10/`.
//!
//! Data in: text. Data out: zones whose shares add up. It must not know the option that holds them.

use super::list::float;
use super::size::{show_size, size};
use crate::diagnostic::Fault;
use fathom_core::workload::{Zone, ZoneSize};

/// fio's own limit.
const MAX_ZONES: usize = 256;
/// How far from 100 a sum of decimal shares may be.
const ROUNDING: f64 = 1e-6;

/// What the sizes of zones are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZoneUnit {
    /// Percent of the region.
    Percent,
    /// Bytes, with units of this base.
    Bytes(u64),
}

/// Zones from the start of the region on: a share of the I/Os in percent, a slash, a size. All shares add up to 100. A zone
/// without a size gets its part of what the sizes leave, in bytes only the last one.
pub(crate) fn zones(text: &str, unit: ZoneUnit) -> Result<Vec<Zone>, Fault> {
    // As fio, one colon at the end is none.
    let entries: Vec<&str> = text.strip_suffix(':').unwrap_or(text).split(':').collect();
    if entries.len() > MAX_ZONES {
        return Err(
            Fault::new(format!("{} zones", entries.len())).remedy(format!("give at most {MAX_ZONES}"))
        );
    }
    let mut zones = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let (share, bytes) = entry.split_once('/').unwrap_or((entry, ""));
        let io_percent = percent(share)?;
        let size = match (bytes.trim(), unit) {
            ("", ZoneUnit::Bytes(_)) if at + 1 < entries.len() => {
                return Err(Fault::new(format!("a zone of `{text}` has no size"))
                    .remedy("only the last may have none: it takes the rest"));
            }
            ("", _) => ZoneSize::Rest,
            (given, ZoneUnit::Percent) => ZoneSize::Percent(percent(given)?),
            (given, ZoneUnit::Bytes(kb_base)) => ZoneSize::Bytes(size(given, kb_base)?),
        };
        zones.push(Zone { io_percent, size });
    }
    let shares: f64 = zones.iter().map(|zone| zone.io_percent).sum();
    if (shares - 100.0).abs() > ROUNDING {
        return Err(
            Fault::new(format!("the shares of the I/Os in `{text}` add up to {shares} %"))
                .remedy("let them add up to 100"),
        );
    }
    divide_rest(text, &mut zones)?;
    Ok(zones)
}

/// Zones without a size get equal parts of what the others leave; the last one alone stays what is left.
fn divide_rest(text: &str, zones: &mut [Zone]) -> Result<(), Fault> {
    let sizes: f64 = zones
        .iter()
        .map(|zone| match zone.size {
            ZoneSize::Percent(percent) => percent,
            ZoneSize::Bytes(_) | ZoneSize::Rest => 0.0,
        })
        .sum();
    if sizes > 100.0 + ROUNDING {
        return Err(Fault::new(format!("the sizes of `{text}` add up to {sizes} %"))
            .remedy("let them add up to 100 at most"));
    }
    let is_open = |zone: &Zone| zone.size == ZoneSize::Rest;
    let open = zones.iter().filter(|zone| is_open(zone)).count();
    if open == 1 && zones.last().is_some_and(is_open) {
        return Ok(());
    }
    for zone in zones.iter_mut().filter(|zone| is_open(zone)) {
        zone.size = ZoneSize::Percent((100.0 - sizes).max(0.0) / open as f64);
    }
    Ok(())
}

fn percent(text: &str) -> Result<f64, Fault> {
    let value = float(text)?;
    if (0.0..=100.0).contains(&value) {
        Ok(value)
    } else {
        Err(Fault::new(format!("`{}` is not a share in percent", text.trim())).remedy("write 0 to 100"))
    }
}

/// `zoned:60/10:40/90`, or `zoned_abs:60/1g:40/` where sizes are bytes.
pub(crate) fn show_zones(zones: &[Zone]) -> String {
    let absolute = zones.iter().any(|zone| matches!(zone.size, ZoneSize::Bytes(_)));
    let each = zones.iter().map(|zone| match zone.size {
        ZoneSize::Bytes(bytes) => format!(":{}/{}", zone.io_percent, show_size(bytes)),
        ZoneSize::Percent(percent) => format!(":{}/{percent}", zone.io_percent),
        ZoneSize::Rest => format!(":{}/", zone.io_percent),
    });
    let word = if absolute { "zoned_abs" } else { "zoned" };
    format!("{word}{}", each.collect::<String>())
}

#[cfg(test)]
mod tests;
