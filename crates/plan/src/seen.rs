//! What a recording shows of a load: its busiest seconds, its sizes, who waited, what was touched.
//!
//! Data in: each I/O ([`Arrival`], made by [`fathom_core::arrival`] of what was recorded), or amounts of stretches of time ([`spans`]).
//! Data out: [`Seen`], and the [`Load`] to plan for. What is kept grows with the time recorded, at 40 bytes a second, never
//! with the I/Os. It must not know files.

mod kept;
pub mod spans;

pub use fathom_core::arrival::Arrival;
pub use kept::KeptSeen;

use crate::envelope::Envelope;
use crate::need::{BLOCK_BYTES_ASSUMED, Load, MILLION};
use crate::setup::{Course, Lasts};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use std::sync::Arc;

/// One second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// What counts as one I/O at most where I/Os of many sizes are put together: the unit of each family of the catalogue.
const UNIT_BYTES: u64 = 256 << 10;
/// What is touched is kept in pieces of so many bytes.
const PIECE_BYTES: u64 = 1 << 20;
/// Beyond so many pieces (64 TiB) nothing is told apart.
const PIECES_MAX: u64 = 1 << 26;
/// Rows of seconds, at most: then each stands for twice the time.
const SECONDS_MAX: usize = 1 << 20;

/// What a load was seen in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Each request of the devices.
    Requests,
    /// Each I/O of the load.
    Ios,
    /// Counters of the devices.
    Counters,
    /// The series of a run: sums of its intervals.
    Series,
    /// Sums by the second, which were made where it ran ([`KeptSeen`]).
    Sums,
}

impl Source {
    /// Whether single I/Os are known.
    pub const fn has_ios(self) -> bool {
        matches!(self, Self::Requests | Self::Ios)
    }
}

/// Amounts of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    pub reads: u64,
    pub writes: u64,
    /// Reads and writes, larger ones counted as several of 256 KiB.
    pub units: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
}

impl Amounts {
    /// Reads and writes.
    pub const fn ios(&self) -> u64 {
        self.reads + self.writes
    }

    /// What they carry.
    pub const fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }

    fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.units += other.units;
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
    }
}

/// What was seen of a load.
#[derive(Debug, Clone)]
pub struct Seen {
    pub source: Source,
    start_ns: u64,
    /// What a row of `seconds` stands for.
    each_seconds: u64,
    seconds: Vec<Amounts>,
    /// Sizes of reads and of writes; empty where single I/Os are not known.
    pub read_len: Histogram,
    pub write_len: Histogram,
    /// How long I/Os took while they were recorded; empty where single I/Os are not known.
    pub latency: Histogram,
    /// I/Os that waited for an earlier one.
    pub waited: u64,
    pub flushes: u64,
    /// Discards: neither planned for nor replayed.
    pub discards: u64,
    /// All the time that I/Os took together.
    in_flight_ns: u128,
    touched: Vec<u64>,
    /// The highest byte that was touched, and one more.
    pub end_bytes: u64,
}

impl Seen {
    /// Nothing yet, of a recording that begins at `start_ns`.
    pub fn new(source: Source, start_ns: u64) -> Self {
        Self {
            source,
            start_ns,
            each_seconds: 1,
            seconds: Vec::new(),
            read_len: Histogram::new(),
            write_len: Histogram::new(),
            latency: Histogram::new(),
            waited: 0,
            flushes: 0,
            discards: 0,
            in_flight_ns: 0,
            touched: Vec::new(),
            end_bytes: 0,
        }
    }

    /// Takes I/Os in.
    pub fn take(&mut self, arrivals: &[Arrival]) {
        for arrival in arrivals {
            self.one(arrival);
        }
    }

