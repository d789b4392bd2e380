//! What a modelled machine tells: which limits held I/O back, what its caches did.

use fathom_core::run::{Counted, ModelSummary, Run, SpentCredit};
use fathom_core::units::{Bytes, Nanos, count, three_digits};

/// The machine's own account, where it was a modelled one: a line in all, then one each for credits and caches.
pub(super) fn texts(run: &Run) -> Vec<String> {
    let Some(model) = &run.summary.model else {
        return Vec::new();
    };
    let mut texts = vec![limits(run, model)];
    texts.extend(model.credits.iter().map(credit));
    caches(&mut texts, model);
    texts
}

fn limits(run: &Run, model: &ModelSummary) -> String {
    let ios: u64 = run
        .summary
        .disks
        .iter()
        .map(|disk| disk.read_ios + disk.write_ios)
        .sum();
    if model.held.is_empty() {
        return String::from("model: no limit held anything back");
    }
    let mut held: Vec<_> = model.held.iter().collect();
    held.sort_by_key(|held| std::cmp::Reverse(held.held_ns));
    let parts: Vec<String> = held
        .iter()
        .map(|held| {
            let each = Nanos(held.held_ns / ios.max(1));
            format!("{} {each}", held.limit)
        })
        .collect();
    format!(
        "model: limits held back an I/O of the disk by, on average: {}",
        parts.join(", ")
    )
}

/// When a credit ran out, and the rates before and after.
fn credit(credit: &SpentCredit) -> String {
    let rate = |rate: f64| match credit.counts {
        Counted::IoUnits => with_commas(rate),
        Counted::Bytes => with_commas(rate / 1e6),
    };
    let unit = match credit.counts {
        Counted::IoUnits => "IOPS",
        Counted::Bytes => "MB/s",
    };
    format!(
        "burst credit ({}) ran out: {} {unit} for {}, then {}",
        credit.limit,
        rate(credit.rate_before),
        lasting(credit.lasted_ns),
        rate(credit.rate_after)
    )
}

/// `3,570`: four digits and more are told apart by their last ones here.
fn with_commas(rate: f64) -> String {
    if rate < 100.0 {
        return three_digits(rate);
    }
    let digits = format!("{rate:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

fn caches(texts: &mut Vec<String>, model: &ModelSummary) {
    if model.dirty_peak_bytes > 0 {
        texts.push(format!(
            "page cache: at most {} dirty",
            Bytes(model.dirty_peak_bytes)
        ));
    }
    let reads = model.host_cache_hits + model.host_cache_misses;
    if reads > 0 {
        let share = three_digits(model.host_cache_hits as f64 / reads as f64 * 100.0);
        texts.push(format!(
            "host cache: {share} % of {} reads served",
            count(reads as f64)
        ));
    }
    if model.host_dirty_peak_bytes > 0 {
        texts.push(format!(
            "host cache: at most {} not yet on the disk",
            Bytes(model.host_dirty_peak_bytes)
        ));
    }
    if model.drain_ns > 0 {
        texts.push(format!(
            "{} after the last job until all was on the disk",
            Nanos(model.drain_ns)
        ));
    }
}

#[cfg(test)]
mod tests;
