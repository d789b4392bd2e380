//! One victim's I/Os over time: what is normal for it, and when it was worse.
//!
//! Data in: moments and response times of one kind of I/O of one section or process, roughly in the order of time. Data out:
//! what is normal, and the intervals in which I/Os were far slower than that, or all of them slower for a second or more.
//! Memory grows with the minutes in which anything happened, 30 KB each, not with the number of rows. It must not know what
//! makes I/Os slow.
//!
//! Normal is the victim's quiet time: of all its seconds, those from the 5th to the 35th in a hundred by their mean response
//! time. So a disturbance of 60 % of the run cannot raise it, and a few lucky seconds do not lower it.

use super::detect::{Detector, Event, GAP_NS, MiniHistogram, Usual, merge};
use super::timeline::SECOND_NS;

/// A minute's seconds and bins.
const MINUTE: u64 = 60;
const BIN_NS: u64 = 250_000_000;
const BINS_A_SECOND: u64 = SECOND_NS / BIN_NS;
/// A month.
const MINUTES_MAX: u32 = 31 * 24 * 60;
/// The quiet time, in hundredths of the seconds by their means.
const QUIET: (usize, usize) = (5, 35);
/// A second with less than this part of what the middle one has, and fewer than so many, is cut off by an end or a pause.
const WHOLE: u64 = 5;
const WHOLE_IOS: u64 = 100;

/// A level is another one from so many times the normal mean on, for this long; down to the lower factor it goes on.
const SHIFT: f64 = 1.5;
const SHIFT_GOES_ON: f64 = 1.25;
const SHIFT_MIN_NS: u64 = 1_000_000_000;
/// No shift is smaller than this: caches and clocks of CPUs move what memory answers by as much.
const SHIFT_FLOOR_NS: f64 = 20_000.0;
/// I/Os of which a mean is taken, and how many of its standard errors it must be off.
const CELL_IOS: u32 = 16;
const ERRORS: f64 = 5.0;
/// The longest time over which so few are put together.
const CELL_BINS_MAX: u64 = 4;

/// A quarter of a second.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    ios: u32,
    sum_ns: u64,
}

#[derive(Debug)]
struct Minute {
    number: u32,
    seconds: Box<[MiniHistogram]>,
    bins: Box<[Bin]>,
}

impl Minute {
    fn new(number: u32) -> Self {
        Self {
            number,
            seconds: vec![MiniHistogram::default(); MINUTE as usize].into_boxed_slice(),
            bins: vec![Bin::default(); (MINUTE * BINS_A_SECOND) as usize].into_boxed_slice(),
        }
    }
}

/// What is normal for a victim.
#[derive(Debug, Clone, Default)]
pub(super) struct Normal {
    /// The middle, and where the slowest tenth begins.
    pub usual: Usual,
    /// Mean and standard deviation of response times.
    pub mean_ns: f64,
    pub stddev_ns: f64,
    /// How many I/Os that is of.
    pub ios: u64,
    /// The quiet seconds, ascending, since the start of the run.
    pub quiet: Vec<u64>,
}

impl Normal {
    /// The response time from which on a single I/O is slow.
    pub(super) fn threshold_ns(&self) -> u64 {
        self.usual.threshold_ns()
    }
}

/// Takes I/Os in.
#[derive(Debug)]
pub(super) struct Pulse {
    started_ns: u64,
    /// Ascending.
    minutes: Vec<Minute>,
    /// The minute of the last row: the next one is of it too, almost always.
    current: usize,
    detector: Detector,
    pub first_ns: u64,
    pub last_ns: u64,
}

impl Pulse {
    pub(super) fn new(started_ns: u64) -> Self {
        Self {
            started_ns,
            minutes: Vec::new(),
            current: 0,
            detector: Detector::default(),
            first_ns: u64::MAX,
            last_ns: 0,
        }
    }

    /// Counts an I/O that was due at `due_ns` and ended at `end_ns`; `None` if no run has that time.
    #[inline]
    pub(super) fn count(&mut self, due_ns: u64, end_ns: u64) -> Option<()> {
        let second = end_ns.saturating_sub(self.started_ns) / SECOND_NS;
        let number = u32::try_from(second / MINUTE).ok()?;
        if self
            .minutes
            .get(self.current)
            .is_none_or(|minute| minute.number != number)
        {
            self.current = self.find_or_make(number)?;
        }
        self.first_ns = self.first_ns.min(due_ns);
        self.last_ns = self.last_ns.max(end_ns);
        let minute = &mut self.minutes[self.current];
        let response_ns = end_ns.saturating_sub(due_ns);
        let within_ns = end_ns.saturating_sub(self.started_ns) - u64::from(number) * MINUTE * SECOND_NS;
        let bin = &mut minute.bins[(within_ns / BIN_NS) as usize];
        bin.ios += 1;
        bin.sum_ns = bin.sum_ns.saturating_add(response_ns);
        let present = &mut minute.seconds[(second % MINUTE) as usize];
        present.count(response_ns);
        self.detector.count(present, second, due_ns, end_ns, response_ns);
        Some(())
    }

