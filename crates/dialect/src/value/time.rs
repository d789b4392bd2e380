//! Times, with fio's units.
//!
//! Data in: text and the unit of a bare number, which differs from option to option. Data out: nanoseconds.
//! It must not know a clock.

use super::expression;
use crate::diagnostic::Fault;
use fathom_core::units::Nanos;

/// The unit that a bare number has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Seconds,
    Microseconds,
}

impl TimeUnit {
    const fn nanos(self) -> u64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Microseconds => 1_000,
        }
    }
    /// Its name in help texts.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Microseconds => "microseconds",
        }
    }
}

fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "d" => 86_400_000_000_000,
        "h" => 3_600_000_000_000,
        "m" => 60_000_000_000,
        "s" | "sec" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1_000,
        // Not fio's; without it a workload of another origin could not be printed exactly.
        "ns" => 1,
        _ => return None,
    })
}

/// A time: `30`, `5m`, `100ms`, `(1h-90s)`. Inside parentheses a bare number counts microseconds, as in fio.
pub(crate) fn time(text: &str, bare: TimeUnit) -> Result<Nanos, Fault> {
    let text = text.trim();
    if text.starts_with('(') {
        // In microseconds, so that a bare factor stays one: (5*1s) is five seconds.
        let factor = |name: &str| {
            if name.is_empty() {
                Some(1.0)
            } else {
                unit(name).map(|ns| ns as f64 / 1e3)
            }
        };
        return expression::evaluate_whole(text, 1e3, &factor).map(Nanos);
    }
    let wrong = || {
        Fault::new(format!("`{text}` is not a time")).remedy(format!(
            "write a whole number with d, h, m, s, ms or us, such as 90s; without a unit it counts {}",
            bare.name()
        ))
    };
    if text.contains(':') {
        return clock(text).ok_or_else(wrong);
    }
    if text.contains('.') {
        return fraction(text, bare).ok_or_else(wrong);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, name) = text.split_at(end);
    let value: u64 = number.parse().map_err(|_| wrong())?;
    let factor = if name.is_empty() {
        bare.nanos()
    } else {
        unit(&name.to_ascii_lowercase()).ok_or_else(wrong)?
    };
    // 2^63 ns are 292 years; beyond that sums of times could overflow.
    match value.checked_mul(factor) {
        Some(nanos) if i64::try_from(nanos).is_ok() => Ok(Nanos(nanos)),
        _ => Err(Fault::new(format!("`{text}` is more than 292 years"))),
    }
}

/// `[[days:]hours:]minutes:seconds`.
fn clock(text: &str) -> Option<Nanos> {
    /// Of seconds, minutes, hours, days, in seconds.
    const FACTORS: [u64; 4] = [1, 60, 3600, 86_400];
    let parts: Vec<&str> = text.split(':').rev().collect();
    if parts.len() > FACTORS.len() {
        return None;
    }
    let mut seconds = 0u64;
    for (part, factor) in parts.iter().zip(FACTORS) {
        seconds = seconds.checked_add(part.parse::<u64>().ok()?.checked_mul(factor)?)?;
    }
    seconds.checked_mul(1_000_000_000).map(Nanos)
}

/// `0.5s`: fio would read the part before the point, which nobody means.
fn fraction(text: &str, bare: TimeUnit) -> Option<Nanos> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, name) = text.split_at(end);
    let factor = match name {
        "" => bare.nanos(),
        name => unit(&name.to_ascii_lowercase())?,
    };
    let number: f64 = number.parse().ok()?;
    let nanos = number * factor as f64;
    (0.0..i64::MAX as f64)
        .contains(&nanos)
        .then_some(Nanos(nanos as u64))
}

/// A time as a flag outside the table of options takes it: `90s`, `15m`, `24h`; without a unit it counts seconds.
///
/// # Errors
/// What is wrong with it, and how to write it. A time of zero is wrong as well.
pub fn duration(text: &str) -> Result<Nanos, String> {
    let positive = |time: Nanos| match time {
        Nanos(0) => Err(Fault::new(format!("`{text}` is no time at all")).remedy("write such as 90s")),
        time => Ok(time),
    };
    time(text, TimeUnit::Seconds).and_then(positive).map_err(|fault| {
        let Fault { message, remedy } = fault;
        remedy.map_or(message.clone(), |remedy| format!("{message}: {remedy}"))
    })
}

/// A time, or two joined by a dash: from and to.
pub(crate) fn time_range(text: &str, bare: TimeUnit) -> Result<(Nanos, Nanos), Fault> {
    let (from, to) = match text.split_once('-') {
        Some((from, to)) if !text.starts_with('(') => (time(from, bare)?, time(to, bare)?),
        _ => (time(text, bare)?, time(text, bare)?),
    };
    if from > to {
        return Err(Fault::new(format!("the range `{text}` ends before it begins")));
    }
    Ok((from, to))
}

/// A time with the largest unit that divides it.
pub(crate) fn show_time(time: Nanos) -> String {
    let ns = time.get();
    for (unit, factor) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if ns.is_multiple_of(factor) {
            return format!("{}{unit}", ns / factor);
        }
    }
    format!("{ns}ns")
}

pub(crate) fn show_time_range((from, to): (Nanos, Nanos)) -> String {
    if from == to {
        return show_time(from);
    }
    format!("{}-{}", show_time(from), show_time(to))
}

#[cfg(test)]
mod tests;
