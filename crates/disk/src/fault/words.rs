//! Faults in words.

use super::{ErrorRule, Fault, FaultError, Scheduled};
use fathom_core::backend::Op;

const KINDS: &str = "stall, slow, errors, ignore-flushes, power-cut, detach, attach or heal";
/// A schedule is read whole: more than anybody writes.
const LINES_MAX: usize = 100_000;
/// A month: longer than a test, and far from where sums overflow.
const TIME_NS_MAX: u64 = 31 * 86_400 * 1_000_000_000;

fn wrong<T>(message: impl Into<String>) -> Result<T, FaultError> {
    Err(FaultError(message.into()))
}

/// The words of a fault, with the disk where one is named: `disk NAME FAULT`.
///
/// # Errors
/// What is wrong, and what goes there.
pub fn parse(text: &str) -> Result<(Option<String>, Fault), FaultError> {
    let mut words = Words(text.split_ascii_whitespace().peekable());
    let disk = if words.take_if("disk") {
        let name = words.next("the name of a disk follows `disk`, as in `disk data stall 3s`")?;
        Some(name.to_owned())
    } else {
        None
    };
    let kind = words.next(&format!("a fault is missing: {KINDS}"))?;
    let fault = match kind {
        "stall" => Fault::Stall {
            for_ns: time(words.next("how long? as in `stall 3s`")?)?,
        },
        "slow" => Fault::Slow {
            permille: factor(words.next("how slow? as in `slow 4x`")?)?,
            for_ns: words.for_time()?,
        },
        "errors" => errors(&mut words)?,
        "ignore-flushes" => Fault::IgnoreFlushes {
            for_ns: words.for_time()?,
        },
        "power-cut" => Fault::PowerCut {
            seed: words.seed()?.unwrap_or(1),
        },
        "detach" => Fault::Detach,
        "attach" => Fault::Attach,
        "heal" => Fault::Heal,
        other => return wrong(format!("`{other}` is no fault: write {KINDS}")),
    };
    match words.0.next() {
        None => Ok((disk, fault)),
        Some(rest) => wrong(format!("`{rest}` does not belong to `{kind}`")),
    }
}

/// The lines of a schedule, in the order of their times.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn parse_schedule(text: &str) -> Result<Vec<Scheduled>, FaultError> {
    let mut schedule = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if number > LINES_MAX {
            return wrong(format!("line {number}: a schedule has at most {LINES_MAX} lines"));
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let at_line = |error: FaultError| FaultError(format!("line {number}: {error}"));
        let (at, rest) = line
            .split_once(|c: char| c.is_ascii_whitespace())
            .unwrap_or((line, ""));
        let at_ns = time_or_zero(at).map_err(at_line)?;
        let (disk, fault) = parse(rest).map_err(at_line)?;
        schedule.push(Scheduled { at_ns, disk, fault });
    }
    schedule.sort_by_key(|scheduled| scheduled.at_ns);
    Ok(schedule)
}

struct Words<'a>(std::iter::Peekable<std::str::SplitAsciiWhitespace<'a>>);

impl<'a> Words<'a> {
    fn next(&mut self, missing: &str) -> Result<&'a str, FaultError> {
        self.0.next().map_or_else(|| wrong(missing), Ok)
    }

    fn take_if(&mut self, word: &str) -> bool {
        self.0.next_if(|next| *next == word).is_some()
    }

    fn for_time(&mut self) -> Result<Option<u64>, FaultError> {
        if !self.take_if("for") {
            return Ok(None);
        }
        time(self.next("how long? as in `for 10s`")?).map(Some)
    }

    fn seed(&mut self) -> Result<Option<u64>, FaultError> {
        if !self.take_if("seed") {
            return Ok(None);
        }
        let word = self.next("a number follows `seed`")?;
        let seed = word.parse();
        seed.map_or_else(
            |_| wrong(format!("`{word}` is no seed: write a whole number")),
            |seed| Ok(Some(seed)),
        )
    }
}

fn errors(words: &mut Words<'_>) -> Result<Fault, FaultError> {
    let op = match words.0.peek().copied() {
        Some("reads") => Some(Op::Read),
        Some("writes") => Some(Op::Write),
        Some("trims") => Some(Op::Trim),
        Some("flushes") => Some(Op::Sync),
        _ => None,
    };
    if op.is_some() {
        words.0.next();
    }
    let range_bytes = if words.take_if("at") {
        Some(range(words.next("where? as in `at 1GiB+64MiB`")?)?)
    } else {
        None
    };
    let per_million = match words.0.next_if(|word| word.ends_with('%')) {
        Some(word) => percent(word)?,
        None => 1_000_000,
    };
    let seed = words.seed()?.unwrap_or(1);
    Ok(Fault::Errors {
        rule: ErrorRule {
            op,
            range_bytes,
            per_million,
            seed,
        },
        for_ns: words.for_time()?,
    })
}

fn percent(word: &str) -> Result<u32, FaultError> {
    let number: Option<f64> = word.strip_suffix('%').and_then(|number| number.parse().ok());
    match number {
        Some(share) if share > 0.0 && share <= 100.0 => Ok((share * 1e4).round().max(1.0) as u32),
        _ => wrong(format!("`{word}` is no share: write above 0% and at most 100%")),
    }
}

fn factor(word: &str) -> Result<u64, FaultError> {
    let number: Option<f64> = word.strip_suffix('x').and_then(|number| number.parse().ok());
    match number {
        Some(factor) if (0.001..=1e6).contains(&factor) => Ok((factor * 1e3).round() as u64),
        _ => wrong(format!("`{word}` is no factor: write such as 4x or 1.5x")),
    }
}

fn range(word: &str) -> Result<(u64, u64), FaultError> {
    let parts = word
        .split_once('+')
        .map(|(offset, len)| (size(offset), size(len)));
    match parts {
        Some((Some(offset), Some(len))) if len > 0 => Ok((offset, len)),
        _ => wrong(format!(
            "`{word}` is no range: write its offset and length, as in 1GiB+64MiB"
        )),
    }
}

/// A size with a binary unit, or in bytes.
fn size(word: &str) -> Option<u64> {
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, unit) = word.split_at(end);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn time(word: &str) -> Result<u64, FaultError> {
    match time_or_zero(word)? {
        0 => wrong(format!("`{word}` is no time at all")),
        time => Ok(time),
    }
}

fn time_or_zero(word: &str) -> Result<u64, FaultError> {
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, unit) = word.split_at(end);
    let unit_ns = match unit {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => 0,
    };
    let time = number.parse::<u64>().ok().filter(|_| unit_ns > 0);
    match time.and_then(|number| number.checked_mul(unit_ns)) {
        Some(time) if time <= TIME_NS_MAX => Ok(time),
        _ => wrong(format!(
            "`{word}` is no time: write a whole number with h, m, s, ms or us, such as 90s (at most 31 days)"
        )),
    }
}
