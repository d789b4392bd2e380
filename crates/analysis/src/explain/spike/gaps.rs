//! When the record lost rows.
//!
//! Data in: what the record says of itself. Data out: for each stream the times of which not all is known. It must not know
//! what the rows would have told.

use super::served::Busy;
use crate::explain::{Facts, Scanned};
use fathom_core::record::StreamKind;
use std::collections::BTreeMap;

/// When each stream lost rows.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    streams: BTreeMap<StreamKind, Busy>,
    /// Of those that tell what threads did.
    host: Busy,
}

impl Gaps {
    pub(super) fn of(facts: &Facts<'_>, scanned: &Scanned) -> Self {
        let mut gaps = BTreeMap::new();
        for stream in &facts.run.summary.streams {
            let kind = stream.kind;
            let counters = scanned.counters.as_ref();
            let told = counters.and_then(|counters| counters.lost_rows.get(&kind));
            let told = told.into_iter().flatten();
            let mut times: Vec<(u64, u64)> = told.map(|lost| (lost.from_ns, lost.to_ns)).collect();
            let last = counters.and_then(|counters| counters.lost_rows_last.get(&kind));
            let in_all = last.map_or(0.0, |(_, in_all)| *in_all);
            // What nobody tells the time of may be missing at any time.
            if stream.dropped as f64 > in_all {
                times.push((0, u64::MAX));
            }
            if !times.is_empty() {
                gaps.insert(kind, Busy::of(times));
            }
        }
        // Who had each CPU is put together from the same events as the stays of tasks.
        if let Some(sched) = gaps.get(&StreamKind::Sched).cloned() {
            let cpus = gaps.remove(&StreamKind::Cpus).unwrap_or_default();
            gaps.insert(StreamKind::Cpus, cpus.joined(&sched));
        }
        let of_host = [StreamKind::Sched, StreamKind::Kernel].into_iter();
        let host = of_host
            .filter_map(|kind| gaps.get(&kind))
            .fold(Busy::default(), |host, gaps| host.joined(gaps));
        Self { streams: gaps, host }
    }

    /// When it is not all known what threads did, within a time, cut to it.
    pub(super) fn of_host(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        self.host.spans(from, to)
    }

    /// Those of one stream within a time, cut to it.
    pub(super) fn spans(&self, kind: StreamKind, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let of_it = self.streams.get(&kind).into_iter();
        of_it.flat_map(move |gaps| gaps.spans(from, to))
    }

    /// How much of a time that is.
    pub(super) fn within_ns(&self, kind: StreamKind, from: u64, to: u64) -> u64 {
        self.streams.get(&kind).map_or(0, |gaps| gaps.within_ns(from, to))
    }

    /// The streams that lost rows within a time, and in how much of it.
    pub(super) fn streams(&self, from: u64, to: u64) -> impl Iterator<Item = (StreamKind, u64)> {
        let each = self.streams.iter();
        let each = each.map(move |(kind, gaps)| (*kind, gaps.within_ns(from, to)));
        each.filter(|(_, ns)| *ns > 0)
    }
}

#[cfg(test)]
mod tests;
