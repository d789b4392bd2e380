//! Finds the intervals that hold I/Os far slower than their neighbours, in one pass and bounded memory.
//!
//! Data in: moments and latencies, roughly in the order of time. Data out: [`Event`]s. It must not know what causes them.
//!
//! What is usual is taken from quarter-octave histograms of a second each: from the calmest so far while rows come in, which
//! gives a low first threshold, and from the quiet time of the whole run afterwards.

/// Buckets an octave, as a power of two.
const SUB_BITS: u32 = 2;
/// Latencies below 256 ns share the first bucket.
const FIRST_OCTAVE: u32 = 8;
/// Up to 2^36 ns, more than a minute.
const BUCKETS: usize = 28 << SUB_BITS;

/// How far from the median, and from the tenth that is slowest, a slow I/O is. A slowest tenth that is part of the usual
/// course (a limit that acts in slices holds a quarter of the I/Os back) must not be taken for spikes.
const FACTOR: u64 = 4;
/// No I/O is slow that takes less than this more than the median: a time that a waiting person or program feels, and more
/// than interrupts and timers take.
const FLOOR_NS: u64 = 1_000_000;
/// The first threshold, as parts of 16 of the later one, since it knows only the past.
const FIRST_SIXTEENTHS: u64 = 12;

/// I/Os between two looks at what is usual.
const LOOK_EVERY: u32 = 512;
/// Slow I/Os that are nearer to each other than this are one event.
pub(super) const GAP_NS: u64 = 100_000_000;
/// Events that are kept before they are merged.
const EVENTS_MAX: usize = 1 << 16;
/// Slots of a tenth of a second with slow I/Os, of a hundred, from which on they are no longer rare.
const BUSY_SLOTS: u32 = 30;
/// How often it is asked whether they are.
const RAISE_SECONDS: u64 = 10;

/// Counts of latencies in quarter octaves: 448 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MiniHistogram {
    counts: [u32; BUCKETS],
}

impl Default for MiniHistogram {
    fn default() -> Self {
        Self { counts: [0; BUCKETS] }
    }
}

impl MiniHistogram {
    #[inline]
    pub(super) fn count(&mut self, latency_ns: u64) {
        let value = latency_ns.max(1 << FIRST_OCTAVE);
        let octave = value.ilog2();
        let sub = (value >> (octave - SUB_BITS)) as usize & ((1 << SUB_BITS) - 1);
        let index = (((octave - FIRST_OCTAVE) as usize) << SUB_BITS) + sub;
        let count = &mut self.counts[index.min(BUCKETS - 1)];
        *count = count.saturating_add(1);
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine = mine.saturating_add(theirs);
        }
    }

    pub(super) fn n(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The middle of the bucket of a percentile; 0 when empty.
    pub(super) fn percentile_ns(&self, percent: u64) -> u64 {
        let n = self.n();
        if n == 0 {
            return 0;
        }
        let rank = (n * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            if seen >= rank {
                return middle_ns(index);
            }
        }
        0
    }

    /// The standard deviation around a mean, as exact as the buckets are.
    pub(super) fn stddev_ns(&self, mean_ns: f64) -> f64 {
        let (mut n, mut sum) = (0.0, 0.0);
        for (index, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let off = middle_ns(index) as f64 - mean_ns;
            n += f64::from(count);
            sum += off * off * f64::from(count);
        }
        (sum / f64::max(n, 1.0)).sqrt()
    }

    /// What is usual among these.
    pub(super) fn usual(&self) -> Usual {
        Usual {
            median_ns: self.percentile_ns(50),
            high_ns: self.percentile_ns(90),
        }
    }
}

/// The middle of a bucket.
fn middle_ns(index: usize) -> u64 {
    let octave = FIRST_OCTAVE + (index >> SUB_BITS) as u32;
    let sub = (index & ((1 << SUB_BITS) - 1)) as u64;
    let low = (1u64 << octave) + (sub << (octave - SUB_BITS));
    low + (1u64 << (octave - SUB_BITS)) / 2
}

/// What is usual: the middle, and where the slowest tenth begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Usual {
    pub median_ns: u64,
    pub high_ns: u64,
}

impl Usual {
    /// The latency from which on an I/O is slow.
    pub(super) fn threshold_ns(&self) -> u64 {
        let Self { median_ns, high_ns } = *self;
        (median_ns * FACTOR)
            .max(high_ns + FACTOR * (high_ns - median_ns))
            .max(median_ns + FLOOR_NS)
    }
}

/// An interval with I/Os far slower than usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// When the first slow I/O was due.
    pub start_ns: u64,
    /// When the last one ended.
    pub end_ns: u64,
    /// Slow I/Os.
    pub ios: u64,
    /// The longest, due to completed.
    pub worst_ns: u64,
    /// When it ended.
    pub worst_at_ns: u64,
    /// Whether all were slower for a while, not single ones far slower.
    pub shift: bool,
    /// By how much I/Os took longer than normal in it, as far as that is more than chance; 0 until that is known.
    pub lost_ns: u64,
}

