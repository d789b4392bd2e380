//! A recording that a Prometheus server has: the counters of one disk of a machine, from scrape to scrape.
//!
//! Data in: a server's address, a machine, a span of time. Data out: the same as of a run directory that has counters alone.

use super::recorded::{Origin, Recorded};
use crate::args::plan::PlanArgs;
use crate::commands::explain::{server, span_of};
use anyhow::{Context as _, bail};
use fathom_core::record::CounterRow;
use fathom_core::units::Nanos;
use fathom_plan::layout::GIB;
use fathom_plan::seen::spans::{self, Spans};
use fathom_plan::seen::{Recording, Seen, Source};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// How far it is looked back, unless something is said: loads differ over a day.
const BACK: Nanos = Nanos::from_secs(24 * 3600);
/// Over how much the I/Os that stand for counters are spread, where no room is asked for.
const VOLUME_BYTES: u64 = 64 * GIB;
/// Metrics whose growth says how much a disk was used.
const IOS: [&str; 2] = [
    "node_disk_reads_completed_total",
    "node_disk_writes_completed_total",
];

impl Recorded {
    /// Asks the server at `url` for the machine of `args`.
    ///
    /// # Errors
    /// It cannot be asked, or knows nothing to plan from.
    pub(in crate::commands::plan) fn of_server(args: &PlanArgs, url: &str) -> anyhow::Result<Self> {
        let instance = args.instance.as_deref().context("--instance is asked for")?;
        let span = span_of((args.since, args.until), BACK, Timestamp::now()).context("--since, --until")?;
        let history = server(url, args.prometheus_token.as_deref())?.disks(instance, span)?;
        let used = used(&history.rows);
        let device = chosen(&used, args.device.as_deref(), instance)?;
        let mut spans = Spans::default();
        spans.counters(&history.rows, |of| of == device);
        let spans = spans.finish();
        let start_ns = spans.first().map_or(0, |span| span.from_ns);
        let seen = spans::seen(&spans, Seen::new(Source::Counters, start_ns));
        if seen.total().ios() == 0 {
            bail!("--device {device}: no read or write of it is in that time: there is nothing to plan from");
        }
        let recording = Recording {
            name: format!(
                "{instance}, as {url} has it every {}",
                Nanos::from_secs(history.step_s)
            ),
            seen,
            aside: used
                .iter()
                .map(|(name, _)| name.clone())
                .filter(|name| *name != device)
                .collect(),
            devices: vec![device],
            dropped: 0,
            above_cache: false,
        };
        Ok(Self {
            origin: Origin::Sums {
                volume_bytes: args.gib.unwrap_or(VOLUME_BYTES),
            },
            start_ns,
            recording,
            spans,
            replayed: true,
        })
    }
}

/// The disks that did anything, with their I/Os, the busiest first.
fn used(rows: &[CounterRow]) -> Vec<(String, f64)> {
    let mut by_device: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| IOS.contains(&&*row.metric)) {
        let (last, grown) = by_device
            .entry((&*row.metric, &*row.labels))
            .or_insert((row.value, 0.0));
        // A counter that goes back began anew.
        *grown += (row.value - *last).max(0.0);
        *last = row.value;
    }
    let mut used: BTreeMap<String, f64> = BTreeMap::new();
    for ((_, labels), (_, grown)) in by_device {
        let device = labels
            .strip_prefix("device=\"")
            .and_then(|rest| rest.strip_suffix('"'));
        if let Some(device) = device.filter(|_| grown > 0.0) {
            *used.entry(device.to_owned()).or_default() += grown;
        }
    }
    let mut used: Vec<(String, f64)> = used.into_iter().collect();
    used.sort_by(|a, b| b.1.total_cmp(&a.1));
    used
}

/// The disk that is meant: the one that is named, or the only one in use.
fn chosen(used: &[(String, f64)], named: Option<&str>, instance: &str) -> anyhow::Result<String> {
    let list = || {
        let names: Vec<&str> = used.iter().map(|(name, _)| name.as_str()).take(8).collect();
        names.join(", ")
    };
    match (named, used) {
        (_, []) => bail!("--instance {instance}: no disk of it read or wrote anything in that time"),
        (Some(name), used) if used.iter().any(|(known, _)| known == name) => Ok(name.to_owned()),
        (Some(name), _) => {
            bail!(
                "--device {name}: in that time {instance} used {}, the busiest first",
                list()
            )
        }
        (None, [(only, _)]) => Ok(only.clone()),
        (None, _) => bail!(
            "--instance {instance}: it used several disks, the busiest first {}: say with --device which one is planned for \
             (one that lies over others, as dm-0 over sdc, counts the same I/O again)",
            list()
        ),
    }
}
