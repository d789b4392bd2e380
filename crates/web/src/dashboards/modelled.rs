//! The dashboard of a modelled disk.

use super::expr::of;
use super::grafana::{Dashboard, Row, lines, number};
use super::share::{self, On};
use crate::metric;

const OF_LIMIT: &str =
    "Of the nearest limit; above 1 on burst credit. Once the load has ended, of the whole of it.";

pub(super) fn dashboard() -> Dashboard {
    let load = |on| share::load(of, on, "instance");
    let nearest = |on| share::nearest_or_mean(of, on);
    let rate = |metric| share::measured(of(metric).rate(), of);
    Dashboard {
        uid: "fathom-disk",
        title: "fathom: a modelled disk",
        about: "A disk of a cloud as fathom models it: its limits and what is reached of them, burst credit, the device, the page cache. Rates are \
                those of a second of its own time, of which many may go by between two scrapes.",
        rows: vec![
            Row {
                title: "Limits",
                panels: vec![
                    number("Of the limit on I/Os", "percentunit")
                        .about(OF_LIMIT)
                        .of(nearest(On::Ios), "{{instance}}"),
                    number("Of the limit on bytes", "percentunit")
                        .about(OF_LIMIT)
                        .of(nearest(On::Bytes), "{{instance}}"),
                    lines("I/Os a second, and limits", "iops")
                        .of(load(On::Ios), "load")
                        .of(of(metric::LIMIT_IOPS).now(), "limit: {{limit}}"),
                    lines("Throughput, and limits", "Bps")
                        .of(load(On::Bytes), "load")
                        .of(of(metric::LIMIT_BYTES).now(), "limit: {{limit}}"),
                ],
            },
            Row {
                title: "Burst credit",
                panels: vec![
                    lines("Left", "percentunit").of(of(metric::CREDIT_LEFT).now(), "{{limit}}"),
                    lines("Left in an hour, if it goes on like this", "short")
                        .about("In I/Os or bytes; below 0: it will be spent.")
                        .of(share::credit_in_an_hour(of, "5m"), "{{limit}}"),
                    lines("Change a second", "short").of(share::credit_slope(of, "1m"), "{{limit}}"),
                ],
            },
            Row {
                title: "The device and the page cache",
                panels: vec![
                    lines("Operations a second", "iops")
                        .of(rate(metric::DISK_READS), "{{device}} reads")
                        .of(rate(metric::DISK_WRITES), "{{device}} writes"),
                    lines("Mean number in flight", "short").of(rate(metric::DISK_WEIGHTED), "{{device}}"),
                    lines("Time with I/O in flight", "percentunit").of(rate(metric::DISK_BUSY), "{{device}}"),
                    lines("Waiting to be written", "bytes")
                        .of(of(metric::MEMORY_DIRTY).now(), "dirty")
                        .of(of(metric::MEMORY_WRITEBACK).now(), "being written"),
                ],
            },
        ],
    }
}
