//! What a modelled machine tells: which limits held I/O back, what its caches did.

use crate::words::{joined, with_commas};
use fathom_core::run::{Counted, ModelSummary, Run, SpentCredit};
use fathom_core::units::{Bytes, Nanos, count, three_digits};

/// The machine's own account, where it was a modelled one: a line in all, then one each for credits and caches.
pub(super) fn texts(run: &Run) -> Vec<String> {
    let Some(model) = &run.summary.model else {
        return Vec::new();
    };
    let mut texts = vec![limits(run, model)];
    texts.extend(model.credits.iter().map(credit));
    texts.extend(caches(model));
    texts
}

fn limits(run: &Run, model: &ModelSummary) -> String {
    let disks = run.summary.disks.iter();
    let ios: u64 = disks.map(|disk| disk.read_ios + disk.write_ios).sum();
    if model.held.is_empty() {
        return String::from("model: no limit held anything back");
    }
    let mut held: Vec<_> = model.held.iter().collect();
    held.sort_by_key(|held| std::cmp::Reverse(held.held_ns));
    let each = held.iter();
    let each = each.map(|held| format!("{} {}", held.limit, Nanos(held.held_ns / ios.max(1))));
    format!(
        "model: limits held back an I/O of the disk by, on average: {}",
        joined(each, ", ")
    )
}

/// When a credit ran out, and the rates before and after.
fn credit(credit: &SpentCredit) -> String {
    let (unit, scale) = match credit.counts {
        Counted::IoUnits => ("IOPS", 1.0),
        Counted::Bytes => ("MB/s", 1e6),
    };
    let rate = |rate: f64| grouped(rate / scale);
    format!(
        "burst credit ({}) ran out: {} {unit} for {}, then {}",
        credit.limit,
        rate(credit.rate_before),
        lasting(credit.lasted_ns),
        rate(credit.rate_after)
    )
}

/// `3,570`: four digits and more are told apart by their last ones here.
fn grouped(rate: f64) -> String {
    if rate < 100.0 {
        return three_digits(rate);
    }
    with_commas(&format!("{rate:.0}"))
}

/// `30 min 2 s`.
fn lasting(ns: u64) -> String {
    let s = (ns + 500_000_000) / 1_000_000_000;
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, _) => Nanos(ns).to_string(),
        (0, min, s) => format!("{min} min {s} s"),
        (h, min, s) => format!("{h} h {min} min {s} s"),
    }
}

fn caches(model: &ModelSummary) -> impl Iterator<Item = String> {
    let reads = model.host_cache_hits + model.host_cache_misses;
    let served = || {
        let share = three_digits(model.host_cache_hits as f64 / reads as f64 * 100.0);
        format!("host cache: {share} % of {} reads served", count(reads as f64))
    };
    let (page, host) = (model.dirty_peak_bytes, model.host_dirty_peak_bytes);
    let drained = || {
        format!(
            "{} after the last job until all was on the disk",
            Nanos(model.drain_ns)
        )
    };
    let texts = [
        (page > 0).then(|| format!("page cache: at most {} dirty", Bytes(page))),
        (reads > 0).then(served),
        (host > 0).then(|| format!("host cache: at most {} not yet on the disk", Bytes(host))),
        (model.drain_ns > 0).then(drained),
    ];
    texts.into_iter().flatten()
}

#[cfg(test)]
mod tests;
