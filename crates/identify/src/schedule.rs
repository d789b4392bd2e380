//! Which measurement comes next.
//!
//! Data in: what came back so far, what may be done. Data out: the next measurement, or that enough is known. What is measured
//! next depends on results alone, so that equal disks give equal measurements. It must not know who carries them out.

use crate::probe::{FELL, Mix, Outcome, Pattern, Probe, Purpose, SECOND_NS, fall};

/// The small I/O.
pub const SMALL_BYTES: u32 = 4 << 10;
/// The large one: of one unit wherever units are known, so that a limit on bytes holds it if it ever holds anything.
pub const LARGE_BYTES: u32 = 256 << 10;
/// The one that tells how time grows with size.
pub const MIDDLE_BYTES: u32 = 64 << 10;
/// Between two units, whichever power of two a unit is.
const UNEVEN_BYTES: u32 = 580 << 10;
/// A little more than the largest unit known.
const ABOVE_BYTES: u32 = 1088 << 10;
/// Larger still, and below twice the largest unit: by units of any size it takes another multiple of that than by bytes.
const BEYOND_BYTES: u32 = 1856 << 10;
/// Held out: neither small nor large, neither reads nor writes alone.
pub const HELD_OUT_BYTES: u32 = 16 << 10;
const HELD_OUT_DEPTH: u32 = 8;
/// So many at once that they would show how they slow each other down.
pub const SEVERAL_DEPTHS: [u32; 2] = [4, 16];
/// Of a limit, what several at once may ask for.
const SEVERAL_OF_LIMIT: f64 = 0.7;
/// A share of all limits at which none of them holds anything.
const BELOW_LIMITS: f64 = 0.4;
/// The area that is read again and again.
const AGAIN_BYTES: u64 = 512 << 10;
/// A limit holds most of a latency of so many service times.
const HELD_TIMES: f64 = 4.0;
/// What came back of a credit in a pause is soon gone.
const SPENT_NS_MIN: u64 = 4 * SECOND_NS;
/// Of the time, what is left for a credit is worth beginning with.
const DRAIN_NS_MIN: u64 = 20 * SECOND_NS;

/// What may be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Nothing is written.
    pub readonly: bool,
    /// All that is left of the time goes into finding out whether the rates are on credit.
    pub credit: bool,
    /// For all measurements together.
    pub time_ns: u64,
    /// The most I/Os in flight.
    pub depth_max: u32,
    /// No rate is measured for less.
    pub rate_ns_min: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readonly: false,
            credit: false,
            time_ns: 300 * SECOND_NS,
            depth_max: 1024,
            rate_ns_min: SECOND_NS,
        }
    }
}

/// Measurements, made and to be made.
#[derive(Debug, Clone)]
pub struct Schedule {
    options: Options,
    outcomes: Vec<Outcome>,
}

impl Schedule {
    pub const fn new(options: Options) -> Self {
        Self {
            options,
            outcomes: Vec::new(),
        }
    }

    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// What came back so far, in the order of measuring.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Takes what came back of the measurement named last.
    pub fn take(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    /// Time that measurements took so far, in nanoseconds.
    pub fn spent_ns(&self) -> u64 {
        self.outcomes.iter().map(|outcome| outcome.elapsed_ns).sum()
    }

    /// The latest of a kind.
    pub fn last(&self, purpose: Purpose, mix: Mix) -> Option<&Outcome> {
        let of_kind = |outcome: &&Outcome| outcome.probe.purpose == purpose && outcome.probe.mix == mix;
        self.outcomes.iter().rev().find(of_kind)
    }

    fn mixes(&self) -> &'static [Mix] {
        if self.options.readonly {
            &[Mix::Read]
        } else {
            &[Mix::Read, Mix::Write]
        }
    }

    /// The direction that a load has which may write, where anything may.
    fn all(&self) -> Mix {
        if self.options.readonly {
            Mix::Read
        } else {
            Mix::Both
        }
    }

