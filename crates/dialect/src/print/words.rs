//! Values as job files write them.

use fathom_core::units::Nanos;
use fathom_core::workload::{
    Amount, BlockSize, Distribution, ErrorRule, Fallocate, FileChoice, Mix, Pattern, PerOp, SyncMode,
    VerifyAlgorithm, Zone, ZoneSize,
};
use std::fmt::Write as _;
use std::path::PathBuf;

/// A size with the largest unit that divides it.
pub(super) fn size(bytes: u64) -> String {
    for (unit, shift) in [("t", 40), ("g", 30), ("m", 20), ("k", 10)] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

pub(super) fn amount(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => size(bytes),
        Amount::Percent(percent) => format!("{percent}%"),
    }
}

/// A time with the largest unit that divides it.
pub(super) fn time(time: Nanos) -> String {
    let ns = time.get();
    for (unit, factor) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if ns.is_multiple_of(factor) {
            return format!("{}{unit}", ns / factor);
        }
    }
    format!("{ns}ns")
}

/// One value if all are alike, else three, with empty ones where there is none; `None` if there are none.
pub(super) fn per_direction(values: PerOp<Option<String>>) -> Option<String> {
    let [a, b, c] = values;
    match (a, b, c) {
        (None, None, None) => None,
        (Some(a), b, c) if Some(&a) == b.as_ref() && b == c => Some(a),
        (a, b, c) => Some(format!(
            "{},{},{}",
            a.unwrap_or_default(),
            b.unwrap_or_default(),
            c.unwrap_or_default()
        )),
    }
}

/// `min-max` of a range.
pub(super) fn range(block: &BlockSize) -> Option<String> {
    match block {
        BlockSize::Range { min, max, .. } => Some(format!("{}-{}", size(*min), size(*max))),
        _ => None,
    }
}

/// `size/percent:…` of a split.
pub(super) fn split(block: &BlockSize) -> Option<String> {
    let BlockSize::Split(entries) = block else {
        return None;
    };
    let parts: Vec<String> = entries
        .iter()
        .map(|e| format!("{}/{}", size(e.bytes), e.percent))
        .collect();
    Some(parts.join(":"))
}

/// `rw` with its `:N`.
pub(super) fn direction(pattern: &Pattern) -> String {
    let word = match pattern.mix {
        Mix::Read => "read",
        Mix::Write => "write",
        Mix::Trim => "trim",
        Mix::ReadWrite { .. } => "rw",
        Mix::TrimWrite => "trimwrite",
    };
    let mut text = format!("{}{word}", if pattern.random { "rand" } else { "" });
    if pattern.random && pattern.run_length > 1 {
        let _ = write!(text, ":{}", pattern.run_length);
    } else if !pattern.random && pattern.skip_bytes != 0 {
        let sign = if pattern.skip_bytes < 0 { "-" } else { "" };
        let _ = write!(text, ":{sign}{}", size(pattern.skip_bytes.unsigned_abs()));
    }
    text
}

pub(super) fn distribution(distribution: &Distribution) -> String {
    let (word, center) = match *distribution {
        Distribution::Uniform => return "random".to_owned(),
        Distribution::Zipf { theta, center } => (format!("zipf:{theta}"), center),
        Distribution::Pareto { h, center } => (format!("pareto:{h}"), center),
        Distribution::Normal {
            deviation_percent,
            center,
        } => (format!("normal:{deviation_percent}"), center),
        Distribution::Zones(ref zones) => return self::zones(zones),
    };
    center.map_or(word.clone(), |center| format!("{word}:{center}"))
}

/// `zoned:60/10:40/90`, or `zoned_abs:60/1g:40/` where sizes are bytes.
fn zones(zones: &[Zone]) -> String {
    let absolute = zones.iter().any(|zone| matches!(zone.size, ZoneSize::Bytes(_)));
    let each = zones.iter().map(|zone| match zone.size {
        ZoneSize::Bytes(bytes) => format!(":{}/{}", zone.io_percent, size(bytes)),
        ZoneSize::Percent(percent) => format!(":{}/{percent}", zone.io_percent),
        ZoneSize::Rest => format!(":{}/", zone.io_percent),
    });
    let word = if absolute { "zoned_abs" } else { "zoned" };
    format!("{word}{}", each.collect::<String>())
}

/// `0,2-4`: ascending CPUs, neighbours joined.
pub(super) fn cpus(cpus: &[u32]) -> String {
    let mut text = String::new();
    let mut i = 0;
    while i < cpus.len() {
        let mut end = i;
        while end + 1 < cpus.len() && cpus[end + 1] == cpus[end] + 1 {
            end += 1;
        }
        let comma = if i == 0 { "" } else { "," };
        let _ = match end - i {
            0 => write!(text, "{comma}{}", cpus[i]),
            _ => write!(text, "{comma}{}-{}", cpus[i], cpus[end]),
        };
        i = end + 1;
    }
    text
}

/// Paths joined by colons, with colons in them escaped; `None` if one is not text.
pub(super) fn paths(paths: &[PathBuf]) -> Option<String> {
    let names: Option<Vec<String>> = paths
        .iter()
        .map(|p| Some(p.to_str()?.replace(':', "\\:")))
        .collect();
    names.map(|names| names.join(":"))
}

/// Bytes as hexadecimal digits.
pub(super) fn pattern(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("0x"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) const fn sync_mode(mode: SyncMode) -> &'static str {
    match mode {
        SyncMode::None => "none",
        SyncMode::Sync => "sync",
        SyncMode::DataSync => "dsync",
    }
}

pub(super) const fn fallocate(fallocate: Fallocate) -> &'static str {
    match fallocate {
        Fallocate::None => "none",
        Fallocate::Native => "native",
        Fallocate::Posix => "posix",
        Fallocate::Keep => "keep",
        Fallocate::Truncate => "truncate",
    }
}

pub(super) const fn file_choice(choice: FileChoice) -> &'static str {
    match choice {
        FileChoice::RoundRobin => "roundrobin",
        FileChoice::Random => "random",
        FileChoice::Sequential => "sequential",
    }
}

pub(super) const fn algorithm(algorithm: VerifyAlgorithm) -> &'static str {
    match algorithm {
        VerifyAlgorithm::Crc32c => "crc32c",
        VerifyAlgorithm::Md5 => "md5",
        VerifyAlgorithm::Xxhash => "xxhash",
        VerifyAlgorithm::Sha256 => "sha256",
        VerifyAlgorithm::Pattern => "pattern",
    }
}

/// The word for an error rule; `None` for a combination without one.
pub(super) const fn errors(rule: ErrorRule) -> Option<&'static str> {
    match (rule.read, rule.write, rule.verify) {
        (false, false, false) => Some("none"),
        (true, false, false) => Some("read"),
        (false, true, false) => Some("write"),
        (true, true, false) => Some("io"),
        (false, false, true) => Some("verify"),
        (true, true, true) => Some("all"),
        _ => None,
    }
}
