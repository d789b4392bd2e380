use super::{Kind, whole_zones};
use crate::pattern::Span;
use crate::testing::job;
use fathom_core::workload::{Mix, ZoneRules};
use std::path::Path;

/// The whole zones of a region of a file with zones of 64 KiB, or what is wrong.
fn rounded(start: u64, bytes: u64, rules: ZoneRules) -> Result<(u64, u64), String> {
    let mut job = job(Mix::Write, 4096);
    job.pattern.zones = Some(rules);
    let span = whole_zones(&job, Path::new("f"), (Kind::Regular, None), Span { start, bytes });
    span.map(|span| (span.start, span.bytes))
        .map_err(|error| error.to_string())
}

#[test]
fn regions_are_whole_zones() {
    let k = 1024;
    let rules = ZoneRules {
        size_bytes: 64 * k,
        ..ZoneRules::default()
    };
    assert_eq!(rounded(0, 1024 * k, rules), Ok((0, 1024 * k)));
    assert_eq!(rounded(0, 1000 * k, rules), Ok((0, 960 * k)));
    assert_eq!(rounded(20 * k, 512 * k, rules), Ok((64 * k, 448 * k)));
    let none = rounded(k, 64 * k, rules).expect_err("no whole zone");
    assert!(none.contains("holds no whole zone"), "{none}");
}

#[test]
fn made_up_zones_need_a_size_that_holds_what_they_hold() {
    let without = rounded(0, 1 << 20, ZoneRules::default()).expect_err("no size");
    assert!(without.contains("give zonesize="), "{without}");
    let rules = ZoneRules {
        size_bytes: 4096,
        capacity_bytes: 8192,
        ..ZoneRules::default()
    };
    let beyond = rounded(0, 1 << 20, rules).expect_err("holds more than it is large");
    assert!(beyond.contains("lower zonecapacity="), "{beyond}");
}
