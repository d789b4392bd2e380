//! Whole numbers and sizes, with fio's units.
//!
//! Data in: text and the base of `k` (`kb_base`). Data out: numbers. It must not know files or devices: a
//! percentage stays one.

use super::expression;
use crate::diagnostic::Fault;
use fathom_core::workload::Amount;

/// The factor of a size's unit. With `kb_base` 1024, fio inverts the units of the standard: `k`, `kb` and
/// `ki` are 1024, and `kib` is 1000; with 1000 it is the other way round (measured with fio 3.33).
fn unit(name: &str, kb_base: u64) -> Option<u64> {
    if matches!(name, "" | "b") {
        return Some(1);
    }
    let power = match name.as_bytes()[0] {
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        b'p' => 5,
        _ => return None,
    };
    let base = match &name[1..] {
        "" | "b" | "i" => kb_base,
        "ib" => {
            if kb_base == 1024 {
                1000
            } else {
                1024
            }
        }
        _ => return None,
    };
    Some(base.pow(power))
}

/// Whether the text uses a unit that means the opposite of what it says (`4KiB` is 4000 bytes).
pub(crate) fn inverted_unit(text: &str, kb_base: u64) -> bool {
    kb_base == 1024
        && text
            .to_ascii_lowercase()
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|word| word.len() == 3 && word.ends_with("ib") && unit(word, kb_base).is_some())
}

fn not_a_number(text: &str) -> Fault {
    Fault::new(format!("`{text}` is not a size"))
        .remedy("write a whole number with an optional unit b, k, m, g, t or p, such as 4096 or 4k")
}

/// Splits `0x1f` or `123k` into its value and its unit.
fn digits(text: &str) -> Option<(u64, &str)> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (body, radix) = hex.map_or((text, 10), |body| (body, 16));
    let end = body.find(|c: char| !c.is_digit(radix)).unwrap_or(body.len());
    let (number, rest) = body.split_at(end);
    Some((u64::from_str_radix(number, radix).ok()?, rest))
}

/// The factor of the unit that `rest` begins with, and whether it is nothing but that. As fio, which drops what it does not
/// understand.
fn leading_unit(rest: &str, kb_base: u64) -> (u64, bool) {
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    match unit(&rest[..end].to_ascii_lowercase(), kb_base) {
        Some(factor) => (factor, end == rest.len()),
        None => (1, false),
    }
}

/// `1.5m`: fio would read 1, which nobody means.
fn fraction(text: &str, kb_base: u64) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let (factor, whole) = leading_unit(&text[end..], kb_base);
    let bytes = number * factor as f64;
    (whole && bytes < i64::MAX as f64).then_some(bytes as u64)
}

/// What of `text` is read where that is not all of it; `None`: all of it is, or it is no size. For a warning.
pub(crate) fn read_in_part(text: &str, kb_base: u64) -> Option<u64> {
    let (value, rest) = digits(text.trim())?;
    let (_, whole) = leading_unit(rest, kb_base);
    let reads_all = whole || rest.starts_with('.') || matches!(rest.trim(), "%" | "z" | "Z");
    (!reads_all && value > 0)
        .then(|| size(text, kb_base).ok())
        .flatten()
}

/// A size in bytes: `4096`, `0x1000`, `4k`, `(4k*2)`, `0.5m`. As in fio, what stands behind a number and its unit is dropped;
/// [`read_in_part`] tells.
pub(crate) fn size(text: &str, kb_base: u64) -> Result<u64, Fault> {
    let text = text.trim();
    if text.starts_with('(') {
        return expression::evaluate_whole(text, 1.0, &|name| {
            unit(name, kb_base).map(|factor| factor as f64)
        });
    }
    let (value, rest) = digits(text).ok_or_else(|| not_a_number(text))?;
    if rest.starts_with('.') {
        return fraction(text, kb_base).ok_or_else(|| not_a_number(text));
    }
    let (factor, _) = leading_unit(rest, kb_base);
    value
        .checked_mul(factor)
        .filter(|&bytes| i64::try_from(bytes).is_ok())
        .ok_or_else(|| Fault::new(format!("`{text}` is more than 2^63 bytes")))
}

/// A size of at least one byte.
pub(crate) fn positive_size(text: &str, kb_base: u64) -> Result<u64, Fault> {
    match size(text, kb_base)? {
        0 => Err(Fault::new("a size of 0 is not possible here").remedy("write at least 1")),
        bytes => Ok(bytes),
    }
}

/// A whole number, which may be negative and may carry a size's unit (`1k` I/Os are 1024).
pub(crate) fn number(text: &str, kb_base: u64) -> Result<i64, Fault> {
    let text = text.trim();
    let (negative, body) = text.strip_prefix('-').map_or((false, text), |body| (true, body));
    let value = size(body, kb_base).map_err(|_| {
        Fault::new(format!("`{text}` is not a whole number")).remedy("write a number such as 16")
    })?;
    let value = value as i64;
    Ok(if negative { -value } else { value })
}

/// A seed: any number of 64 bits, decimal or with `0x`.
pub(crate) fn seed(text: &str) -> Result<u64, Fault> {
    match digits(text.trim()) {
        Some((value, "")) => Ok(value),
        _ => Err(Fault::new(format!("`{text}` is not a seed")).remedy("write a number from 0 to 2^64 - 1")),
    }
}

/// A size or a percentage.
pub(crate) fn amount(text: &str, kb_base: u64) -> Result<Amount, Fault> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        let value: u8 =
            percent.trim().parse().ok().filter(|&p| p <= 100).ok_or_else(|| {
                Fault::new(format!("`{text}` is not a percentage")).remedy("write 0% to 100%")
            })?;
        return Ok(Amount::Percent(value));
    }
    if text.ends_with(['z', 'Z']) {
        return Err(
            Fault::new(format!("`{text}` counts zones, which are not supported yet"))
                .remedy("give the size in bytes"),
        );
    }
    size(text, kb_base).map(Amount::Bytes)
}

/// A size with the largest unit that divides it.
pub(crate) fn show_size(bytes: u64) -> String {
    for (unit, shift) in [("t", 40), ("g", 30), ("m", 20), ("k", 10)] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

pub(crate) fn show_amount(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => show_size(bytes),
        Amount::Percent(percent) => format!("{percent}%"),
    }
}

#[cfg(test)]
mod tests;
