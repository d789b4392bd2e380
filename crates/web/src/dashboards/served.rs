//! The dashboard of a modelled disk that is served live.

use super::expr::{Expr, of};
use super::grafana::{Dashboard, Row, heat, lines, number};
use super::share;
use crate::metric;

const LIMIT: &str = "instance, disk, limit, unit";
const LEGEND: &str = "{{disk}}: {{limit}}";

/// What each limit let through, as a share of its rate.
fn used() -> Expr {
    of(metric::SERVED_TAKEN)
        .rate()
        .over_on(LIMIT, of(metric::SERVED_LIMIT).now())
}

pub(super) fn dashboard() -> Dashboard {
    let ios = || of(metric::LOAD_IOS).rate().sum_by("section, op");
    let bytes = || {
        of(metric::LOAD_BYTES)
            .with(&[("!op", "sync")])
            .rate()
            .sum_by("section, op")
    };
    let latency = |quantile| of(metric::LOAD_LATENCY).quantile(quantile, "section, op");
    let late = |quantile| of(metric::SERVED_LATENESS).quantile(quantile, "instance");
    Dashboard {
        uid: "fathom-served",
        title: "fathom: a modelled disk, served live",
        about: "A disk of a cloud that fathom disk serve answers for in real time: what is asked of it, what its model decides, and how \
                late the server itself is.",
        rows: vec![
            Row {
                title: "Now",
                panels: vec![
                    number("Of the nearest limit", "percentunit")
                        .of(used().max_by("instance"), "{{instance}}"),
                    number("Held by limits", "percentunit")
                        .about("Of the time of I/Os in the last second.")
                        .of(
                            of(metric::SERVED_THROTTLED).now().max_by("instance"),
                            "{{instance}}",
                        ),
                    number("In flight", "short").of(
                        of(metric::SERVED_IN_FLIGHT).now().sum_by("instance"),
                        "{{instance}}",
                    ),
                    number("Least burst credit left", "percentunit")
                        .of(of(metric::CREDIT_LEFT).now().min_by("instance"), "{{instance}}"),
                    number("Valid", "short")
                        .about("0: answers come late by more than a tenth of the median service time (p99).")
                        .of(of(metric::SERVED_VALID).now(), "{{instance}}"),
                    number("Faults", "short")
                        .of(of(metric::SERVED_FAULTS).now().sum_by("instance"), "{{instance}}"),
                ],
            },
            Row {
                title: "What is asked of the disks",
                panels: vec![
                    lines("I/Os a second, and limits", "iops")
                        .of(ios(), "{{section}} {{op}}")
                        .of(of(metric::LIMIT_IOPS).now(), "limit: {{limit}}"),
                    lines("Throughput, and limits", "Bps")
                        .of(bytes(), "{{section}} {{op}}")
                        .of(of(metric::LIMIT_BYTES).now(), "limit: {{limit}}"),
                    lines("Latency", "s")
                        .of(latency(0.5), "{{section}} {{op}} median")
                        .of(latency(0.99), "{{section}} {{op}} p99"),
                    heat("Where latencies lie").of(of(metric::LOAD_LATENCY).buckets(), ""),
                ],
            },
            Row {
                title: "What the model decides",
                panels: vec![
                    lines("Of each limit", "percentunit")
                        .about("Above 1: on burst credit.")
                        .of(used(), LEGEND),
                    lines("I/Os that wait for each limit, on average", "short")
                        .of(of(metric::SERVED_HELD).rate(), LEGEND),
                    lines("Burst credit left", "percentunit").of(of(metric::CREDIT_LEFT).now(), "{{limit}}"),
                    lines("Left in an hour, if it goes on like this", "short")
                        .about("In I/Os or bytes; below 0: it will be spent.")
                        .of(share::credit_in_an_hour(of, "5m"), "{{limit}}"),
                    lines("In flight", "short").of(of(metric::SERVED_IN_FLIGHT).now(), "{{disk}}"),
                    lines("What a power cut could take", "bytes")
                        .of(of(metric::SERVED_UNFLUSHED).now(), "{{disk}}"),
                ],
            },
            Row {
                title: "The server itself",
                panels: vec![
                    lines("Lateness of answers", "s")
                        .about("By the server's own clock.")
                        .of(late(0.5), "median")
                        .of(late(0.99), "p99"),
                    lines("CPU busy on its machine", "percentunit").of(
                        of(metric::CPU)
                            .with(&[("mode", "idle")])
                            .rate()
                            .avg_by("instance")
                            .one_minus(),
                        "{{instance}}",
                    ),
                ],
            },
        ],
    }
}
