//! What was recorded beside the statistics.
//!
//! Data in: a run. Data out: a paragraph, and one for each thing that is missing. It must not know the rows.

use super::Page;
use fathom_core::run::Run;

/// What became of the streams that were asked for.
pub(super) fn render(page: &mut Page, run: &Run) {
    let streams = &run.summary.streams;
    if streams.is_empty() {
        return;
    }
    page.gap();
    let parts = streams.iter().map(|stream| {
        let kept = format!("{} {}", stream.kind.name(), stream.rows);
        if stream.dropped == 0 {
            kept
        } else {
            format!("{kept} ({} lost)", stream.dropped)
        }
    });
    let parts: Vec<String> = parts.collect();
    page.paragraph(&format!("recorded, in rows: {}", parts.join(", ")), 2);
    for stream in streams {
        for missing in &stream.missing {
            page.paragraph(&format!("  not recorded ({}): {missing}", stream.kind.name()), 4);
        }
    }
}
