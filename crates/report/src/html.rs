//! A document as one page that needs nothing else: its style, its scripts and its charts are in it, and it asks no network.
//!
//! Data in: a document, whose texts are not to be trusted. Data out: the text of a file. The template escapes all texts; figures
//! go in as JSON in which nothing can end the element that holds it; a policy in the page forbids it to load anything. It must not
//! know what the document is about.

use crate::document::content::{Block, Chart, Document};
use askama::Template;

/// plotly.js, as the `plotly` crate carries it.
const PLOTLY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plotly.js.zst"));
/// Its length when unpacked.
const PLOTLY_BYTES: &str = env!("PLOTLY_JS_BYTES");

/// The page. Its parts that are not escaped are the program's own.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    style: &'static str,
    plotly: &'a str,
    script: &'static str,
    figures: String,
}

/// The whole page.
///
/// # Panics
/// Never: the script is what the build packed, and the template only writes to a string.
pub(crate) fn render(document: &Document) -> String {
    let page = Page {
        document,
        style: include_str!("../templates/report.css"),
        plotly: &plotly(),
        script: include_str!("../templates/report.js"),
        figures: figures(document),
    };
    page.render().expect("a template that writes to a string")
}

fn plotly() -> String {
    let length = PLOTLY_BYTES.parse().expect("a number that the build wrote");
    let bytes = zstd::bulk::decompress(PLOTLY, length).expect("what the build packed");
    String::from_utf8(bytes).expect("a script in UTF-8")
}

/// All figures as a JSON array, in the order of the charts. `<` is written as an escape, so that no text in them ends their
/// element or begins a comment.
fn figures(document: &Document) -> String {
    let charts = document.sections.iter().flat_map(|section| &section.blocks);
    let charts = charts.filter_map(|block| match block {
        Block::Charts(charts) => Some(charts),
        _ => None,
    });
    let figures: Vec<_> = charts.flatten().map(|chart: &Chart| &chart.figure).collect();
    let text = serde_json::to_string(&figures).expect("figures have only strings for keys");
    text.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
