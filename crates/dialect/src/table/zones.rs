//! Options: zoned devices and strided access.

use super::row::OptionRow as Row;
use super::rule::{Choice, Rule, field, reads};
use crate::diagnostic::Fault;
use crate::draft::ZoneMode;

/// The largest number of open zones that fio takes.
const OPEN_MAX: i64 = 4096;

pub(super) static ROWS: &[&[Row]] = &[&[
    Row::new(
        "zonemode",
        Rule::Choice(&[
            Choice::new("none", |d| d.zones.mode = ZoneMode::None),
            Choice::new("strided", |d| d.zones.mode = ZoneMode::Strided),
            Choice::new("zbd", |d| d.zones.mode = ZoneMode::Heeded),
        ]),
        "Whether the region is gone through zone by zone, or the zones of a zoned device are heeded",
    )
    .default("none")
    .example("strided"),
    Row::new(
        "zonesize",
        Rule::Size(0, u64::MAX, field!(zones.size)),
        "Bytes done in a zone before the next begins; with zbd, the size of a zone where the device has none",
    )
    .default("0")
    .example("1m"),
    Row::new(
        "zonerange",
        Rule::Size(0, u64::MAX, field!(zones.range)),
        "Size of a zone; 0: zonesize",
    )
    .default("0")
    .example("1m"),
    Row::new(
        "zoneskip",
        Rule::Size(0, u64::MAX, field!(zones.skip)),
        "Bytes between the end of a zone and the next one",
    )
    .default("0")
    .example("1m"),
    Row::new(
        "zonecapacity",
        Rule::Size(0, u64::MAX, field!(zones.rules.capacity_bytes)),
        "What of a zone can be written, where the device has none; 0: all",
    )
    .default("0")
    .example("1m"),
    Row::new(
        "read_beyond_wp",
        Rule::Bool(field!(zones.rules.reads_beyond)),
        "Read behind write pointers too",
    )
    .default("0")
    .example("1"),
    Row::new(
        "max_open_zones",
        Rule::Number(0, OPEN_MAX, field!(zones.rules.max_open as u32)),
        "Zones written in part, for all workers of a device; 0: as many as it allows",
    )
    .default("0")
    .example("8"),
    Row::new(
        "job_max_open_zones",
        Rule::Number(0, OPEN_MAX, field!(zones.rules.max_open_per_worker as u32)),
        "Zones that a worker writes to at a time; 0: any number",
    )
    .default("0")
    .example("8"),
    Row::new(
        "ignore_zone_limits",
        Rule::Bool(field!(zones.rules.ignores_limits)),
        "Do not heed the device's limits",
    )
    .default("0")
    .example("1"),
    Row::new(
        "zone_reset_threshold",
        Rule::Text("share", reads!(zones.rules.reset_above_share, share), |d| {
            shown(d.zones.rules.reset_above_share)
        }),
        "Empty zones early once more than this share of the region is written",
    )
    .example("0.5"),
    Row::new(
        "zone_reset_frequency",
        Rule::Text("share", reads!(zones.rules.reset_share, share), |d| {
            shown(d.zones.rules.reset_share)
        }),
        "The share of writes that empty their zone then",
    )
    .example("0.1"),
]];

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, Fault> {
    let number: Option<f64> = text.trim().parse().ok();
    number
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| Fault::new(format!("`{text}` is no share")).remedy("write a number from 0 to 1"))
}

fn shown(share: f64) -> Option<String> {
    (share > 0.0).then(|| share.to_string())
}
