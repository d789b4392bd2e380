//! Options: zoned devices and strided access.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, Rule};

const OF_ZONES: Support = Support::NoEffect("it belongs to zonemode");

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "zonemode",
        Rule::Choice(&[Choice::nothing("none|strided|zbd", Support::Exact)]),
        "Whether and how the region is divided into zones",
    )
    .default("none")
    .example("strided")
    .support(Support::NotYet("use a job for each zone with offset and size")),
    Row::new(
        "zonesize",
        Rule::Size(0, u64::MAX, Field::ignored()),
        "Bytes used of a zone",
    )
    .default("0")
    .example("1m")
    .support(Support::NotYet("use a job for each zone with offset and size")),
    Row::new(
        "zonerange",
        Rule::Size(0, u64::MAX, Field::ignored()),
        "Size of a zone",
    )
    .default("0")
    .example("1m")
    .support(OF_ZONES),
    Row::new(
        "zonecapacity",
        Rule::Size(0, u64::MAX, Field::ignored()),
        "Usable bytes of a zone",
    )
    .default("0")
    .example("1m")
    .support(OF_ZONES),
    Row::new("zoneskip", Rule::Amount(Field::ignored()), "Bytes between zones")
        .default("0")
        .example("1m")
        .support(Support::NotYet(
            "use rw=read:SIZE, which skips SIZE after each I/O",
        )),
    Row::new(
        "read_beyond_wp",
        Rule::ignored_bool(),
        "Read behind a zone's write pointer",
    )
    .default("0")
    .support(OF_ZONES),
    Row::new(
        "max_open_zones",
        Rule::Number(0, 4096, Field::ignored()),
        "Zones open at once",
    )
    .default("0")
    .example("8")
    .support(OF_ZONES),
    Row::new(
        "job_max_open_zones",
        Rule::Number(0, 4096, Field::ignored()),
        "Zones open at once, for each worker",
    )
    .default("0")
    .example("8")
    .support(OF_ZONES),
    Row::new(
        "ignore_zone_limits",
        Rule::ignored_bool(),
        "Do not heed the device's limits",
    )
    .default("0")
    .support(OF_ZONES),
    Row::new(
        "zone_reset_threshold",
        Rule::ignored_text("share"),
        "When zones are reset",
    )
    .example("0.5")
    .support(OF_ZONES),
    Row::new(
        "zone_reset_frequency",
        Rule::ignored_text("share"),
        "How often zones are reset",
    )
    .example("0.1")
    .support(OF_ZONES),
];
