//! Times in which the disk stands still.
//!
//! Duty: when, and what a clock shows that stands still too. Data in: the flags' text. Data out: stalls, one after the other.
//! It must not know what is delayed.

use crate::clock::{MS, SECOND};

/// One `--stall`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit is last in each name")]
pub(crate) struct Stall {
    /// When the first one begins, after the start.
    first_ns: u64,
    length_ns: u64,
    /// From one begin to the next; `None` for a single one.
    period_ns: Option<u64>,
}

impl Stall {
    /// `every=2s,for=300ms`, with `from=` for the first one (after one period unless said), or `at=5s,for=3s`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (mut every, mut at, mut from, mut length) = (None, None, None, None);
        for part in text.split(',') {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}`: write name=duration"))?;
            let place = match name {
                "every" => &mut every,
                "at" => &mut at,
                "from" => &mut from,
                "for" => &mut length,
                _ => return Err(format!("`{name}`: there are every, for, from and at")),
            };
            if place.replace(duration_ns(value)?).is_some() {
                return Err(format!("`{name}` is given twice"));
            }
        }
        let length_ns = length.filter(|&ns| ns > 0).ok_or("say how long: for=300ms")?;
        match (every, at, from) {
            (Some(period_ns), None, from) if period_ns > length_ns => Ok(Self {
                first_ns: from.unwrap_or(period_ns),
                length_ns,
                period_ns: Some(period_ns),
            }),
            (Some(_), None, _) => Err("`for` must be shorter than `every`".to_owned()),
            (None, Some(first_ns), None) => Ok(Self {
                first_ns,
                length_ns,
                period_ns: None,
            }),
            _ => Err(
                "say when: every=2s, with from=1s for the first one, or at=5s for a single one".to_owned(),
            ),
        }
    }

    /// The first one that ends after `after_ns` (after the start).
    fn next(&self, after_ns: u64) -> Option<(u64, u64)> {
        let end_ns = self.first_ns + self.length_ns;
        let start_ns = match self.period_ns {
            _ if end_ns > after_ns => self.first_ns,
            Some(period_ns) => self.first_ns + ((after_ns - end_ns) / period_ns + 1) * period_ns,
            None => return None,
        };
        Some((start_ns, start_ns + self.length_ns))
    }
}

/// `250us`, `300ms`, `2s`, `5m`.
fn duration_ns(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "us" => 1_000,
        "ms" => MS,
        "s" => SECOND,
        "m" => 60 * SECOND,
        _ => return Err(format!("`{text}`: write a whole number and us, ms, s or m")),
    };
    let ns = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor));
    // A century: sums of some of them stay far from overflow.
    ns.filter(|&ns| ns < 1 << 61)
        .ok_or_else(|| format!("`{text}`: write a whole number, and not so large a one"))
}

/// All stalls of a disk, on its clock.
#[derive(Debug, Clone)]
pub(crate) struct Stalls {
    all: Vec<Stall>,
    origin_ns: u64,
}

impl Stalls {
    /// `origin_ns` is the start.
    pub(crate) fn new(all: &[Stall], origin_ns: u64) -> Self {
        Self {
            all: all.to_vec(),
            origin_ns,
        }
    }

    /// Whether they leave time to work in: then those that overlap come to an end.
    pub(crate) fn leave_time(all: &[Stall]) -> bool {
        let parts = all
            .iter()
            .filter_map(|stall| Some((stall.length_ns, stall.period_ns?)));
        parts
            .map(|(length, period)| length as f64 / period as f64)
            .sum::<f64>()
            < 0.999
    }

    /// Begin and end of the first one that ends after `after_ns`; those that overlap or touch are one.
    pub(crate) fn next(&self, after_ns: u64) -> Option<(u64, u64)> {
        let after_ns = after_ns.saturating_sub(self.origin_ns);
        let each = |after_ns| self.all.iter().filter_map(move |stall| stall.next(after_ns));
        let (start_ns, mut end_ns) = each(after_ns).min()?;
        while let Some(later) = each(end_ns)
            .filter(|next| next.0 <= end_ns)
            .map(|next| next.1)
            .max()
        {
            end_ns = later;
        }
        Some((self.origin_ns + start_ns, self.origin_ns + end_ns))
    }
}

/// A clock that stands still during stalls: on it the limits run and latency passes.
#[derive(Debug)]
pub(crate) struct DiskClock {
    stalls: Stalls,
    /// The end of the last stall that is wholly past.
    past_ns: u64,
    /// How long it stood still until then.
    still_ns: u64,
}

impl DiskClock {
    pub(crate) fn new(stalls: Stalls) -> Self {
        Self {
            stalls,
            past_ns: 0,
            still_ns: 0,
        }
    }

    /// What it shows at `now_ns`, which must not go back.
    pub(crate) fn at(&mut self, now_ns: u64) -> u64 {
        loop {
            match self.stalls.next(self.past_ns) {
                Some((start_ns, end_ns)) if end_ns <= now_ns => {
                    self.still_ns += end_ns - start_ns;
                    self.past_ns = end_ns;
                }
                Some((start_ns, _)) if start_ns < now_ns => return start_ns - self.still_ns,
                _ => return now_ns - self.still_ns,
            }
        }
    }

    /// When it shows `disk_ns`, which must not be before the last [`DiskClock::at`].
    pub(crate) fn when(&self, disk_ns: u64) -> u64 {
        let (mut from_ns, mut at_ns) = (self.past_ns, disk_ns + self.still_ns);
        while let Some((start_ns, end_ns)) = self.stalls.next(from_ns).filter(|next| next.0 < at_ns) {
            at_ns += end_ns - start_ns;
            from_ns = end_ns;
        }
        at_ns
    }
}

#[cfg(test)]
mod tests;