    fn find_or_make(&mut self, number: u32) -> Option<usize> {
        match self.minutes.binary_search_by_key(&number, |minute| minute.number) {
            Ok(index) => Some(index),
            Err(_) if number >= MINUTES_MAX => None,
            Err(index) => {
                self.minutes.insert(index, Minute::new(number));
                Some(index)
            }
        }
    }

    fn bins(&self) -> impl Iterator<Item = (u64, Bin)> {
        self.minutes.iter().flat_map(|minute| {
            let first = u64::from(minute.number) * MINUTE * BINS_A_SECOND;
            let numbered = minute.bins.iter().enumerate();
            numbered.map(move |(index, bin)| (first + index as u64, *bin))
        })
    }

    /// Each second with I/Os: number, I/Os, mean.
    fn seconds(&self) -> Vec<(u64, u64, f64)> {
        let mut seconds: Vec<(u64, u64, f64)> = Vec::new();
        for minute in &self.minutes {
            for (index, bins) in minute.bins.chunks(BINS_A_SECOND as usize).enumerate() {
                let ios: u64 = bins.iter().map(|bin| u64::from(bin.ios)).sum();
                if ios > 0 {
                    let sum: f64 = bins.iter().map(|bin| bin.sum_ns as f64).sum();
                    let number = u64::from(minute.number) * MINUTE + index as u64;
                    seconds.push((number, ios, sum / ios as f64));
                }
            }
        }
        seconds
    }

    /// What is normal.
    pub(super) fn normal(&self) -> Normal {
        let mut seconds = self.seconds();
        let mut counts: Vec<u64> = seconds.iter().map(|(_, ios, _)| *ios).collect();
        counts.sort_unstable();
        let middle = counts.get(counts.len() / 2).copied().unwrap_or(0);
        seconds.retain(|(_, ios, _)| ios * WHOLE >= middle || *ios >= WHOLE_IOS);
        seconds.sort_by(|a, b| a.2.total_cmp(&b.2));
        let from = seconds.len() * QUIET.0 / 100;
        let to = (seconds.len() * QUIET.1 / 100).max(from + 1);
        let chosen = seconds.get(from..to.min(seconds.len())).unwrap_or_default();
        let mut all = MiniHistogram::default();
        let (mut ios, mut sum) = (0, 0.0);
        for (number, n, mean) in chosen {
            if let Some(second) = self.histogram(*number) {
                all.add(second);
            }
            ios += n;
            sum += mean * *n as f64;
        }
        let mut quiet: Vec<u64> = chosen.iter().map(|(number, _, _)| *number).collect();
        quiet.sort_unstable();
        let mean_ns = sum / ios.max(1) as f64;
        Normal {
            usual: all.usual(),
            mean_ns,
            stddev_ns: all.stddev_ns(mean_ns),
            ios,
            quiet,
        }
    }

    fn histogram(&self, second: u64) -> Option<&MiniHistogram> {
        let number = (second / MINUTE) as u32;
        let index = self
            .minutes
            .binary_search_by_key(&number, |minute| minute.number)
            .ok()?;
        Some(&self.minutes[index].seconds[(second % MINUTE) as usize])
    }

    /// The intervals in which single I/Os were far slower than normal, and those in which all were slower; in the order of
    /// time.
    pub(super) fn events(&self, normal: &Normal) -> Vec<Event> {
        let threshold_ns = normal.threshold_ns();
        let mut events = self.detector.events();
        events.retain(|event| event.worst_ns >= threshold_ns);
        let shifts = self.shifts(normal);
        if !shifts.is_empty() {
            events.extend(shifts);
            merge(&mut events);
        }
        events
    }

    /// Times of a second or more in which the mean was another one.
    fn shifts(&self, normal: &Normal) -> Vec<Event> {
        let mut walk = Walk::new(normal, self.started_ns);
        for (number, bin) in self.bins() {
            walk.bin(number, bin);
        }
        walk.end();
        walk.shifts.retain(|shift| self.median_moved(normal, shift));
        walk.shifts
    }

