//! The browser's own pages.

use super::listing::{Entry, Filter, Kind, Listed, Listing};
use askama::Template;
use jiff::Timestamp;
use std::sync::Arc;

/// So many entries are shown on one page; filters find the others.
const SHOWN_MAX: usize = 2000;

/// The list.
#[derive(Template)]
#[template(path = "list.html")]
pub(super) struct ListPage<'a> {
    folder: String,
    filter: &'a Filter,
    kinds: [Kind; 4],
    rows: Vec<Row>,
    fitting: usize,
    all: usize,
    is_cut: bool,
    style: &'static str,
    own_style: &'static str,
    nonce: &'a str,
    version: &'a str,
}

/// An entry in words.
struct Row {
    entry: Arc<Entry>,
    started: String,
    name: String,
    iops: String,
    megabytes: String,
    p99: String,
}

impl<'a> ListPage<'a> {
    pub(super) fn new(
        listing: &Listing,
        listed: &Listed,
        filter: &'a Filter,
        nonce: &'a str,
        version: &'a str,
    ) -> Self {
        let fitting: Vec<&Arc<Entry>> = listed.entries.iter().filter(|entry| filter.fits(entry)).collect();
        Self {
            folder: listing.folder().display().to_string(),
            filter,
            kinds: Kind::ALL,
            rows: fitting
                .iter()
                .take(SHOWN_MAX)
                .map(|entry| Row::of(entry))
                .collect(),
            fitting: fitting.len(),
            all: listed.entries.len(),
            is_cut: listed.is_cut,
            style: fathom_report::page::STYLE,
            own_style: STYLE,
            nonce,
            version,
        }
    }
}

const STYLE: &str = include_str!("../../templates/browse.css");

impl Row {
    fn of(entry: &Arc<Entry>) -> Self {
        let number = |value: Option<f64>| value.map_or_else(String::new, in_short);
        Self {
            started: minute(entry.started_unix_ns),
            name: match entry.note.name.as_str() {
                "" => entry.shown.clone(),
                name => name.to_owned(),
            },
            iops: number(entry.iops),
            megabytes: number(entry.bytes_per_second.map(|bytes| bytes / 1e6)),
            p99: number(entry.lat_ns_p99.map(|ns| ns as f64 / 1e6)),
            entry: Arc::clone(entry),
        }
    }
}

/// Three digits that count, or all before the point.
fn in_short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn moment(unix_ns: u64, format: &str) -> String {
    let at = Timestamp::from_nanosecond(i128::from(unix_ns))
        .ok()
        .filter(|_| unix_ns > 0);
    at.map_or_else(String::new, |at| at.strftime(format).to_string())
}

/// The day, in UTC; empty where it is not known.
pub(super) fn day(unix_ns: u64) -> String {
    moment(unix_ns, "%Y-%m-%d")
}

fn minute(unix_ns: u64) -> String {
    moment(unix_ns, "%Y-%m-%d %H:%M")
}

/// Name and note of one.
#[derive(Template)]
#[template(path = "note.html")]
pub(super) struct NotePage<'a> {
    pub entry: &'a Entry,
    pub secret: &'a str,
    pub nonce: &'a str,
    pub version: &'a str,
}

impl NotePage<'_> {
    const STYLE: &'static str = fathom_report::page::STYLE;
    const OWN_STYLE: &'static str = STYLE;
}

/// What went wrong.
#[derive(Template)]
#[template(path = "problem.html")]
pub(super) struct ProblemPage<'a> {
    pub title: &'a str,
    pub why: &'a str,
    pub nonce: &'a str,
    pub version: &'a str,
}

impl ProblemPage<'_> {
    const STYLE: &'static str = fathom_report::page::STYLE;
}
