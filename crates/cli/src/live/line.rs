//! One line about one group.
//!
//! Data in: where the group stands. Data out: a line that fits. It must not know where it is shown.

use fathom_core::units::{Bytes, Nanos, binary_rate, count};
use fathom_engine::run::GroupProgress;
use std::time::Duration;

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
    words: bool,
    name: usize,
}

/// From the fullest to the shortest.
const SHAPES: [Shape; 6] = [
    Shape {
        bar: 24,
        words: true,
        name: NAME_MAX,
    },
    Shape {
        bar: 12,
        words: true,
        name: NAME_MAX,
    },
    Shape {
        bar: 10,
        words: false,
        name: 16,
    },
    Shape {
        bar: 10,
        words: false,
        name: 12,
    },
    Shape {
        bar: 0,
        words: false,
        name: 16,
    },
    Shape {
        bar: 0,
        words: false,
        name: 8,
    },
];

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
        if let (Some(fraction), true) = (self.group.fraction, shape.bar > 0) {
            parts.push(bar(fraction, shape.bar));
        }
        parts.extend(
            self.group
                .fraction
                .map(|fraction| format!("{:3.0} %", fraction * 100.0)),
        );
        parts.extend(self.group.eta.map(|eta| format!("{} left", clock(eta))));
        parts.push(self.state(shape.words, "  "));
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
        parts.extend(self.group.eta.map(|eta| format!("{} left", clock(eta))));
        parts.push(self.state(true, ", "));
        format!(
            "{} {}: {}",
            clock(elapsed),
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
    fn state(&self, words: bool, separator: &str) -> String {
        if self.silent >= SILENT {
            return format!("no completion for {} s", self.silent.0 / 1_000_000_000);
        }
        let live = &self.group.live;
        let mut parts = Vec::new();
        if self.group.ramping {
            parts.push(String::from("ramp"));
        }
        for (op, (long, short)) in OPS.iter().enumerate() {
            if live.ios[op] == 0 {
                continue;
            }
            let iops = count(live.ios[op] as f64);
            let rate = binary_rate(live.bytes[op] as f64);
            parts.push(if words {
                format!("{long} {iops} IOPS {rate}")
            } else {
                format!("{short} {iops} {rate}")
            });
        }
        if live.lat_ns_p99 > 0 {
            parts.push(format!("p99 {}", Nanos(live.lat_ns_p99)));
        }
        if parts.is_empty() {
            parts.push(String::from("starting"));
        }
        parts.join(separator)
    }
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
        clock(Nanos((left * 1e9) as u64))
    )
}

fn bar(fraction: f64, width: usize) -> String {
    let full = (fraction.clamp(0.0, 1.0) * width as f64).round() as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(width - full))
}

/// `0:05`, `12:34`, `3:07:00`: rounded up, so that 0:00 means done.
fn clock(duration: Nanos) -> String {
    let seconds = duration.0.div_ceil(1_000_000_000);
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
