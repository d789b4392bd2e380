//! Sums a second, a histogram an hour, for one section or one device.
//!
//! Data in: moments and latencies, in any order. Data out: the sums. Memory grows with the hours in which anything
//! happened, about 1 MB each, not with the number of rows. It must not know what is counted.

use super::answer::AVERAGE_ABOVE_MS;
use fathom_core::histogram::Histogram;

pub(super) const SECOND_NS: u64 = 1_000_000_000;
const SECONDS_AN_HOUR: u64 = 3600;
/// Hours of which sums are kept: a month. Rows beyond carry times that no run has.
const HOURS_MAX: usize = 24 * 31;

/// What happened in one second. The fields after `lat_max_ns` are those of a device's requests.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Second {
    /// Completed.
    pub ios: u32,
    /// Of those, failed.
    pub errors: u32,
    /// Bytes asked for.
    pub bytes: u64,
    /// Sum and largest of the latencies.
    pub lat_sum_ns: u64,
    pub lat_max_ns: u64,
    /// Sum of the time at the device.
    pub device_sum_ns: u64,
    /// Sum of the time waiting for a tag.
    pub tag_sum_ns: u64,
    /// Requests of other programs than the load.
    pub other_ios: u32,
}

#[derive(Debug)]
pub(super) struct Hour {
    /// Since the start of the run.
    pub number: u32,
    pub seconds: Box<[Second]>,
    pub latencies: Histogram,
    pub above: [u64; AVERAGE_ABOVE_MS.len()],
}

impl Hour {
    fn new(number: u32) -> Self {
        Self {
            number,
            seconds: vec![Second::default(); SECONDS_AN_HOUR as usize].into_boxed_slice(),
            latencies: Histogram::new(),
            above: [0; AVERAGE_ABOVE_MS.len()],
        }
    }
}

/// All hours of one section or device.
#[derive(Debug)]
pub(super) struct Timeline {
    started_ns: u64,
    /// Ascending.
    hours: Vec<Hour>,
    /// The hour of the last row: the next one is of it too, almost always.
    current: usize,
    /// The first moment that anything was due and the last that anything ended.
    pub first_ns: u64,
    pub last_ns: u64,
}

impl Timeline {
    pub(super) fn new(started_ns: u64) -> Self {
        Self {
            started_ns,
            hours: Vec::new(),
            current: 0,
            first_ns: u64::MAX,
            last_ns: 0,
        }
    }

    /// Counts something that was due at `due_ns` and ended at `end_ns`, after a latency; gives the sums of the second
    /// in which it ended, `None` if no run has that time.
    #[inline]
    pub(super) fn count(&mut self, due_ns: u64, end_ns: u64, latency_ns: u64) -> Option<&mut Second> {
        let second = end_ns.saturating_sub(self.started_ns) / SECOND_NS;
        let number = (second / SECONDS_AN_HOUR) as u32;
        if self
            .hours
            .get(self.current)
            .is_none_or(|hour| hour.number != number)
        {
            self.current = self.find_or_make(number)?;
        }
        self.first_ns = self.first_ns.min(due_ns);
        self.last_ns = self.last_ns.max(end_ns);
        let hour = &mut self.hours[self.current];
        hour.latencies.record(latency_ns);
        if latency_ns > AVERAGE_ABOVE_MS[0] * 1_000_000 {
            for (above, ms) in hour.above.iter_mut().zip(AVERAGE_ABOVE_MS) {
                *above += u64::from(latency_ns > ms * 1_000_000);
            }
        }
        let within = (second % SECONDS_AN_HOUR) as usize;
        let sums = &mut hour.seconds[within];
        sums.ios += 1;
        sums.lat_sum_ns = sums.lat_sum_ns.saturating_add(latency_ns);
        sums.lat_max_ns = sums.lat_max_ns.max(latency_ns);
        Some(sums)
    }

    fn find_or_make(&mut self, number: u32) -> Option<usize> {
        match self.hours.binary_search_by_key(&number, |hour| hour.number) {
            Ok(index) => Some(index),
            Err(_) if self.hours.len() >= HOURS_MAX => None,
            Err(index) => {
                self.hours.insert(index, Hour::new(number));
                Some(index)
            }
        }
    }

    pub(super) fn hours(&self) -> &[Hour] {
        &self.hours
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hours.iter().all(|hour| hour.latencies.n() == 0)
    }

    pub(super) fn latencies(&self) -> Histogram {
        let mut all = Histogram::new();
        for hour in &self.hours {
            all.merge(&hour.latencies);
        }
        all
    }

    /// The seconds `from..=to` (since the start of the run), those of hours in which nothing happened left out.
    pub(super) fn seconds(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &Second)> {
        self.hours.iter().flat_map(move |hour| {
            let base = u64::from(hour.number) * SECONDS_AN_HOUR;
            let numbered = hour.seconds.iter().enumerate();
            numbered
                .map(move |(within, second)| (base + within as u64, second))
                .filter(move |(second, _)| (from..=to).contains(second))
        })
    }

    /// The second of a moment, since the start of the run.
    pub(super) fn number_of(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.started_ns) / SECOND_NS
    }
}
