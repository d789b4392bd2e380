//! A document as one page that needs nothing else: its style, its scripts and its charts are in it, and it asks no network.
//!
//! Data in: a document, whose texts are not to be trusted. Data out: the text of a file. The template escapes all texts; figures
//! go in as JSON in which nothing can end the element that holds it. A policy in the page forbids it to load anything, and lets run and
//! style only what has the digest of the program's own scripts and style: a file is the same each time it is opened, and so has no
//! use for a nonce. It must not know what the document is about.

use crate::document::content::{Block, Chart, Document};
use askama::Template;
use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};

/// plotly.js, as the `plotly` crate carries it.
const PLOTLY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plotly.js.zst"));
/// Its length when unpacked.
const PLOTLY_BYTES: &str = env!("PLOTLY_JS_BYTES");

/// The page. Its parts that are not escaped are the program's own.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    /// What the page may do, by the digests of what does it.
    policy: String,
    style: &'static str,
    plotly: &'a str,
    script: &'static str,
    figures: String,
}

/// How pages look.
pub const STYLE: &str = include_str!("../templates/report.css");
/// How charts on pages look: a function that other scripts on a page call.
pub const CHARTS: &str = include_str!("../templates/charts.js");
/// The page's own script, behind that.
const SCRIPT: &str = concat!(
    include_str!("../templates/charts.js"),
    include_str!("../templates/report.js")
);

/// The whole page.
///
/// # Panics
/// Never: the script is what the build packed, and the template only writes to a string.
pub(crate) fn render(document: &Document) -> String {
    let plotly = plotly();
    let page = Page {
        document,
        // plotly.js puts its rules into the second style, which is empty.
        policy: policy(&[&plotly, SCRIPT], &[STYLE, ""]),
        style: STYLE,
        plotly: &plotly,
        script: SCRIPT,
        figures: figures(document),
    };
    page.render().expect("a template that writes to a string")
}

/// A policy under which these scripts run and these styles apply, and nothing else does or is loaded.
fn policy(scripts: &[&str], styles: &[&str]) -> String {
    let digests = |texts: &[&str]| -> String {
        let each = texts
            .iter()
            .map(|text| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text))));
        each.collect::<Vec<String>>().join(" ")
    };
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; base-uri 'none'; form-action 'none'",
        digests(scripts),
        digests(styles)
    )
}

/// The script that draws charts, plotly.js, as a page may hold it.
///
/// # Panics
/// Never: it is what the build packed.
pub fn plotly() -> String {
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