    /// The next measurement; `None`: enough is known.
    pub fn next(&self) -> Option<Probe> {
        self.alone()
            .or_else(|| self.rates())
            .or_else(|| self.unit())
            .or_else(|| self.together())
            .or_else(|| self.even())
            .or_else(|| self.service())
            .or_else(|| self.several())
            .or_else(|| self.again())
            // Before credit is spent: the model begins with all of it.
            .or_else(|| self.held_out())
            .or_else(|| self.drain())
    }

    fn probe(&self, purpose: Purpose, mix: Mix, block_bytes: u32, depth: u32, ios: u64) -> Probe {
        Probe {
            purpose,
            mix,
            pattern: Pattern::Random,
            block_bytes,
            depth: depth.min(self.options.depth_max),
            span_bytes: 0,
            pace_per_second: None,
            ios,
            duration_ns_min: self.options.rate_ns_min,
            duration_ns_max: 12 * SECOND_NS,
            until_fall: false,
        }
    }

    fn alone(&self) -> Option<Probe> {
        let mix = self
            .mixes()
            .iter()
            .find(|mix| self.last(Purpose::Alone, **mix).is_none())?;
        Some(Probe {
            duration_ns_min: 0,
            duration_ns_max: 4 * SECOND_NS,
            ..self.probe(Purpose::Alone, *mix, SMALL_BYTES, 1, 60)
        })
    }

    fn rates(&self) -> Option<Probe> {
        let steps = [
            (Purpose::Small, SMALL_BYTES, 32, 600),
            (Purpose::Large, LARGE_BYTES, 16, 200),
        ];
        let each = steps
            .iter()
            .flat_map(|step| self.mixes().iter().map(move |mix| (step, *mix)));
        for (&(purpose, block_bytes, depth, ios), mix) in each {
            let Some(last) = self.last(purpose, mix) else {
                return Some(self.probe(purpose, mix, block_bytes, depth, ios));
            };
            let deeper = (last.probe.depth * 8).min(self.options.depth_max);
            if deeper > last.probe.depth && !self.is_held(last) {
                return Some(self.probe(purpose, mix, block_bytes, deeper, ios));
            }
        }
        None
    }

    /// Whether a limit held the I/Os of a measurement of many at once.
    pub fn is_held(&self, outcome: &Outcome) -> bool {
        let mix = match outcome.probe.mix {
            Mix::Both => Mix::Read,
            one => one,
        };
        let Some(alone) = self.last(Purpose::Alone, mix) else {
            return false;
        };
        // Of larger ones the shortest time says what size adds: the first one of all is not held.
        let longer = outcome.latency_ns(0.0).saturating_sub(alone.latency_ns(0.0));
        let one = (alone.latency_ns(50.0) + longer) as f64;
        outcome.mean_ns() >= one * HELD_TIMES
    }

    /// I/Os a second of this size that no limit holds, as far as is known.
    fn below_limits(&self, mix: Mix, block_bytes: u32) -> Option<f64> {
        let small = self.last(Purpose::Small, mix)?.rate();
        let large = self.last(Purpose::Large, mix)?.rate();
        let by_bytes = large * f64::from(LARGE_BYTES) / f64::from(block_bytes);
        Some((small.min(by_bytes) * BELOW_LIMITS).max(0.5))
    }

    fn unit(&self) -> Option<Probe> {
        for &mix in self.mixes() {
            let (small, large) = (self.last(Purpose::Small, mix)?, self.last(Purpose::Large, mix)?);
            if !self.is_held(small) || !self.is_held(large) {
                continue;
            }
            let times = small.rate() / large.rate().max(1e-9);
            if let Some(above) = self.last(Purpose::Unit, mix) {
                let falls = above.rate() < small.rate() * 0.9;
                if times < 1.5 && falls && self.last(Purpose::Beyond, mix).is_none() {
                    return Some(self.probe(Purpose::Beyond, mix, BEYOND_BYTES, above.probe.depth, 200));
                }
                continue;
            }
            if !(0.96..=64.0).contains(&times) || (times.log2() - times.log2().round()).abs() > 0.05 {
                continue;
            }
            let block_bytes = if times < 1.5 { ABOVE_BYTES } else { UNEVEN_BYTES };
            return Some(self.probe(Purpose::Unit, mix, block_bytes, large.probe.depth * 2, 200));
        }
        None
    }