    fn one(&mut self, arrival: &Arrival) {
        let len = u64::from(arrival.len_bytes);
        let mut amounts = Amounts {
            units: len.div_ceil(UNIT_BYTES).max(1),
            ..Amounts::default()
        };
        match arrival.op {
            Op::Read => {
                (amounts.reads, amounts.read_bytes) = (1, len);
                self.read_len.record(len);
            }
            Op::Write => {
                (amounts.writes, amounts.write_bytes) = (1, len);
                self.write_len.record(len);
            }
            Op::Sync | Op::DataSync => {
                self.flushes += 1;
                return;
            }
            Op::Trim => {
                self.discards += 1;
                return;
            }
        }
        self.waited += u64::from(arrival.depth > 0);
        self.latency.record(arrival.took_ns);
        self.in_flight_ns += u128::from(arrival.took_ns);
        self.touch(arrival.offset_bytes, len);
        self.at(arrival.due_ns).add(&amounts);
    }

    /// Takes in what was counted from `from_ns` to `to_ns`, spread evenly over that time, and how long it took in all.
    pub fn span(&mut self, (from_ns, to_ns): (u64, u64), amounts: &Amounts, in_flight_ns: u64) {
        self.in_flight_ns += u128::from(in_flight_ns);
        let whole = to_ns.saturating_sub(from_ns).max(1);
        let mut given = Amounts::default();
        let mut at = from_ns;
        while at < to_ns.max(from_ns + 1) {
            let second_ends = (at.saturating_sub(self.start_ns) / SECOND_NS + 1) * SECOND_NS + self.start_ns;
            let until = second_ends.min(to_ns.max(from_ns + 1));
            // What is due by then, less what was given: nothing is lost to rounding.
            let by =
                |amount: u64| (u128::from(amount) * u128::from(until - from_ns) / u128::from(whole)) as u64;
            let due = Amounts {
                reads: by(amounts.reads),
                writes: by(amounts.writes),
                units: by(amounts.units),
                read_bytes: by(amounts.read_bytes),
                write_bytes: by(amounts.write_bytes),
            };
            let part = Amounts {
                reads: due.reads - given.reads,
                writes: due.writes - given.writes,
                units: due.units - given.units,
                read_bytes: due.read_bytes - given.read_bytes,
                write_bytes: due.write_bytes - given.write_bytes,
            };
            self.at(at).add(&part);
            (given, at) = (due, until);
        }
    }

    /// The row of a moment.
    fn at(&mut self, ns: u64) -> &mut Amounts {
        let second = ns.saturating_sub(self.start_ns) / SECOND_NS;
        while second / self.each_seconds >= SECONDS_MAX as u64 {
            self.seconds = self
                .seconds
                .chunks(2)
                .map(|pair| {
                    let mut both = pair[0];
                    pair[1..].iter().for_each(|other| both.add(other));
                    both
                })
                .collect();
            self.each_seconds *= 2;
        }
        let number = (second / self.each_seconds) as usize;
        if self.seconds.len() <= number {
            self.seconds.resize(number + 1, Amounts::default());
        }
        &mut self.seconds[number]
    }

    fn touch(&mut self, offset: u64, len: u64) {
        self.end_bytes = self.end_bytes.max(offset.saturating_add(len));
        let last = (offset.saturating_add(len.saturating_sub(1)) / PIECE_BYTES).min(PIECES_MAX - 1);
        for piece in (offset / PIECE_BYTES).min(PIECES_MAX - 1)..=last {
            let word = (piece / 64) as usize;
            if self.touched.len() <= word {
                self.touched.resize(word + 1, 0);
            }
            self.touched[word] |= 1 << (piece % 64);
        }
    }

    /// What was touched at all, in pieces of 1 MiB.
    pub fn touched_bytes(&self) -> u64 {
        let pieces: u64 = self.touched.iter().map(|word| u64::from(word.count_ones())).sum();
        pieces * PIECE_BYTES
    }

    /// How long was recorded, in seconds.
    pub fn seconds(&self) -> u64 {
        self.seconds.len() as u64 * self.each_seconds
    }

    /// How long one row of the seconds is: 1, or more where the recording is longer than twelve days.
    pub const fn each_seconds(&self) -> u64 {
        self.each_seconds
    }

