//! Readers of single values, with the grammar of diskspd's command line.
//!
//! Data in: what is glued to a flag. Data out: a number with its unit settled, or what is wrong with it. They must not
//! know which flag they read. Each takes the whole text; where diskspd reads as far as there are digits and lets the rest
//! go (`-d10x`), here the rest is an error.

use super::profile::{Affinity, Distribution, Range};
use crate::diagnostic::Fault;

/// What a number looks like.
pub(super) const SIZE_WORDS: &str =
    "write a whole number with K, M, G or T (powers of 1024) or b (blocks) behind it, or none";

/// A size in bytes: digits, then `K`, `M`, `G`, `T` or `b` (blocks), in either case.
pub(super) fn size(text: &str, block: u64) -> Result<u64, Fault> {
    let (bytes, rest) = size_prefix(text, block)?;
    if rest.is_empty() {
        Ok(bytes)
    } else {
        Err(Fault::new(format!("`{text}` is no size: `{rest}` is left over")).remedy(SIZE_WORDS))
    }
}

/// A size in bytes, and what follows it.
pub(super) fn size_prefix(text: &str, block: u64) -> Result<(u64, &str), Fault> {
    let (digits, rest) = split_digits(text);
    let wrong = || Fault::new(format!("`{text}` is no size")).remedy(SIZE_WORDS);
    let large = || Fault::new(format!("`{text}` does not fit into 64 bits")).remedy("write a smaller size");
    if digits.is_empty() {
        return Err(wrong());
    }
    let number: u64 = digits.parse().map_err(|_| large())?;
    let (unit, rest) = match rest.chars().next().map(|c| c.to_ascii_uppercase()) {
        Some('K') => (1 << 10, &rest[1..]),
        Some('M') => (1 << 20, &rest[1..]),
        Some('G') => (1 << 30, &rest[1..]),
        Some('T') => (1 << 40, &rest[1..]),
        Some('B') => (block, &rest[1..]),
        _ => (1, rest),
    };
    Ok((number.checked_mul(unit).ok_or_else(large)?, rest))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// A whole number between two, both included. The remedy names them.
pub(super) fn number(text: &str, min: u32, max: u32) -> Result<u32, Fault> {
    let range = || match max {
        u32::MAX => format!("write a whole number of at least {min}"),
        _ => format!("write a whole number from {min} to {max}"),
    };
    if text.is_empty() {
        return Err(Fault::new("its number is missing").remedy(range()));
    }
    let (digits, rest) = split_digits(text);
    match digits.parse::<u32>() {
        Ok(number) if rest.is_empty() && (min..=max).contains(&number) => Ok(number),
        _ => Err(Fault::new(format!("`{text}` is out of its range or no number")).remedy(range())),
    }
}

/// As [`number`], where nothing at all stands for `bare`.
pub(super) fn number_or(text: &str, bare: u32, min: u32, max: u32) -> Result<u32, Fault> {
    if text.is_empty() {
        Ok(bare)
    } else {
        number(text, min, max)
    }
}

/// The largest processor number that diskspd takes: a byte, within its group.
const CPU_MAX: u32 = 255;

/// `0,1,2` or `g0,0,1,g1,0`: processors with the group that stands before them. Nothing, or a bare `g`: no list.
pub(super) fn affinity(text: &str) -> Result<Vec<Affinity>, Fault> {
    if text.is_empty() || text == "g" {
        return Ok(Vec::new());
    }
    let remedy = "write processors as -a0,1,2";
    let mut group: u16 = 0;
    let mut list = Vec::new();
    let mut last_was_group = false;
    for item in text.split(',') {
        last_was_group = item.starts_with('g');
        if let Some(digits) = item.strip_prefix('g') {
            group = number(digits, 0, u32::from(u16::MAX))? as u16;
        } else {
            let cpu = number(item, 0, CPU_MAX)? as u16;
            list.push(Affinity { group, cpu });
        }
    }
    if last_was_group {
        return Err(Fault::new("a group with no processor behind it").remedy(remedy));
    }
    Ok(list)
}

/// The Linux port's processor set: `0-3,7`.
pub(super) fn cpu_set(text: &str) -> Result<Vec<Affinity>, Fault> {
    /// So many processors a machine has at most.
    const LINUX_CPU_MAX: u32 = 8191;
    let mut list = Vec::new();
    for item in text.split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (number(first, 0, LINUX_CPU_MAX)?, number(last, 0, LINUX_CPU_MAX)?);
        if first > last {
            return Err(
                Fault::new(format!("`{item}` runs backwards")).remedy(format!("write {last}-{first}"))
            );
        }
        list.extend((first..=last).map(|cpu| Affinity {
            group: 0,
            cpu: cpu as u16,
        }));
    }
    Ok(list)
}

/// `pct<IO%>/<target%>:…` or `abs<IO%>/<size>:…`.
pub(super) fn distribution(text: &str, block: u64) -> Result<Distribution, Fault> {
    let remedy = "write pct90/10:5/20 (percent of I/O and of the target) or abs90/10G:5/20G (percent of I/O and a size)";
    let (percent, list) = match (text.strip_prefix("pct"), text.strip_prefix("abs")) {
        (Some(list), _) => (true, list),
        (_, Some(list)) => (false, list),
        _ => return Err(Fault::new(format!("`{text}` is no distribution")).remedy(remedy)),
    };
    let range = |item: &str| {
        let (io, target) = item
            .split_once('/')
            .ok_or_else(|| Fault::new(format!("`{item}` has no slash")).remedy(remedy))?;
        let io_percent = number(io, 0, 100)?;
        let target = if percent {
            u64::from(number(target, 1, 100)?)
        } else {
            match size(target, block)? {
                0 => return Err(Fault::new("a range of no bytes").remedy(remedy)),
                bytes => bytes,
            }
        };
        Ok(Range { io_percent, target })
    };
    let ranges = list.split(':').map(range).collect::<Result<Vec<_>, Fault>>()?;
    let whole = if percent {
        Distribution::Percent(ranges)
    } else {
        Distribution::Absolute(ranges)
    };
    Ok(whole.completed())
}
