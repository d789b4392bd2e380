//! The dashboard of a load.

use super::expr::of;
use super::grafana::{Dashboard, Row, heat, lines, number};
use crate::metric;

const BY: &str = "instance, section, op";
const LEGEND: &str = "{{section}} {{op}}";

pub(super) fn dashboard() -> Dashboard {
    let data = [("!op", "sync")];
    let ios = || of(metric::LOAD_IOS).with(&data).rate();
    let bytes = || of(metric::LOAD_BYTES).with(&data).rate();
    let quantile = |q| of(metric::LOAD_LATENCY).quantile(q, BY);
    Dashboard {
        uid: "fathom-load",
        title: "fathom: a load",
        about: "Rates and latencies of what fathom runs, replays or sweeps, its limits, and what disturbed it.",
        rows: vec![
            Row {
                title: "Now",
                panels: vec![
                    number("I/Os a second", "iops").of(ios().sum_by("instance"), "{{instance}}"),
                    number("Throughput", "Bps").of(bytes().sum_by("instance"), "{{instance}}"),
                    number("99th percentile", "s").of(of(metric::LOAD_LATENCY).quantile(0.99, "instance"), "{{instance}}"),
                    number("Failed I/Os", "short").of(of(metric::LOAD_ERRORS).now().sum_by("instance"), "{{instance}}"),
                    number("Done", "percentunit").of(of(metric::DONE).now(), "{{group}}"),
                    number("Workers", "short").of(of(metric::WORKERS).now(), "{{group}}"),
                ],
            },
            Row {
                title: "Rates",
                panels: vec![
                    lines("I/Os a second, and limits", "iops")
                        .about("Limits are there where they are known: of a modelled disk, or of a machine that says what it is.")
                        .of(ios().sum_by(BY), LEGEND)
                        .of(of(metric::LIMIT_IOPS).now(), "limit: {{limit}}"),
                    lines("Throughput, and limits", "Bps")
                        .of(bytes().sum_by(BY), LEGEND)
                        .of(of(metric::LIMIT_BYTES).now(), "limit: {{limit}}"),
                ],
            },
            Row {
                title: "Latency",
                panels: vec![
                    lines("Percentiles", "s")
                        .about("From native histograms where the server keeps them, else from classic buckets, which are coarse.")
                        .of(quantile(0.5), "p50 {{section}} {{op}}")
                        .of(quantile(0.99), "p99 {{section}} {{op}}")
                        .of(quantile(0.999), "p99.9 {{section}} {{op}}")
                        .of(of(metric::LOAD_LATENCY_MAX).now(), "longest {{section}} {{op}}"),
                    heat("Where latencies lie").of(of(metric::LOAD_LATENCY).buckets(), "{{le}}"),
                    lines("Due and not sent", "short")
                        .about("Of an open loop: what the disk kept from being sent.")
                        .of(of(metric::LOAD_BACKLOG).now(), "{{section}}"),
                    lines("Disturbances a minute", "short")
                        .about("Seconds with an I/O far slower than usual, by cause as far as counters tell.")
                        .of(of(metric::DISTURBANCES).rate().sum_by("cause").times(60.0), "{{cause}}"),
                ],
            },
            Row {
                title: "Course",
                panels: vec![
                    lines("Time since the start", "s").of(of(metric::ELAPSED).now(), "{{instance}}"),
                    lines("Time of disturbances", "percentunit")
                        .about("Longest latencies of disturbed seconds, summed, a second.")
                        .of(of(metric::DISTURBED).rate().sum_by("cause"), "{{cause}}"),
                ],
            },
        ],
    }
}
