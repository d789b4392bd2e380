//! What was recorded beside the statistics.
//!
//! Data in: a run. Data out: a paragraph, and one for each thing that is missing. It must not know the rows.

use super::Page;
use fathom_core::record::StreamKind;
use fathom_core::run::Run;

/// What became of the streams that were asked for.
pub(super) fn render(page: &mut Page, run: &Run) {
    let texts = texts(run);
    if !texts.is_empty() {
        page.gap();
    }
    for (index, text) in texts.iter().enumerate() {
        page.paragraph(text, if index == 0 { 2 } else { 4 });
    }
}

/// The same: a line in all, then what is missing, indented.
pub(crate) fn texts(run: &Run) -> Vec<String> {
    let streams = &run.summary.streams;
    if streams.is_empty() {
        return Vec::new();
    }
    // What a recording says of itself is a stream of its own, whether or not it was asked for.
    let told = streams.iter().filter(|stream| {
        stream.kind != StreamKind::Counters || stream.rows > 0 || !stream.missing.is_empty()
    });
    let parts = told.map(|stream| {
        if stream.rows == 0 && !stream.missing.is_empty() {
            return format!("{} not recorded", stream.kind.name());
        }
        let kept = format!("{} {}", stream.kind.name(), stream.rows);
        if stream.dropped == 0 {
            kept
        } else {
            format!("{kept} ({} lost)", stream.dropped)
        }
    });
    let parts: Vec<String> = parts.collect();
    let mut texts = vec![format!("recorded, in rows: {}", parts.join(", "))];
    for stream in streams {
        for missing in &stream.missing {
            texts.push(format!("  not recorded ({}): {missing}", stream.kind.name()));
        }
    }
    texts
}
