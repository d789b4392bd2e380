//! The dashboard of a modelled disk.

use super::expr::of;
use super::grafana::{Dashboard, Row, lines, number};
use crate::metric;

pub(super) fn dashboard() -> Dashboard {
    let data = [("!op", "sync")];
    let ios = || of(metric::LOAD_IOS).with(&data).rate().sum_by("instance");
    let bytes = || of(metric::LOAD_BYTES).with(&data).rate().sum_by("instance");
    let least = |limit| of(limit).now().min_by("instance");
    Dashboard {
        uid: "fathom-disk",
        title: "fathom: a modelled disk",
        about: "A disk of a cloud as fathom models it: its limits and what is reached of them, burst credit, the device, the page cache.",
        rows: vec![
            Row {
                title: "Limits",
                panels: vec![
                    number("Of the limit on I/Os", "percentunit").of(
                        ios().over_on("instance", least(metric::LIMIT_IOPS)),
                        "{{instance}}",
                    ),
                    number("Of the limit on bytes", "percentunit").of(
                        bytes().over_on("instance", least(metric::LIMIT_BYTES)),
                        "{{instance}}",
                    ),
                    lines("I/Os a second, and limits", "iops")
                        .of(ios(), "load")
                        .of(of(metric::LIMIT_IOPS).now(), "limit: {{limit}}"),
                    lines("Throughput, and limits", "Bps")
                        .of(bytes(), "load")
                        .of(of(metric::LIMIT_BYTES).now(), "limit: {{limit}}"),
                ],
            },
            Row {
                title: "Burst credit",
                panels: vec![
                    lines("Left", "percentunit").of(of(metric::CREDIT_LEFT).now(), "{{limit}}"),
                    lines("Left in an hour, if it goes on like this", "short")
                        .about("In I/Os or bytes; below 0: it will be spent.")
                        .of(
                            of(metric::CREDIT_LEFT_AMOUNT).over("5m").in_seconds(3600),
                            "{{limit}}",
                        ),
                    lines("Change a second", "short")
                        .of(of(metric::CREDIT_LEFT_AMOUNT).over("1m").slope(), "{{limit}}"),
                ],
            },
            Row {
                title: "The device and the page cache",
                panels: vec![
                    lines("Operations a second", "iops")
                        .of(of(metric::DISK_READS).rate(), "{{device}} reads")
                        .of(of(metric::DISK_WRITES).rate(), "{{device}} writes"),
                    lines("Mean number in flight", "short")
                        .of(of(metric::DISK_WEIGHTED).rate(), "{{device}}"),
                    lines("Time with I/O in flight", "percentunit")
                        .of(of(metric::DISK_BUSY).rate(), "{{device}}"),
                    lines("Waiting to be written", "bytes")
                        .of(of(metric::MEMORY_DIRTY).now(), "dirty")
                        .of(of(metric::MEMORY_WRITEBACK).now(), "being written"),
                ],
            },
        ],
    }
}
