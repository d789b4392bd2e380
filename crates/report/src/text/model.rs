//! What a modelled machine tells: which limits held I/O back, what its caches did.

use super::Page;
use fathom_core::run::{ModelSummary, Run};
use fathom_core::units::{Bytes, Nanos, count, three_digits};

/// The machine's own account, where it was a modelled one.
pub(super) fn render(page: &mut Page, run: &Run) {
    let Some(model) = &run.summary.model else { return };
    page.gap();
    limits(page, run, model);
    caches(page, model);
}

fn limits(page: &mut Page, run: &Run, model: &ModelSummary) {
    let ios: u64 = run
        .summary
        .disks
        .iter()
        .map(|disk| disk.read_ios + disk.write_ios)
        .sum();
    if model.held.is_empty() {
        page.paragraph("model: no limit held anything back", 4);
        return;
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
    let text = format!(
        "model: limits held back an I/O of the disk by, on average: {}",
        parts.join(", ")
    );
    page.paragraph(&text, 4);
}

fn caches(page: &mut Page, model: &ModelSummary) {
    if model.dirty_peak_bytes > 0 {
        let text = format!("  page cache: at most {} dirty", Bytes(model.dirty_peak_bytes));
        page.paragraph(&text, 4);
    }
    let reads = model.host_cache_hits + model.host_cache_misses;
    if reads > 0 {
        let share = three_digits(model.host_cache_hits as f64 / reads as f64 * 100.0);
        let text = format!("  host cache: {share} % of {} reads served", count(reads as f64));
        page.paragraph(&text, 4);
    }
    if model.host_dirty_peak_bytes > 0 {
        let text = format!(
            "  host cache: at most {} not yet on the disk",
            Bytes(model.host_dirty_peak_bytes)
        );
        page.paragraph(&text, 4);
    }
    if model.drain_ns > 0 {
        let text = format!(
            "  {} after the last job until all was on the disk",
            Nanos(model.drain_ns)
        );
        page.paragraph(&text, 4);
    }
}

#[cfg(test)]
mod tests;