    /// All of it.
    pub fn total(&self) -> Amounts {
        let mut total = Amounts::default();
        self.seconds.iter().for_each(|second| total.add(second));
        total
    }

    /// I/Os in flight, on average over the time in which anything was asked for.
    pub fn in_flight(&self) -> f64 {
        let active = self.seconds.iter().filter(|second| second.ios() > 0).count() as u64;
        let ns = (active * self.each_seconds * SECOND_NS).max(1);
        self.in_flight_ns as f64 / ns as f64
    }

    /// What all seconds but the busiest ask for at most, where `percent` of them are to be met: of what `of` counts.
    pub fn percentile(&self, percent: f64, of: fn(&Amounts) -> u64) -> u64 {
        let mut amounts: Vec<u64> = self.seconds.iter().map(of).collect();
        if amounts.is_empty() {
            return 0;
        }
        amounts.sort_unstable();
        // In millionths, so that 99.9 % of a thousand are 999.
        let rank = ((percent * 1e4).round() as u64 * amounts.len() as u64).div_ceil(1_000_000) as usize;
        amounts[rank.clamp(1, amounts.len()) - 1].div_ceil(self.each_seconds)
    }

    /// How often I/Os and bytes were asked for, as parts of a load of `ios` and `bytes` a second, where `percent` of the seconds
    /// are to be met.
    fn course(&self, percent: f64, ios: u64, bytes: u64) -> Course {
        let [most_ios, most_bytes] =
            [|second: &Amounts| second.units, Amounts::bytes].map(|of| self.percentile(percent, of));
        let each = self.each_seconds;
        let rows = self.seconds.iter();
        Course {
            ios: Envelope::of(rows.clone().map(|row| row.units.min(most_ios * each)), each, ios),
            bytes: Envelope::of(rows.map(|row| row.bytes().min(most_bytes * each)), each, bytes),
            spare_ppm: ((100.0 - percent) * 1e4).round() as u64,
        }
    }
}

/// A recording, and what was seen in it.
#[derive(Debug, Clone)]
pub struct Recording {
    /// As the user knows it.
    pub name: String,
    pub seen: Seen,
    /// Which devices of it, by name; empty where they have none.
    pub devices: Vec<String>,
    /// Devices of the record that were left aside.
    pub aside: Vec<String>,
    /// Rows that the record lost.
    pub dropped: u64,
    /// Whether a page cache stood above what was seen that is not in it.
    pub above_cache: bool,
}

/// The load to plan for, so that each of `all` is carried in `percent` of its seconds.
pub fn load<'a>(all: impl Iterator<Item = &'a Seen> + Clone, percent: f64) -> Load {
    let most = |of: fn(&Amounts) -> u64| {
        all.clone()
            .map(|seen| seen.percentile(percent, of))
            .max()
            .unwrap_or(0)
    };
    let (ios, bytes) = (most(|second| second.units), most(Amounts::bytes));
    let mut total = Amounts::default();
    all.clone().for_each(|seen| total.add(&seen.total()));
    let course = all.clone().map(|seen| seen.course(percent, ios, bytes));
    let course = course.reduce(|one, other| Course {
        ios: one.ios.or(&other.ios),
        bytes: one.bytes.or(&other.bytes),
        ..one
    });
    Load {
        ios,
        bytes,
        read_ppm: (u128::from(total.reads) * u128::from(MILLION) / u128::from(total.ios().max(1))) as u64,
        working_set_bytes: match all.map(Seen::touched_bytes).max() {
            // Of what size nobody says, nothing is taken to be in a cache.
            None | Some(0) => u64::MAX,
            Some(touched) => touched,
        },
        lasts: course.map_or(Lasts::Always, |course| Lasts::AsSeen(Arc::new(course))),
        otherwise_block_bytes: BLOCK_BYTES_ASSUMED,
    }
}

#[cfg(test)]
mod tests;
