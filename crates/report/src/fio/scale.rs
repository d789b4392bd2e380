//! Numbers in fio's words: `13.2k`, `51.6MiB/s`, `4096B`.
//!
//! Data in: a number and its unit. Data out: at most so many digits of it, the point counted as one.

use std::fmt::Write as _;

/// What a number is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaled {
    /// Nothing: `13.2k`.
    Plain,
    /// Bytes in powers of 1024: `528KiB`.
    Binary,
    /// Bytes in powers of 1000: `541kB`.
    Decimal,
    /// Bits in powers of 1024 or 1000.
    BinaryBits,
    DecimalBits,
}

const PREFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// `number` with at most `figures` digits: divided while it has more, with what is then left of the figures as decimals.
pub fn in_words(number: u64, figures: usize, of: Scaled) -> String {
    let (base, binary) = match of {
        Scaled::Binary | Scaled::BinaryBits => (1024, true),
        Scaled::Plain | Scaled::Decimal | Scaled::DecimalBits => (1000, false),
    };
    let mut number = u128::from(number);
    if matches!(of, Scaled::BinaryBits | Scaled::DecimalBits) {
        number *= 8;
    }
    let (mut rest, mut power) = (0, 0);
    while digits(number) > figures && power + 1 < PREFIXES.len() {
        rest = number % base;
        number /= base;
        power += 1;
    }
    let decimals = if power == 0 {
        0
    } else {
        figures.saturating_sub(digits(number) + 1)
    };
    let mut text = String::new();
    if decimals == 0 {
        let up = power > 0 && rest * 2 >= base;
        let _ = write!(text, "{}", number + u128::from(up));
    } else {
        let scale = 10u128.pow(decimals as u32);
        let fraction = (rest * scale * 2 + base) / (base * 2);
        let (whole, fraction) = (number + fraction / scale, fraction % scale);
        let _ = write!(text, "{whole}.{fraction:0decimals$}");
    }
    match (PREFIXES[power], binary) {
        ("", _) => {}
        (prefix, true) => {
            text += &prefix.to_uppercase();
            text.push('i');
        }
        (prefix, false) => text += prefix,
    }
    text + match of {
        Scaled::Plain => "",
        Scaled::Binary | Scaled::Decimal => "B",
        Scaled::BinaryBits | Scaled::DecimalBits => "bit",
    }
}

fn digits(number: u128) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub name: &'static str,
    pub ns: u64,
}

pub(super) const NSEC: Unit = Unit { name: "nsec", ns: 1 };
pub(super) const USEC: Unit = Unit {
    name: "usec",
    ns: 1_000,
};
pub(super) const MSEC: Unit = Unit {
    name: "msec",
    ns: 1_000_000,
};

/// The unit in which fio tells times from `min` to `max`; with their deviation where that is told too.
pub(super) fn unit_of(min: u64, max: u64, deviation: Option<f64>) -> Unit {
    let spread = |least: f64| deviation.is_none_or(|deviation| deviation > least);
    if min > 2_000_000 && max > 99_999_999 && spread(1e6) {
        MSEC
    } else if min > 2_000 && max > 99_999 && spread(1e3) {
        USEC
    } else {
        NSEC
    }
}

#[cfg(test)]
mod tests;