    /// A few slow ones move the mean as well: where the level is another one, the middle is.
    fn median_moved(&self, normal: &Normal, shift: &Event) -> bool {
        let second = |at_ns: u64| at_ns.saturating_sub(self.started_ns) / SECOND_NS;
        let mut all = MiniHistogram::default();
        for number in second(shift.start_ns)..=second(shift.end_ns.saturating_sub(1)) {
            let begin_ns = self.started_ns + number * SECOND_NS;
            let common_ns = (begin_ns + SECOND_NS).min(shift.end_ns) - begin_ns.max(shift.start_ns);
            // A second of which most is not in the shift has its I/Os from elsewhere.
            if let Some(histogram) = self.histogram(number).filter(|_| common_ns * 2 > SECOND_NS) {
                all.add(histogram);
            }
        }
        // One that lies across two seconds, half in each, has no second of its own.
        all.n() == 0 || all.usual().median_ns as f64 >= normal.usual.median_ns as f64 * SHIFT_GOES_ON
    }

    /// By how much I/Os took longer than normal in all, and how much of that lies in each of `events`, which ascend.
    pub(super) fn excess_ns(&self, normal: &Normal, events: &[Event]) -> (f64, Vec<f64>) {
        let (mut all, mut each) = (0.0, vec![0.0; events.len()]);
        let mut first = 0;
        for (number, bin) in self.bins() {
            let n = f64::from(bin.ios);
            let over = bin.sum_ns as f64 - n * normal.mean_ns;
            if bin.ios == 0 || over < ERRORS * normal.stddev_ns * n.sqrt() {
                continue;
            }
            all += over;
            let start_ns = self.started_ns + number * BIN_NS;
            let end_ns = start_ns + BIN_NS;
            while events
                .get(first)
                .is_some_and(|event| event.end_ns + GAP_NS < start_ns)
            {
                first += 1;
            }
            // Where several meet a quarter of a second, it is the worst one's.
            let near = events[first..].iter().enumerate();
            let near = near.take_while(|(_, event)| event.start_ns <= end_ns + GAP_NS);
            if let Some((index, _)) = near.max_by_key(|(_, event)| event.worst_ns) {
                each[first + index] += over;
            }
        }
        (all, each)
    }
}

/// Walks over quarter seconds and finds where the level is another one.
struct Walk<'n> {
    normal: &'n Normal,
    started_ns: u64,
    /// The cell that is being filled: first bin, last bin, I/Os, sum.
    cell: Option<(u64, u64, u32, f64)>,
    /// The shift that goes on: first bin, last bin, I/Os, sum, the slowest cell's mean.
    shift: Option<(u64, u64, u64, f64)>,
    shifts: Vec<Event>,
}

impl<'n> Walk<'n> {
    fn new(normal: &'n Normal, started_ns: u64) -> Self {
        Self {
            normal,
            started_ns,
            cell: None,
            shift: None,
            shifts: Vec::new(),
        }
    }

    fn bin(&mut self, number: u64, bin: Bin) {
        // A bin without an end of an I/O says nothing: those that end later carry its time.
        if let Some((first, ..)) = self.cell
            && number - first >= CELL_BINS_MAX
        {
            self.close();
        }
        if bin.ios == 0 && self.cell.is_none() {
            return;
        }
        let (first, _, ios, sum) = self.cell.unwrap_or((number, number, 0, 0.0));
        let ios = ios.saturating_add(bin.ios);
        self.cell = Some((first, number, ios, sum + bin.sum_ns as f64));
        if ios >= CELL_IOS {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some((first, last, ios, sum)) = self.cell.take() else {
            return;
        };
        if ios == 0 {
            return;
        }
        let mean = sum / f64::from(ios);
        let normal = self.normal.mean_ns;
        let sure = mean - normal >= ERRORS * self.normal.stddev_ns / f64::from(ios).sqrt();
        let far = mean - normal >= SHIFT_FLOOR_NS;
        let begins = mean >= SHIFT * normal && sure && far;
        let goes_on = mean >= SHIFT_GOES_ON * normal && far;
        match &mut self.shift {
            Some((_, to, n, worst)) if goes_on && first <= *to + CELL_BINS_MAX => {
                *to = last;
                *n += u64::from(ios);
                *worst = worst.max(mean);
            }
            _ => {
                self.end_shift();
                if begins {
                    self.shift = Some((first, last, u64::from(ios), mean));
                }
            }
        }
    }

    fn end_shift(&mut self) {
        let Some((first, last, ios, worst)) = self.shift.take() else {
            return;
        };
        let (start_ns, end_ns) = (
            self.started_ns + first * BIN_NS,
            self.started_ns + (last + 1) * BIN_NS,
        );
        if end_ns - start_ns >= SHIFT_MIN_NS {
            self.shifts.push(Event {
                start_ns,
                end_ns,
                ios,
                worst_ns: worst as u64,
                worst_at_ns: end_ns,
                shift: true,
                lost_ns: 0,
            });
        }
    }

    fn end(&mut self) {
        self.close();
        self.end_shift();
    }
}

#[cfg(test)]
mod tests;
