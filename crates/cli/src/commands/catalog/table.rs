//! A listing for people: the columns that fit, and what to know of them.
//!
//! Data in: columns, rows, a width. Data out: text. It must not choose rows.

use crate::args::catalog::Listing;
use fathom_model::catalog::{Column, Listed, Unit, Value};
use fathom_report::wrap;
use std::collections::BTreeSet;

/// Between two columns.
const GAP: usize = 2;

/// The longest line of text: longer ones are hard to read.
const LINE: usize = 100;
/// The highest rank of a column.
const RANKS: u8 = 4;

/// A column of the table: of the listing's column `name`, headed `heading`; those with a higher `rank` go first where
/// room is short.
struct Shown {
    name: &'static str,
    heading: &'static str,
    rank: u8,
}

const fn shown(name: &'static str, heading: &'static str, rank: u8) -> Shown {
    Shown { name, heading, rank }
}

const DISKS: [Shown; 9] = [
    shown("name", "disk", 0),
    shown("size", "GiB", 0),
    shown("iops", "IOPS", 0),
    shown("mbps", "MB/s", 0),
    shown("burst_iops", "burst IOPS", 1),
    shown("burst_mbps", "MB/s", 1),
    shown("burst", "burst", 1),
    shown("price", "USD/month", 0),
    shown("caching", "host cache", 2),
];

const VMS: [Shown; 13] = [
    shown("name", "virtual machine", 0),
    shown("vcpus", "vCPUs", 0),
    shown("memory", "GiB", 0),
    shown("disks", "disks", 0),
    shown("premium", "premium", 3),
    shown("iops", "IOPS", 0),
    shown("mbps", "MB/s", 0),
    shown("burst_iops", "burst IOPS", 2),
    shown("burst_mbps", "MB/s", 2),
    shown("cached_iops", "cached IOPS", 4),
    shown("cached_mbps", "MB/s", 4),
    shown("cache", "cache GiB", 4),
    shown("price", "USD/hour", 0),
];

const LIMITS: [Shown; 7] = [
    shown("name", "virtual machine", 0),
    shown("vcpus", "vCPUs", 1),
    shown("read_iops", "read IOPS", 0),
    shown("write_iops", "write IOPS", 0),
    shown("read_mbps", "read MB/s", 0),
    shown("write_mbps", "write MB/s", 0),
    shown("together", "together", 2),
];

/// What is to be known of all rows of a catalogue.
pub(super) struct About {
    /// Where the limits of machines are, if not in their rows.
    pub(super) limits: Option<String>,
    /// Where the rows are from.
    pub(super) sources: String,
}