impl Event {
    /// Takes another one in.
    pub(super) fn join(&mut self, other: &Self) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.ios += other.ios;
        self.shift |= other.shift;
        self.lost_ns += other.lost_ns;
        if other.worst_ns > self.worst_ns {
            self.worst_ns = other.worst_ns;
            self.worst_at_ns = other.worst_at_ns;
        }
    }
}

/// Looks at latencies as they come.
#[derive(Debug)]
pub(super) struct Detector {
    threshold_ns: u64,
    /// I/Os until the next look at what is usual.
    until_look: u32,
    second: u64,
    /// What is usual in the calmest second so far, and how many I/Os it had.
    calm: Option<(Usual, u64)>,
    /// By how much the threshold is raised because slow I/Os were not rare, in sixteenths.
    raised: u64,
    last_slot: u64,
    busy_slots: u32,
    looked: bool,
    /// The worst ones where there were too many: what is given up is far below what counts as a spike in the end.
    events: Vec<Event>,
}

impl Default for Detector {
    fn default() -> Self {
        Self {
            // Until something is known, what takes a millisecond may be slow.
            threshold_ns: FLOOR_NS,
            until_look: 32,
            second: 0,
            calm: None,
            raised: 16,
            last_slot: u64::MAX,
            busy_slots: 0,
            looked: false,
            events: Vec::new(),
        }
    }
}

impl Detector {
    /// Looks at one I/O. `present` is the histogram of its second, number `second`, this I/O already in it.
    #[inline]
    pub(super) fn count(
        &mut self,
        present: &MiniHistogram,
        second: u64,
        due_ns: u64,
        end_ns: u64,
        response_ns: u64,
    ) {
        self.until_look = self.until_look.saturating_sub(1);
        if self.until_look == 0 {
            self.look(present, second);
        }
        if response_ns >= self.threshold_ns {
            self.slow(due_ns, end_ns, response_ns);
        }
    }

    /// The calmest second stays what is usual, so that no bad time, however long, makes itself usual.
    #[cold]
    fn look(&mut self, present: &MiniHistogram, second: u64) {
        self.looked = true;
        if second / RAISE_SECONDS > self.second / RAISE_SECONDS {
            if self.busy_slots > BUSY_SLOTS {
                self.raised = (self.raised * 2).min(16 << 16);
            } else {
                self.raised = (self.raised * 13 / 16).max(16);
            }
            self.busy_slots = 0;
        }
        self.second = self.second.max(second);
        let n = present.n();
        let usual = present.usual();
        let calmer = self
            .calm
            .is_none_or(|(calm, of)| usual.median_ns < calm.median_ns && n * 4 >= of || n >= of * 8);
        if calmer {
            self.calm = Some((usual, n));
        }
        let calm = self.calm.map_or(usual, |(calm, _)| calm);
        self.threshold_ns = calm.threshold_ns() / 16 * FIRST_SIXTEENTHS / 16 * self.raised;
        // Soon after the start little is known and looking is cheap.
        self.until_look = (n / 2).clamp(32, u64::from(LOOK_EVERY)) as u32;
    }

    #[cold]
    fn slow(&mut self, due_ns: u64, end_ns: u64, response_ns: u64) {
        let slot = end_ns / GAP_NS;
        // Before the first look all may seem slow.
        if slot != self.last_slot && self.looked {
            self.last_slot = slot;
            self.busy_slots += 1;
        }
        let event = Event {
            start_ns: due_ns.min(end_ns.saturating_sub(response_ns)),
            end_ns,
            ios: 1,
            worst_ns: response_ns,
            worst_at_ns: end_ns,
            shift: false,
            lost_ns: 0,
        };
        // Most slow I/Os end while the last event goes on.
        if let Some(last) = self.events.last_mut()
            && event.start_ns <= last.end_ns
            && event.end_ns >= last.start_ns
        {
            last.join(&event);
            return;
        }
        if self.events.len() >= EVENTS_MAX {
            self.make_room();
        }
        self.events.push(event);
    }

    fn make_room(&mut self) {
        merge(&mut self.events);
        if self.events.len() > EVENTS_MAX / 2 {
            let middle = self.events.len() / 2;
            self.events
                .select_nth_unstable_by_key(middle, |event| std::cmp::Reverse(event.worst_ns));
            self.events.truncate(middle);
            self.events.sort_unstable_by_key(|event| event.start_ns);
        }
    }

    /// What was found, in the order of time.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut events = self.events.clone();
        merge(&mut events);
        events
    }
}

/// Orders events and joins those that are near to each other.
pub(super) fn merge(events: &mut Vec<Event>) {
    events.sort_unstable_by_key(|event| event.start_ns);
    let mut merged: Vec<Event> = Vec::with_capacity(events.len());
    for event in events.drain(..) {
        match merged.last_mut() {
            Some(last) if event.start_ns <= last.end_ns.saturating_add(GAP_NS) => last.join(&event),
            _ => merged.push(event),
        }
    }
    *events = merged;
}

#[cfg(test)]
mod tests;
