//! The table of options: one row says everything that fathom knows about an option.
//!
//! Data in: nothing. Data out: rows, for parsing, help, documentation, flags, completions and the account of
//! what is not carried out. It must not know files, lines or places.

mod buffers;
mod elsewhere;
mod engine;
mod errors;
mod files;
mod identity;
mod logs;
mod network;
mod not_carried_out;
mod pace;
mod pattern;
mod replay;
mod reporting;
mod row;
mod rule;
mod sizes;
mod time;
mod verify;
mod zones;

pub use row::{ChoiceRow, Kind, OptionRow, Support, Topic};
pub(crate) use rule::reads;

use crate::draft::Draft;
use std::sync::LazyLock;

static TABLE: LazyLock<Vec<OptionRow>> = LazyLock::new(|| {
    let topics: [(Topic, &[&[OptionRow]]); 16] = [
        (Topic::Identity, identity::ROWS),
        (Topic::Time, time::ROWS),
        (Topic::Files, files::ROWS),
        (Topic::Pattern, pattern::ROWS),
        (Topic::Sizes, sizes::ROWS),
        (Topic::Buffers, buffers::ROWS),
        (Topic::Engine, engine::ROWS),
        (Topic::Engine, elsewhere::ROWS),
        (Topic::Engine, network::ROWS),
        (Topic::Pace, pace::ROWS),
        (Topic::Verify, verify::ROWS),
        (Topic::Errors, errors::ROWS),
        (Topic::Reporting, reporting::ROWS),
        (Topic::Reporting, logs::ROWS),
        (Topic::Replay, replay::ROWS),
        (Topic::Zones, zones::ROWS),
    ];
    let plain = Draft::default();
    let mut table = Vec::new();
    for (topic, parts) in topics {
        table.extend(
            parts
                .iter()
                .copied()
                .flatten()
                .map(|row| row.under(topic, &plain)),
        );
    }
    table
});

/// All options, by topic.
pub fn table() -> &'static [OptionRow] {
    &TABLE
}

/// The option of this name or alias, as job files need it.
pub fn find_exact(name: &str) -> Option<&'static OptionRow> {
    table().iter().find(|row| row.answers_to(name))
}

/// The option of this name or alias, or the only one that begins so, as command lines allow.
pub fn find(name: &str) -> Option<&'static OptionRow> {
    if let Some(row) = find_exact(name) {
        return Some(row);
    }
    let mut begun = table()
        .iter()
        .filter(|row| row.names().any(|n| n.starts_with(name)));
    match (begun.next(), begun.next()) {
        (Some(row), None) if !name.is_empty() => Some(row),
        _ => None,
    }
}

/// Whether the value of the option of this name, or of the only one that begins so, is for nobody's eyes.
pub fn is_secret(name: &str) -> bool {
    find(name).is_some_and(|row| matches!(row.name, "http_pass" | "http_s3_key"))
}

/// The name or alias nearest to one that does not exist, if any is near enough to be meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    nearest_among(name, || table().iter().flat_map(OptionRow::names))
}

/// As [`nearest`], among any names. A dash is as good as an underscore.
pub(crate) fn nearest_among<'a, I: Iterator<Item = &'a str>>(
    name: &str,
    names: impl Fn() -> I,
) -> Option<&'a str> {
    let name = name.replace('-', "_");
    let plain = |known: &str| known.replace('-', "_");
    // A few letters at most: nobody means `buffer_pattern` by `boof`.
    let limit = (name.len() / 3).clamp(1, 4);
    let same_word = || names().find(|known| plain(known).eq_ignore_ascii_case(&name));
    let by_prefix = || {
        let mut begun = names().filter(|known| plain(known).starts_with(&name));
        match (begun.next(), begun.next()) {
            (Some(known), None) if !name.is_empty() => Some(known),
            _ => None,
        }
    };
    let by_distance = || {
        names()
            // The lengths alone rule most names out.
            .filter(|known| known.len().abs_diff(name.len()) <= limit)
            .map(|known| (distance(&name, &plain(known)), known))
            .filter(|&(distance, _)| distance <= limit && distance < name.len())
            .min_by_key(|&(distance, _)| distance)
            .map(|(_, known)| known)
    };
    same_word().or_else(by_prefix).or_else(by_distance)
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words (optimal
/// string alignment).
pub(crate) fn distance(a: &str, b: &str) -> usize {
    // No option is this long; a hostile name must not cost more than a glance.
    const LONGEST: usize = 40;
    if a.chars().count() > LONGEST || b.chars().count() > LONGEST {
        return usize::MAX;
    }
    strsim::osa_distance(a, b)
}

#[cfg(test)]
mod tests;