/// The table and its footer.
pub(super) fn text(
    listing: Listing,
    columns: &[Column],
    rows: &[Listed<'_>],
    width: usize,
    about: &About,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let all: &[Shown] = match listing {
        Listing::Vms => &VMS,
        Listing::Limits => &LIMITS,
        Listing::Disks | Listing::Sources => &DISKS,
    };
    let cells: Vec<Vec<String>> = all.iter().map(|shown| cells(shown, columns, rows)).collect();
    let chosen = fitting(all, &cells, width);
    let family = place(columns, "family");
    let mut before = None;
    let mut text = line(&chosen, &cells, 0);
    for (index, row) in rows.iter().enumerate() {
        let of = family.map(|at| row.values[at]);
        if let (Some(Value::Text(name)), true) = (of, of != before) {
            text.push_str(name);
            text.push('\n');
        }
        before = of;
        text.push_str(&line(&chosen, &cells, index + 1));
    }
    text.push('\n');
    let left_out: Vec<&str> = (0..all.len())
        .filter(|place| !chosen.contains(place))
        .map(|place| all[place].name)
        .collect();
    for sentence in footer(listing, columns, rows, &left_out, about) {
        for line in wrap(&sentence, width.min(LINE), 0) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

fn place(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

/// A column's heading and its cells.
fn cells(shown: &Shown, columns: &[Column], rows: &[Listed<'_>]) -> Vec<String> {
    let mut cells = vec![shown.heading.to_owned()];
    let Some(at) = place(columns, shown.name) else {
        return cells;
    };
    let size_min = place(columns, "size_min");
    let price_gib = place(columns, "price_gib");
    cells.extend(rows.iter().map(|row| {
        let least = size_min.and_then(|at| number(row.values[at]));
        let size = place(columns, "size").and_then(|at| number(row.values[at]));
        let flex = least.is_some() && least != size;
        match (shown.name, row.values[at]) {
            ("size", Value::Number(most)) if flex => format!("{}–{most}", least.unwrap_or(0.0)),
            ("iops" | "mbps", Value::Number(most)) if flex => format!("to {most}"),
            ("price", Value::None) => match price_gib.map(|at| row.values[at]) {
                Some(Value::Number(price)) => format!("{price:.3}/GiB"),
                _ => String::from("not known"),
            },
            // A month's price in cents, an hour's in tenths of them.
            ("price", Value::Number(price)) if price_gib.is_some() => format!("{price:.2}"),
            ("name", Value::Text(name)) if least.is_none() => short_name(name).to_owned(),
            (_, value) => cell(value, columns[at].unit),
        }
    }));
    cells
}

/// As a target's `vm=` takes it.
fn short_name(name: &str) -> &str {
    name.strip_prefix("Standard_").unwrap_or(name)
}

fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

fn cell(value: Value<'_>, unit: Unit) -> String {
    match (value, unit) {
        (Value::NotKnown, _) => String::from("not known"),
        (Value::None, _) => String::from("–"),
        (Value::Text(text), _) => text.to_owned(),
        (Value::Flag(true), _) => String::from("yes"),
        (Value::Flag(false), _) => String::from("no"),
        (Value::Number(number), Unit::Usd) => format!("{number:.3}"),
        (Value::Number(number), _) if number.fract() == 0.0 => number.to_string(),
        (Value::Number(number), _) => format!("{number:.1}"),
    }
}

fn width_of(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// The columns that fit into `width`, in order: all of the first rank, and of each further rank all or none.
fn fitting(all: &[Shown], cells: &[Vec<String>], width: usize) -> Vec<usize> {
    let of_rank = |rank: u8| (0..all.len()).filter(move |&place| all[place].rank == rank);
    let taken = |places: &[usize]| {
        places
            .iter()
            .map(|&place| width_of(&cells[place]) + GAP)
            .sum::<usize>()
    };
    let mut chosen: Vec<usize> = of_rank(0).collect();
    for rank in 1..=RANKS {
        let with: Vec<usize> = chosen.iter().copied().chain(of_rank(rank)).collect();
        if taken(&with) <= width + GAP {
            chosen = with;
        }
    }
    chosen.sort_unstable();
    chosen
}

/// One line of the table: the first column to the left, numbers to the right.
fn line(chosen: &[usize], cells: &[Vec<String>], row: usize) -> String {
    let cell = |(index, &place): (usize, &usize)| {
        let width = width_of(&cells[place]);
        let cell = &cells[place][row];
        match index {
            0 => format!("{cell:width$}"),
            _ => format!("{:GAP$}{cell:>width$}", ""),
        }
    };
    let text: String = chosen.iter().enumerate().map(cell).collect();
    format!("{}\n", text.trim_end())
}

/// What to know of the table.
fn footer(
    listing: Listing,
    columns: &[Column],
    rows: &[Listed<'_>],
    left_out: &[&str],
    about: &About,
) -> Vec<String> {
    let values = |name: &str| -> String {
        let at = place(columns, name);
        let values = rows.iter().filter_map(|row| {
            let Some(Value::Text(text)) = at.map(|at| row.values[at]) else {
                return None;
            };
            Some(text)
        });
        let distinct: BTreeSet<&str> = values.collect();
        distinct.into_iter().collect::<Vec<_>>().join("; ")
    };
    let (one, many, limits) = match listing {
        Listing::Vms => ("size", "sizes", "Limits without host cache"),
        Listing::Limits => ("row", "rows", "Limits of all disks of a family on a machine"),
        Listing::Disks | Listing::Sources => ("disk", "disks", "Limits without burst, then with"),
    };
    let noun = if rows.len() == 1 { one } else { many };
    let mut sentences = vec![format!("{} {noun}. {limits}; MB/s: 10^6 bytes.", rows.len())];
    if !left_out.is_empty() {
        sentences.push(format!(
            "Columns that do not fit: {} (a wider terminal, --csv or --json has them).",
            left_out.join(", ")
        ));
    }
    let (region, date) = (values("price_region"), values("price_date"));
    if !region.is_empty() {
        sentences.push(format!(
            "Prices: USD, {region}, pay as you go, without taxes and transactions; read {date}."
        ));
    }
    sentences.extend(about.limits.clone().filter(|_| listing == Listing::Vms));
    sentences.push(about.sources.clone());
    sentences
}
