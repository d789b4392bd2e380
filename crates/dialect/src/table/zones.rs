//! Options: zoned devices and strided access.

use super::not_carried_out::{BOOL, SIZE, not_carried_out, number, text};
use super::row::OptionRow as Row;
use super::row::Support::{self, NotYet};
use super::rule::{Choice, Rule, field};

const OF_ZONES: Support = Support::NoEffect("it belongs to zonemode=zbd");

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "zonemode",
            Rule::Choice(&[
                Choice::new("none", |d| d.zones.strided = false),
                Choice::new("strided", |d| d.zones.strided = true),
                Choice::nothing(
                    "zbd",
                    NotYet("zoned devices are not known: use zonemode=strided, or a job for each zone"),
                ),
            ]),
            "Whether the region is gone through zone by zone",
        )
        .default("none")
        .example("strided"),
        Row::new(
            "zonesize",
            Rule::Size(0, u64::MAX, field!(zones.size)),
            "Bytes done in a zone before the next begins",
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
    ],
    not_carried_out! {
    "zonecapacity", SIZE, "0", "1m", "Usable bytes of a zone" => OF_ZONES;
    "read_beyond_wp", BOOL, "0", "1", "Read behind a zone's write pointer" => OF_ZONES;
    "max_open_zones", number(0, 4096), "0", "8", "Zones open at once" => OF_ZONES;
    "job_max_open_zones", number(0, 4096), "0", "8", "Zones open at once, for each worker" => OF_ZONES;
    "ignore_zone_limits", BOOL, "0", "1", "Do not heed the device's limits" => OF_ZONES;
    "zone_reset_threshold", text("share"), "", "0.5", "When zones are reset" => OF_ZONES;
    "zone_reset_frequency", text("share"), "", "0.1", "How often zones are reset" => OF_ZONES;
    },
];
