//! Lists: a value for each direction, ranges, block-size splits, CPUs, file names, percentiles.
//!
//! Data in: text. Data out: vectors and triples. It must not know the options that hold them.

use super::size::{number, positive_size, show_size};
use crate::diagnostic::Fault;
use fathom_core::workload::{PerOp, SplitEntry};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A job may name this many CPUs at most: the kernel's largest configuration.
const MAX_CPUS: u32 = 8192;
/// fio's own limit of entries in a split.
const MAX_SPLIT: usize = 64;

/// One to three values separated by commas, for reads, writes and trims. One value counts for all; with two,
/// trims follow writes; an empty one leaves its direction as it was.
pub(crate) fn per_direction<T: Clone>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Fault>,
) -> Result<PerOp<Option<T>>, Fault> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let one = |field: &str| {
        if field.is_empty() {
            Ok(None)
        } else {
            read(field).map(Some)
        }
    };
    if fields.iter().all(|field| field.is_empty()) {
        return Err(Fault::new("the value is empty"));
    }
    Ok(match fields[..] {
        [all] => {
            let all = one(all)?;
            [all.clone(), all.clone(), all]
        }
        [reads, writes] => {
            let writes = one(writes)?;
            [one(reads)?, writes.clone(), writes]
        }
        [reads, writes, trims] => [one(reads)?, one(writes)?, one(trims)?],
        _ => {
            return Err(Fault::new(format!("`{text}` has {} values", fields.len()))
                .remedy("give at most three: reads, writes, trims"));
        }
    })
}

/// Two sizes joined by `-` or `:`, in any order: the smaller and the larger.
pub(crate) fn range(text: &str, kb_base: u64) -> Result<(u64, u64), Fault> {
    let (a, b) = text.split_once(['-', ':']).ok_or_else(|| {
        Fault::new(format!("`{text}` is not a range")).remedy("write two sizes, such as 4k-64k")
    })?;
    let (a, b) = (positive_size(a, kb_base)?, positive_size(b, kb_base)?);
    Ok((a.min(b), a.max(b)))
}

/// One direction of a split: `4k/60:64k/40`; a size without a share gets its part of what is left.
pub(crate) fn split(text: &str, kb_base: u64) -> Result<Vec<SplitEntry>, Fault> {
    let mut entries: Vec<(u64, Option<u8>)> = Vec::new();
    for part in text.split(':') {
        let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
        let bytes = positive_size(bytes, kb_base)?;
        let share = match share.trim() {
            "" => None,
            share => Some(percent(share)?),
        };
        entries.push((bytes, share));
    }
    if entries.len() > MAX_SPLIT {
        return Err(Fault::new(format!("a split of {} sizes", entries.len()))
            .remedy(format!("give at most {MAX_SPLIT}")));
    }
    fill_shares(text, &entries)
}

fn fill_shares(text: &str, entries: &[(u64, Option<u8>)]) -> Result<Vec<SplitEntry>, Fault> {
    let given: u32 = entries.iter().filter_map(|(_, share)| share.map(u32::from)).sum();
    let open = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if given > 100 {
        return Err(Fault::new(format!("the shares of `{text}` add up to {given} %"))
            .remedy("let them add up to 100"));
    }
    let left = 100 - given;
    if left > 0 && open == 0 {
        return Err(Fault::new(format!("the shares of `{text}` add up to {given} %")).remedy(
            "let them add up to 100, or leave one share empty to take the rest (fio gives it to the last)",
        ));
    }
    // The first open entries take what does not divide.
    let part = left.checked_div(open).unwrap_or(0);
    let mut spare = left.checked_rem(open).unwrap_or(0);
    Ok(entries
        .iter()
        .map(|&(bytes, share)| {
            let percent = share.unwrap_or_else(|| {
                let extra = u32::from(spare > 0);
                spare -= extra;
                (part + extra) as u8
            });
            SplitEntry { bytes, percent }
        })
        .collect())
}

fn percent(text: &str) -> Result<u8, Fault> {
    text.trim_end_matches('%')
        .parse()
        .ok()
        .filter(|&p: &u8| p <= 100)
        .ok_or_else(|| Fault::new(format!("`{text}` is not a share in percent")).remedy("write 0 to 100"))
}