    /// Both limits at once: of two each would let as much through as it does alone.
    fn even(&self) -> Option<Probe> {
        for &mix in self.mixes() {
            let (small, large) = (self.last(Purpose::Small, mix)?, self.last(Purpose::Large, mix)?);
            if self.last(Purpose::Even, mix).is_some() || !self.is_held(small) || !self.is_held(large) {
                continue;
            }
            let block_bytes = self.even_bytes(mix)?;
            // Nearer to one of both sizes it would be seen less than a rate is known.
            if (2 * SMALL_BYTES..=LARGE_BYTES / 2).contains(&block_bytes) {
                return Some(self.probe(Purpose::Even, mix, block_bytes, small.probe.depth, 400));
            }
        }
        None
    }

    /// The size at which the limits that small and large I/Os showed would hold alike.
    fn even_bytes(&self, mix: Mix) -> Option<u32> {
        let (small, large) = (self.last(Purpose::Small, mix)?, self.last(Purpose::Large, mix)?);
        let even = large.rate() * f64::from(LARGE_BYTES) / small.rate().max(1e-9);
        // Above it the limit on bytes falls first where both are on credit: what is left of the other is spent soon by small ones.
        let blocks = (even as u32).div_ceil(SMALL_BYTES);
        Some(blocks.clamp(1, LARGE_BYTES / SMALL_BYTES) * SMALL_BYTES)
    }

    /// Whether reads and writes have limits together.
    fn together(&self) -> Option<Probe> {
        if self.options.readonly {
            return None;
        }
        for purpose in [Purpose::Small, Purpose::Large] {
            if self.last(purpose, Mix::Both).is_some() {
                continue;
            }
            let (reads, writes) = (self.last(purpose, Mix::Read)?, self.last(purpose, Mix::Write)?);
            let depth = reads.probe.depth.max(writes.probe.depth) * 2;
            return Some(self.probe(
                purpose,
                Mix::Both,
                reads.probe.block_bytes,
                depth,
                reads.probe.ios,
            ));
        }
        None
    }

    fn service(&self) -> Option<Probe> {
        let steps = [
            (Purpose::Service, SMALL_BYTES, Pattern::Random, 400),
            (Purpose::Slope, MIDDLE_BYTES, Pattern::Random, 200),
            (Purpose::InOrder, SMALL_BYTES, Pattern::Sequential, 100),
        ];
        for (purpose, block_bytes, pattern, ios) in steps {
            for &mix in self.mixes() {
                if self.last(purpose, mix).is_none() {
                    return Some(Probe {
                        pattern,
                        pace_per_second: self.below_limits(mix, block_bytes),
                        duration_ns_min: 0,
                        duration_ns_max: 20 * SECOND_NS,
                        ..self.probe(purpose, mix, block_bytes, 1, ios)
                    });
                }
            }
        }
        None
    }

    /// Where no limit holds so many.
    fn several(&self) -> Option<Probe> {
        for &mix in self.mixes() {
            let (small, service) = (self.last(Purpose::Small, mix)?, self.last(Purpose::Service, mix)?);
            for depth in SEVERAL_DEPTHS {
                let there = |outcome: &Outcome| {
                    let probe = &outcome.probe;
                    probe.purpose == Purpose::Several && probe.mix == mix && probe.depth == depth
                };
                let asked = f64::from(depth) * 1e9 / service.mean_ns().max(1.0);
                let free = !self.is_held(small) || asked < small.rate() * SEVERAL_OF_LIMIT;
                if free && depth < small.probe.depth && !self.outcomes.iter().any(there) {
                    return Some(self.probe(Purpose::Several, mix, SMALL_BYTES, depth, 600));
                }
            }
        }
        None
    }

