//! Options: zoned devices and strided access.

use super::not_carried_out::{AMOUNT, BOOL, SIZE, not_carried_out, number, text, words};
use super::row::OptionRow as Row;
use super::row::Support::{self, NotYet};

const OF_ZONES: Support = Support::NoEffect("it belongs to zonemode");

pub(super) static ROWS: &[&[Row]] = &[not_carried_out! {
    "zonemode", words!("none|strided|zbd"), "none", "strided",
        "Whether and how the region is divided into zones"
        => NotYet("use a job for each zone with offset and size");
    "zonesize", SIZE, "0", "1m", "Bytes used of a zone"
        => NotYet("use a job for each zone with offset and size");
    "zonerange", SIZE, "0", "1m", "Size of a zone" => OF_ZONES;
    "zonecapacity", SIZE, "0", "1m", "Usable bytes of a zone" => OF_ZONES;
    "zoneskip", AMOUNT, "0", "1m", "Bytes between zones"
        => NotYet("use rw=read:SIZE, which skips SIZE after each I/O");
    "read_beyond_wp", BOOL, "0", "1", "Read behind a zone's write pointer" => OF_ZONES;
    "max_open_zones", number(0, 4096), "0", "8", "Zones open at once" => OF_ZONES;
    "job_max_open_zones", number(0, 4096), "0", "8", "Zones open at once, for each worker" => OF_ZONES;
    "ignore_zone_limits", BOOL, "0", "1", "Do not heed the device's limits" => OF_ZONES;
    "zone_reset_threshold", text("share"), "", "0.5", "When zones are reset" => OF_ZONES;
    "zone_reset_frequency", text("share"), "", "0.1", "How often zones are reset" => OF_ZONES;
}];
