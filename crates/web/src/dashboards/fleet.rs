//! The dashboard of many loads: by the labels `class` and `claim`, which the scrape configuration gives.

use super::expr::of;
use super::grafana::{Dashboard, Row, lines, number};
use super::share::{self, On};
use crate::metric;

const BY: &str = "class, claim";
const EACH: &str = "instance, class, claim";
const LEGEND: &str = "{{class}} {{claim}}";

pub(super) fn dashboard() -> Dashboard {
    let ios = || share::load(of, On::Ios, EACH);
    let bytes = || share::load(of, On::Bytes, EACH);
    let measured = |metric| share::measured(of(metric).rate().sum_by(EACH), of);
    Dashboard {
        uid: "fathom-fleet",
        title: "fathom: a fleet, by class and claim",
        about: "Many disks side by side. The labels class and claim (a storage class and a volume claim of Kubernetes) come from the scrape \
                configuration; without them all is one.",
        rows: vec![
            Row {
                title: "Now",
                panels: vec![
                    number("Under way", "short").of(of(metric::RUNNING).now().sum_by(""), "under way"),
                    number("I/Os a second", "iops").of(ios().sum_by(""), "all"),
                    number("Throughput", "Bps").of(bytes().sum_by(""), "all"),
                    number("Failed I/Os", "short").of(of(metric::LOAD_ERRORS).now().sum_by(""), "all"),
                ],
            },
            Row {
                title: "By class and claim",
                panels: vec![
                    lines("I/Os a second", "iops").of(ios().sum_by(BY), LEGEND),
                    lines("Throughput", "Bps").of(bytes().sum_by(BY), LEGEND),
                    lines("99th percentile", "s").of(of(metric::LOAD_LATENCY).quantile(0.99, BY), LEGEND),
                    lines("Nearest to a limit on I/Os", "percentunit")
                        .about("Of each class and claim the instance that has most of its limit; of several disks that are served live, the disk.")
                        .of(share::nearest(of, On::Ios, EACH).max_by(BY), LEGEND),
                    lines("Least burst credit left", "percentunit")
                        .of(of(metric::CREDIT_LEFT).now().min_by(BY), LEGEND),
                    lines("Disturbances a minute", "short")
                        .of(measured(metric::DISTURBANCES).sum_by(BY).times(60.0), LEGEND),
                ],
            },
            Row {
                title: "Those that stand out",
                panels: vec![
                    lines("Longest latencies", "s").of(
                        of(metric::LOAD_LATENCY_MAX)
                            .now()
                            .max_by(EACH)
                            .top(10),
                        "{{instance}}",
                    ),
                    lines("Most disturbed", "percentunit").of(
                        measured(metric::DISTURBED).top(10),
                        "{{instance}}",
                    ),
                ],
            },
        ],
    }
}
