//! The dashboard of a load.

use super::expr::of;
use super::grafana::{Dashboard, Row, heat, lines, number};
use super::share::{self, On};
use crate::metric;

const BY: &str = "instance, section, op";
const LEGEND: &str = "{{section}} {{op}}";
const NOW: &str = "Of a measured second, which on a modelled disk is one of virtual time; once the load has ended, the mean of all of it.";

pub(super) fn dashboard() -> Dashboard {
    let each = |on| share::load(of, on, BY);
    let all = |on| share::load_or_mean(of, on);
    let quantile = |q| of(metric::LOAD_LATENCY).quantile(q, BY);
    Dashboard {
        uid: "fathom-load",
        title: "fathom: a load",
        about: "Rates and latencies of what fathom runs, replays or sweeps, its limits, and what disturbed it.",
        rows: vec![
            Row {
                title: "Now",
                panels: vec![
                    number("I/Os a second", "iops").about(NOW).of(all(On::Ios), "{{instance}}"),
                    number("Throughput", "Bps").about(NOW).of(all(On::Bytes), "{{instance}}"),
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
                        .of(each(On::Ios), LEGEND)
                        .of(of(metric::LIMIT_IOPS).now(), "limit: {{limit}}"),
                    lines("Throughput, and limits", "Bps")
                        .of(each(On::Bytes), LEGEND)
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
                        .of(share::measured(of(metric::DISTURBANCES).rate().sum_by("instance, cause"), of).times(60.0), "{{cause}}"),
                ],
            },
            Row {
                title: "Course",
                panels: vec![
                    lines("Time since the start", "s").of(of(metric::ELAPSED).now(), "{{instance}}"),
                    lines("Time of disturbances", "percentunit")
                        .about("Longest latencies of disturbed seconds, summed, a second.")
                        .of(share::measured(of(metric::DISTURBED).rate().sum_by("instance, cause"), of), "{{cause}}"),
                ],
            },
        ],
    }
}
