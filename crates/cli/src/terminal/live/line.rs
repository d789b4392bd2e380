//! One line about one group.
//!
//! Data in: where the group stands. Data out: a line that fits. It must not know where it is shown.

use fathom_core::units::{Bytes, Nanos, binary_rate, count, three_digits};
use fathom_engine::run::GroupProgress;
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;
/// Without a completion for so long, a group is said to be silent.
const SILENT: Nanos = Nanos::from_secs(3);
/// Longer names are cut.
const NAME_MAX: usize = 24;
/// The names of the directions, long and short.
const OPS: [(&str, &str); 3] = [("read", "r"), ("write", "w"), ("trim", "t")];

/// Which group of how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub number: usize,
    pub of: usize,
}

/// What there is to say.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub group: &'a GroupProgress,
    pub position: Option<Position>,
    /// Since the end of the last second in which anything completed.
    pub silent: Nanos,
}

/// How much of it is said.
#[derive(Debug, Clone, Copy)]
struct Shape {
    bar: usize,
    /// The bar tells it, too, but not to the percent.
    percent: bool,
    rates: Rates,
    p99: bool,
    name: usize,
}

/// How the rates of the directions are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rates {
    /// `read 76.5k IOPS 299 MiB/s  write 33.1k IOPS 129 MiB/s`
    Words,
    /// `r 76.5k 299 MiB/s  w 33.1k 129 MiB/s`
    Letters,
    /// `r 76.5k 299 w 33.1k 129 MiB/s`: one unit for both.
    OneUnit,
    /// `r 76.5k w 33.1k IOPS`
    IopsOnly,
}

/// From the fullest to the shortest. Bar and time left stay to the last: they are what one looks for.
const SHAPES: [Shape; 8] = [
    shape(24, true, Rates::Words, true, NAME_MAX),
    shape(12, true, Rates::Words, true, NAME_MAX),
    shape(12, true, Rates::Letters, true, 16),
    shape(10, true, Rates::Letters, true, 12),
    shape(10, false, Rates::OneUnit, true, 12),
    shape(8, false, Rates::OneUnit, true, 8),
    shape(8, false, Rates::IopsOnly, true, 8),
    shape(6, false, Rates::IopsOnly, false, 4),
];

const fn shape(bar: usize, percent: bool, rates: Rates, p99: bool, name: usize) -> Shape {
    Shape {
        bar,
        percent,
        rates,
        p99,
        name,
    }
}