    fn again(&self) -> Option<Probe> {
        if self.last(Purpose::Again, Mix::Read).is_some() {
            return None;
        }
        Some(Probe {
            span_bytes: AGAIN_BYTES,
            pace_per_second: self.below_limits(Mix::Read, SMALL_BYTES),
            duration_ns_min: 0,
            duration_ns_max: 20 * SECOND_NS,
            ..self.probe(Purpose::Again, Mix::Read, SMALL_BYTES, 1, 500)
        })
    }

    /// Spends credit: at the size at which both limits hold, so that both are spent alike; then what is left of each.
    fn drain(&self) -> Option<Probe> {
        if !self.options.credit {
            return None;
        }
        let mix = *self.mixes().last()?;
        let (small, large) = (self.last(Purpose::Small, mix)?, self.last(Purpose::Large, mix)?);
        let first = self
            .outcomes
            .iter()
            .position(|outcome| outcome.probe.purpose == Purpose::Drain);
        let Some(first) = first else {
            return self.drained(
                mix,
                self.even_bytes(mix)?,
                small.probe.depth.max(large.probe.depth),
            );
        };
        // Where no rate fell there is nothing that other sizes would find.
        fall(&self.outcomes[first].seconds)?;
        let steps = [(Purpose::SpentLarge, large), (Purpose::SpentSmall, small)];
        for (purpose, of) in steps {
            let block_bytes = of.probe.block_bytes;
            let spent = self.last_place(|probe| probe.purpose == purpose);
            let drain =
                self.last_place(|probe| probe.purpose == Purpose::Drain && probe.block_bytes == block_bytes);
            if spent.is_none() || (drain > spent && drain > Some(first)) {
                return Some(Probe {
                    duration_ns_min: SPENT_NS_MIN.max(self.options.rate_ns_min),
                    duration_ns_max: 30 * SECOND_NS,
                    ..self.probe(purpose, mix, block_bytes, of.probe.depth, of.probe.ios * 4)
                });
            }
        }
        // What was left of one credit, or came back while the other was measured, is spent soon.
        let most_ns = (self.outcomes[first].elapsed_ns / 10).max(60 * SECOND_NS);
        for (purpose, of) in [steps[1], steps[0]] {
            let block_bytes = of.probe.block_bytes;
            let fell = self
                .last(purpose, mix)
                .is_some_and(|spent| spent.rate() < of.rate() * FELL);
            if fell {
                break;
            }
            let again = self.outcomes[first + 1..].iter();
            let mut again = again.filter(|outcome| outcome.probe.purpose == Purpose::Drain);
            if again.all(|outcome| outcome.probe.block_bytes != block_bytes) {
                let probe = self.drained(mix, block_bytes, of.probe.depth)?;
                return Some(Probe {
                    duration_ns_max: probe.duration_ns_max.min(most_ns),
                    ..probe
                });
            }
        }
        None
    }

    /// Goes on until a rate falls, for what is left of the time; `None`: that is too little.
    fn drained(&self, mix: Mix, block_bytes: u32, depth: u32) -> Option<Probe> {
        let left_ns = self.options.time_ns.saturating_sub(self.spent_ns());
        (left_ns >= DRAIN_NS_MIN).then(|| Probe {
            until_fall: true,
            duration_ns_max: left_ns - DRAIN_NS_MIN / 2,
            ..self.probe(Purpose::Drain, mix, block_bytes, depth, u64::MAX)
        })
    }

    fn last_place(&self, is: impl Fn(&Probe) -> bool) -> Option<usize> {
        self.outcomes.iter().rposition(|outcome| is(&outcome.probe))
    }

    fn held_out(&self) -> Option<Probe> {
        let mix = self.all();
        if self.last(Purpose::HeldOut, mix).is_some() {
            return None;
        }
        Some(self.probe(Purpose::HeldOut, mix, HELD_OUT_BYTES, HELD_OUT_DEPTH, 2_000))
    }
}