/// CPUs: numbers and ranges separated by commas or colons, `0,2-4`. Ascending, each once.
pub(crate) fn cpu_list(text: &str) -> Result<Vec<u32>, Fault> {
    let mut cpus = BTreeSet::new();
    for part in text.split([',', ':']).map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (Ok(from), Ok(to)) = (from.trim().parse::<u32>(), to.trim().parse::<u32>()) else {
            return Err(Fault::new(format!("`{part}` is not a CPU")).remedy("write numbers, such as 0,2-4"));
        };
        if from > to {
            return Err(Fault::new(format!("the range `{part}` ends before it begins")));
        }
        if to >= MAX_CPUS {
            return Err(Fault::new(format!("there is no CPU {to}")));
        }
        cpus.extend(from..=to);
    }
    Ok(cpus.into_iter().collect())
}

/// CPUs as a bit mask.
pub(crate) fn cpu_mask(text: &str) -> Result<Vec<u32>, Fault> {
    let mask = number(text, 1024)?;
    if mask <= 0 {
        return Err(Fault::new(format!("`{text}` is no mask of CPUs")).remedy("write such as 0x3"));
    }
    Ok((0..63).filter(|bit| mask >> bit & 1 == 1).collect())
}

/// File names separated by colons; `\:` is a colon within a name.
pub(crate) fn paths(text: &str) -> Result<Vec<PathBuf>, Fault> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => {
                name.push(':');
                chars.next();
            }
            ':' => names.push(std::mem::take(&mut name)),
            c => name.push(c),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    if names.is_empty() {
        return Err(Fault::new("no file is named"));
    }
    Ok(names.into_iter().map(PathBuf::from).collect())
}

/// A finite decimal number.
pub(crate) fn float(text: &str) -> Result<f64, Fault> {
    text.trim()
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(|| Fault::new(format!("`{text}` is not a number")).remedy("write a number such as 1.2"))
}

/// Percentiles separated by colons, sorted, each once, of 0 (the least) to 100.
pub(crate) fn ascending_floats(text: &str) -> Result<Vec<f64>, Fault> {
    let mut list = Vec::new();
    for part in text.split(':') {
        let value = float(part)?;
        if !(0.0..=100.0).contains(&value) {
            return Err(Fault::new(format!("`{}` is not a percentile", part.trim()))
                .remedy("write numbers of 0 to 100, such as 50:99:99.9"));
        }
        list.push(value);
    }
    list.sort_by(f64::total_cmp);
    list.dedup();
    Ok(list)
}

/// One value if all are alike, else three, with empty ones where there is none; `None` if there are none.
pub(crate) fn show_per_direction(values: PerOp<Option<String>>) -> Option<String> {
    if values.iter().all(Option::is_none) {
        return None;
    }
    let [reads, writes, trims] = values.map(Option::unwrap_or_default);
    if reads == writes && writes == trims {
        return Some(reads);
    }
    Some(format!("{reads},{writes},{trims}"))
}

/// `min-max`.
pub(crate) fn show_range((min, max): (u64, u64)) -> String {
    format!("{}-{}", show_size(min), show_size(max))
}

/// `size/percent:…`.
pub(crate) fn show_split(entries: &[SplitEntry]) -> String {
    let entry = |entry: &SplitEntry| format!("{}/{}", show_size(entry.bytes), entry.percent);
    entries.iter().map(entry).collect::<Vec<_>>().join(":")
}

/// `0,2-4`: ascending CPUs, neighbours joined; `None` if there are none.
pub(crate) fn show_cpus(cpus: &[u32]) -> Option<String> {
    let run = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(),
    };
    let runs = cpus.chunk_by(|one, next| one + 1 == *next).map(run);
    (!cpus.is_empty()).then(|| runs.collect::<Vec<_>>().join(","))
}

/// Paths joined by colons, with colons in them escaped; `None` if there are none, or one is not text.
pub(crate) fn show_paths(paths: &[PathBuf]) -> Option<String> {
    let name = |path: &PathBuf| Some(path.to_str()?.replace(':', "\\:"));
    let names: Vec<String> = paths.iter().map(name).collect::<Option<_>>()?;
    (!names.is_empty()).then(|| names.join(":"))
}

pub(crate) fn show_floats(list: &[f64]) -> String {
    list.iter().map(f64::to_string).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests;