impl View<'_> {
    /// The fullest line of at most `columns` columns, less one for the cursor.
    pub(super) fn terminal_line(&self, columns: usize) -> String {
        let room = columns.saturating_sub(1);
        let mut shapes = SHAPES.iter().map(|shape| self.shaped(*shape));
        let fits = shapes.find(|line| line.chars().count() <= room);
        fits.unwrap_or_else(|| self.shaped(SHAPES[SHAPES.len() - 1]).chars().take(room).collect())
    }

    fn shaped(&self, shape: Shape) -> String {
        let mut parts = vec![self.name(shape.name)];
        if let Some(fraction) = self.group.fraction {
            parts.push(bar(fraction, shape.bar));
            // Without a bar there is no end in sight, and no share either.
            parts.extend(shape.percent.then(|| format!("{:3.0} %", fraction * 100.0)));
        }
        parts.extend(self.group.eta.map(|eta| format!("{} left", left(eta))));
        let separator = match shape.rates {
            Rates::Words | Rates::Letters => "  ",
            Rates::OneUnit | Rates::IopsOnly => " ",
        };
        parts.push(self.state(shape.rates, shape.p99, separator));
        parts.join(" ")
    }

    /// A line for a log: `0:11 randread: 43 %, 0:12 left, read 76.5k IOPS 299 MiB/s, p99 1.23 ms`.
    pub(super) fn plain_line(&self, elapsed: Nanos) -> String {
        let mut parts = Vec::new();
        parts.extend(
            self.group
                .fraction
                .map(|fraction| format!("{:.0} %", fraction * 100.0)),
        );
        parts.extend(self.group.eta.map(|eta| format!("{} left", left(eta))));
        parts.push(self.state(Rates::Words, true, ", "));
        format!(
            "{} {}: {}",
            clock(elapsed.0 / SECOND_NS),
            self.name(usize::MAX),
            parts.join(", ")
        )
    }

    fn name(&self, max: usize) -> String {
        let name = cut(&self.group.name, max);
        match self.position {
            Some(Position { number, of }) => format!("{number}/{of} {name}"),
            None => name,
        }
    }

    /// The last second: rates and latency, or why there are none.
    fn state(&self, rates: Rates, p99: bool, separator: &str) -> String {
        if self.silent >= SILENT {
            return format!("no completion for {} s", self.silent.0 / SECOND_NS);
        }
        let live = &self.group.live;
        let mut parts = Vec::new();
        if self.group.ramping {
            parts.push(String::from("ramp"));
        }
        parts.extend(self.rates(rates));
        if live.lat_ns_p99 > 0 && p99 {
            parts.push(format!("p99 {}", Nanos(live.lat_ns_p99)));
        }
        if parts.is_empty() {
            parts.push(String::from("starting"));
        }
        parts.join(separator)
    }

    /// What each direction did in the last second, in its own part.
    fn rates(&self, rates: Rates) -> Vec<String> {
        let live = &self.group.live;
        let used: Vec<usize> = (0..OPS.len()).filter(|&op| live.ios[op] > 0).collect();
        let largest = used.iter().map(|&op| live.bytes[op] as f64).fold(0.0, f64::max);
        let (unit, unit_bytes) = unit_of(largest);
        let each = |&op: &usize| {
            let (long, short) = OPS[op];
            let iops = count(live.ios[op] as f64);
            let bytes = live.bytes[op] as f64;
            let last = Some(&op) == used.last();
            match rates {
                Rates::Words => format!("{long} {iops} IOPS {}", binary_rate(bytes)),
                Rates::Letters => format!("{short} {iops} {}", binary_rate(bytes)),
                Rates::OneUnit => {
                    let unit = if last { format!(" {unit}") } else { String::new() };
                    format!("{short} {iops} {}{unit}", three_digits(bytes / unit_bytes))
                }
                Rates::IopsOnly => format!("{short} {iops}{}", if last { " IOPS" } else { "" }),
            }
        };
        used.iter().map(each).collect()
    }
}

/// The unit in which a rate of so many bytes a second has one to four digits before the point.
fn unit_of(bytes: f64) -> (&'static str, f64) {
    let units =
        [("GiB/s", 30), ("MiB/s", 20), ("KiB/s", 10)].map(|(name, shift)| (name, f64::from(1 << shift)));
    let fits = units.into_iter().find(|&(_, length)| bytes >= length);
    fits.unwrap_or(("B/s", 1.0))
}

/// A file on its way: how far, how fast, how long still.
pub(super) fn layout(name: &str, done_bytes: u64, total_bytes: u64, elapsed: Duration) -> String {
    if done_bytes >= total_bytes {
        let name = cut_front(name, 32);
        return format!(
            "laying out {name}: {} written, waiting for the disk",
            Bytes(total_bytes)
        );
    }
    let share = done_bytes as f64 / total_bytes.max(1) as f64;
    let rate = done_bytes as f64 / elapsed.as_secs_f64().max(1e-6);
    let left = (total_bytes.saturating_sub(done_bytes)) as f64 / rate.max(1.0);
    format!(
        "laying out {}: {:.0} % of {}, {}, {} left",
        cut_front(name, 32),
        share * 100.0,
        Bytes(total_bytes),
        binary_rate(rate),
        self::left(Nanos((left * 1e9) as u64))
    )
}

fn bar(fraction: f64, width: usize) -> String {
    let full = (fraction.clamp(0.0, 1.0) * width as f64).round() as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(width - full))
}

/// A time that is only estimated, to the nearest second: rounded up it would be too long each time.
fn left(time: Nanos) -> String {
    clock(time.0.saturating_add(SECOND_NS / 2) / SECOND_NS)
}

/// `0:05`, `12:34`, `3:07:00`.
fn clock(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The first `max` letters, the last of them `~` where there are more.
fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    format!("{kept}~")
}

/// The last `max` letters: of a path they tell more.
fn cut_front(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - max + 1).collect();
    format!("~{kept}")
}

#[cfg(test)]
mod tests;
