//! Whose requests made the device slow for a victim: the counterfactual.
//!
//! Data in: the victim's requests in a disturbance and those of everybody else. Data out: the part of the victim's extra time
//! below the block layer that others are granted, and how it divides among them. It must not know the time above the block
//! layer.
//!
//! A suspect is granted what the victim's requests took longer with the suspect's work in flight than without, in the same
//! disturbance; where the victim was never without, what its time grows by for each byte ahead of it. Shares by bytes say
//! nothing of guilt: a neighbour on a slow device has as many as one that makes it slow. They only divide what is granted.
//! Nobody is granted anything for times in which the device answered nobody.

mod flights;

use super::ledger::Owner;
use crate::explain::spike::served::Busy;
use fathom_core::record::BlockRequest;
use flights::{Flight, Flights, line};

/// Requests of the victim that are looked at; of more, evenly chosen ones.
const SAMPLES_MAX: usize = 2_000;
/// Requests without the suspect that are enough to compare with.
const ALONE_MIN: usize = 5;
/// How much longer than usual the middle request with the suspect must take to be slow.
const SLOW: f64 = 1.2;
/// The longest stretch without anybody's completion, as part of a request's time: from the first on the device answered
/// nobody; up to the second it worked all the time (docs/journal: seven devices with a known truth).
const SILENT: f64 = 0.9;
const BUSY: f64 = 0.35;
/// So often it must be seen that the victim is slow with the suspect in flight, where the device answered nobody meanwhile.
const TIMES_MIN: f64 = 4.0;
/// Bytes ahead, as a multiple of what the victim usually has in flight, that flood a device.
const FLOOD: f64 = 64.0;
/// The same of a single request, and the part of the extra time that it must have been there.
const FLOOD_BY_ONE: f64 = 4096.0;
const BEHIND_ONE: f64 = 0.6;
/// How many standard deviations are beyond chance.
const SURE: f64 = 3.0;
/// How well the time must follow the bytes ahead, as a coefficient of correlation.
const FOLLOWS: f64 = 0.4;
/// The part of a request's usual time, from its begin, for which the suspect must have something in flight to count as there.
const PRESENT: f64 = 0.1;
/// How many times as many requests, and bytes, a second a device completes that is slow only for what is asked of it.
const GROWN: f64 = 1.2;
const GROWN_BYTES: f64 = 2.0;
/// How near to one of the suspect's ends the victim's must be to be of the same moment, as a part of the time between two of them and
/// of the victim's own; and for how much of the extra time that must be so. By chance it is for a fifth.
const SAME_MOMENT: f64 = 0.1;
const SAME_MOMENT_OF_OWN: f64 = 0.05;
const IN_STEP: f64 = 0.7;
/// How many of those slow I/Os there must be.
const IN_STEP_MIN: usize = 10;
/// How many of the suspect's are there at least, where the victim waits for one of them.
const QUEUED_IN_TURNS: f64 = 2.0;
/// How many times the usual time between two ends the device may answer nobody, and still have been at work.
const STEPS: f64 = 2.0;
/// A queue that may be what is waited for has so many requests; those with at most half of them ahead are the first. Of what the
/// middle request takes beyond the usual, the quickest of the first take no such part.
const QUEUE_MIN: f64 = 3.0;
const AT_ONCE: f64 = 0.6;
/// How much of the time before it a suspect that comes new had nothing in flight.
const ABSENT: f64 = 0.05;

/// Somebody's requests.
type Flown = (Owner, Vec<Flight>);

/// Somebody whose requests were in flight beside the victim's.
#[derive(Debug)]
struct Suspect {
    owner: Owner,
    flights: Flights,
    /// The part of the victim's extra time that it is granted by itself.
    part: f64,
}

/// One request of the victim.
#[derive(Debug, Clone, Copy)]
struct Sample {
    from_ns: u64,
    to_ns: u64,
    /// The longest stretch without anybody's completion, as part of its time.
    silent: f64,
}

impl Sample {
    fn ns(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64
    }
}

/// What others are granted of a victim's time below the block layer.
#[derive(Debug, Default)]
pub(super) struct Counterfactual {
    suspects: Vec<Suspect>,
    /// The part that all others together are granted.
    part: f64,
}

/// What is asked.
pub(super) struct Question<'r> {
    /// Times before it in which the victim was slow as well: nothing is normal in them.
    pub slow_before: Busy,
    /// All requests around the disturbance.
    pub requests: &'r [BlockRequest],
    /// The disturbance, and the time before it that is known.
    pub from_ns: u64,
    pub to_ns: u64,
    pub known_from_ns: u64,
    /// What a request of the victim usually takes below the block layer.
    pub usual_ns: f64,
    /// How many of its own it usually has ahead, and bytes in flight.
    pub usual_ahead: f64,
    pub usual_bytes: f64,
}

impl Question<'_> {
    /// The part of the normal time before in which somebody had something in flight.
    fn before(&self, flights: &Flights) -> f64 {
        let (from, to) = (self.known_from_ns, self.from_ns);
        let in_slow = self.slow_before.spans(from, to);
        let in_slow: u64 = in_slow.map(|(from, to)| flights.busy_ns(from, to)).sum();
        let length_ns = to.saturating_sub(from) - self.slow_before.within_ns(from, to);
        let busy_ns = flights.busy_ns(from, to).saturating_sub(in_slow);
        busy_ns as f64 / length_ns.max(1) as f64
    }

    /// How many times as much the device did in a second as in the time before.
    fn grown(&self, of: fn(&BlockRequest) -> f64) -> f64 {
        let rate = |from: u64, to: u64| {
            let requests = self.requests.iter();
            let there = requests.filter(|request| (from..to).contains(&request.completed_ns));
            there.map(of).sum::<f64>() / (to.saturating_sub(from).max(1) as f64 / 1e9)
        };
        rate(self.from_ns, self.to_ns) / rate(self.known_from_ns, self.from_ns).max(f64::MIN_POSITIVE)
    }
}

/// Whose a request is, seen from the victim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Party {
    /// The victim's own.
    Victim,
    /// Somebody's, who may be why the victim waits.
    Suspect(Owner),
    /// Somebody's who is never a suspect, such as a flush, which is judged for itself.
    Nobody,
}

impl Counterfactual {
    pub(super) fn new(question: &Question<'_>, party: impl Fn(&BlockRequest) -> Party) -> Self {
        let mut samples: Vec<Sample> = Vec::new();
        let mut parties: Vec<Flown> = Vec::new();
        let mut own: Vec<Flight> = Vec::new();
        let mut ends: Vec<u64> = Vec::with_capacity(question.requests.len());
        for request in question.requests {
            ends.push(request.completed_ns);
            let flight = (
                request.begun_ns(),
                request.completed_ns,
                u64::from(request.len_bytes),
            );
            match party(request) {
                Party::Nobody => {}
                Party::Victim => {
                    own.push(flight);
                    let within = flight.1 >= question.from_ns && flight.0 <= question.to_ns;
                    if within && flight.1 > flight.0 {
                        samples.push(Sample {
                            from_ns: flight.0,
                            to_ns: flight.1,
                            silent: 0.0,
                        });
                    }
                }
                Party::Suspect(owner) => match parties.iter_mut().find(|(known, _)| same(known, &owner)) {
                    Some((_, flights)) => flights.push(flight),
                    None => parties.push((owner, vec![flight])),
                },
            }
        }
        let step = samples.len().div_ceil(SAMPLES_MAX).max(1);
        let mut samples: Vec<Sample> = samples.into_iter().step_by(step).collect();
        ends.sort_unstable();
        for sample in &mut samples {
            sample.silent = silent(&ends, sample);
        }
        Self::judge(question, &samples, parties, own)
    }

    fn judge(question: &Question<'_>, samples: &[Sample], parties: Vec<Flown>, own: Vec<Flight>) -> Self {
        let everybody: Vec<Flight> = parties.iter().flat_map(|(_, flights)| flights.clone()).collect();
        let together = part(question, samples, &Flights::of(everybody));
        let mut suspects: Vec<Suspect> = parties
            .into_iter()
            .map(|(owner, flights)| {
                let flights = Flights::of(flights);
                Suspect {
                    part: part(question, samples, &flights),
                    owner,
                    flights,
                }
            })
            .collect();
        let best = suspects.iter().map(|suspect| suspect.part).fold(0.0, f64::max);
        // Its own queue, where it is far longer than usual: more was asked for.
        let own = Flights::of(own);
        let queue = own_queue(question, samples, &own);
        let whole = together.max(best);
        if queue > 0.0 {
            suspects.push(Suspect {
                owner: Owner::of(crate::explain::answer::OwnerClass::OwnQueue),
                flights: own,
                part: queue,
            });
        }
        // Who by itself is granted nothing has no share in what all are granted, if anybody is.
        if suspects.iter().any(|suspect| suspect.part > 0.0) {
            suspects.retain(|suspect| suspect.part >= whole.max(queue) * 0.2);
        }
        Self {
            suspects,
            part: whole.max(queue).min(1.0),
        }
    }

    /// Who is granted which part of the extra time of a request; the rest is the device's.
    pub(super) fn granted(&self, from_ns: u64, to_ns: u64) -> Vec<(Owner, f64)> {
        if self.part <= 0.0 {
            return Vec::new();
        }
        let weight = |suspect: &Suspect| {
            let middle = from_ns + (to_ns - from_ns) / 2;
            let (_, at_begin) = suspect.flights.ahead(from_ns + 1);
            let (_, later) = suspect.flights.ahead(middle);
            let there = suspect.flights.busy_ns(from_ns, to_ns) as f64 / (to_ns - from_ns).max(1) as f64;
            // A discard moves nothing: the time for which it is there counts as well.
            (at_begin + later + 1.0) * there
        };
        let weights: Vec<(Owner, f64)> = self
            .suspects
            .iter()
            .map(|suspect| (suspect.owner, weight(suspect)))
            .collect();
        let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
        // Where none of them had anything in flight, none made it wait.
        if all <= 0.0 {
            return Vec::new();
        }
        weights
            .into_iter()
            .map(|(owner, weight)| (owner, self.part * weight / all))
            .collect()
    }
}

fn same(a: &Owner, b: &Owner) -> bool {
    a.class == b.class && a.process.map(|process| process.comm) == b.process.map(|process| process.comm)
}

/// The longest stretch of a request's time without anybody's completion, as a part of it; its own end does not count.
fn silent(ends: &[u64], sample: &Sample) -> f64 {
    let first = ends.partition_point(|end| *end <= sample.from_ns);
    let there = ends[first..].iter().take_while(|end| **end < sample.to_ns);
    let (mut last, mut longest) = (sample.from_ns, 0);
    for end in there {
        longest = longest.max(end - last);
        last = *end;
    }
    longest.max(sample.to_ns - last) as f64 / sample.ns()
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The part of the victim's extra time that these flights are granted.
fn part(question: &Question<'_>, samples: &[Sample], flights: &Flights) -> f64 {
    let usual_ns = question.usual_ns.max(1.0);
    // In a time that is as long for each: a long one would meet somebody sooner, for no other reason than its length.
    let first_ns = usual_ns as u64;
    let with = |sample: &&Sample| {
        let busy_ns = flights.busy_ns(sample.from_ns, sample.from_ns + first_ns) as f64;
        busy_ns >= usual_ns * PRESENT
    };
    let (over, alone): (Vec<&Sample>, Vec<&Sample>) = samples.iter().partition(with);
    // Those before the suspect came and after it went may lie beyond what made the device slow: only those between its
    // requests are of the same time.
    let first = over.iter().map(|sample| sample.from_ns).min().unwrap_or(u64::MAX);
    let last = over.iter().map(|sample| sample.to_ns).max().unwrap_or(0);
    let between = |sample: &&Sample| first <= sample.from_ns && sample.to_ns <= last;
    let alone: Vec<&Sample> = alone.into_iter().filter(between).collect();
    let slow: Vec<&&Sample> = over
        .iter()
        .filter(|sample| sample.ns() > usual_ns * SLOW)
        .collect();
    if slow.is_empty() {
        return 0.0;
    }
    // What did not get on while the victim waited did not make it wait.
    let extra = |sample: &Sample| sample.ns() - usual_ns;
    let all: f64 = slow.iter().map(|sample| extra(sample)).sum();
    let weighted = |value: &dyn Fn(&Sample) -> f64| -> f64 {
        slow.iter()
            .map(|sample| value(sample) * extra(sample))
            .sum::<f64>()
            / all.max(1.0)
    };
    let moved =
        weighted(&|sample| f64::from(u8::from(flights.ended_within(sample.from_ns, sample.to_ns) > 0)));
    let silence = weighted(&|sample| sample.silent);
    // One stall holds up all that are in flight: that is seen once, not many times.
    if by_one(question, &slow, flights) {
        return 1.0;
    }
    let times = times_seen(&slow, usual_ns);
    let possible = possible(question, &slow, flights);
    let in_step = if times >= TIMES_MIN {
        in_step(usual_ns, &slow, flights).min(possible)
    } else {
        0.0
    };
    let once = silence >= SILENT && times < TIMES_MIN;
    // Far more bytes ahead than the victim ever has are reason enough for a device to be silent.
    let ahead = middle(
        slow.iter()
            .map(|sample| flights.ahead(sample.from_ns + 1).1)
            .collect(),
    );
    let flooded = ahead >= question.usual_bytes * FLOOD && ahead > 0.0;
    if moved < 0.5 || (once && !flooded) {
        return in_step;
    }
    let over_ns = middle(over.iter().map(|sample| sample.ns()).collect());
    if alone.len() >= ALONE_MIN && over_ns > usual_ns * SLOW && slower(&over, &alone) {
        let alone_ns = middle(alone.iter().map(|sample| sample.ns()).collect()).max(usual_ns);
        return ((over_ns - alone_ns) / (over_ns - usual_ns)).clamp(0.0, possible);
    }
    let followed = follows(usual_ns, &over, flights).max(in_step);
    if alone.len() >= ALONE_MIN {
        return followed.min(possible);
    }
    followed
        .max(newcomer(question, samples, flights, silence))
        .min(possible)
}

/// Whether the first are slower than the others beyond chance (Mann and Whitney 1947, with the normal approximation).
fn slower(over: &[&Sample], alone: &[&Sample]) -> bool {
    let mut all: Vec<(f64, bool)> = over.iter().map(|sample| (sample.ns(), true)).collect();
    all.extend(alone.iter().map(|sample| (sample.ns(), false)));
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let ranks: f64 = (1..)
        .zip(&all)
        .filter(|(_, (_, over))| *over)
        .map(|(rank, _)| f64::from(rank))
        .sum();
    let (n, m) = (over.len() as f64, alone.len() as f64);
    let expected = n * (n + m + 1.0) / 2.0;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    (ranks - expected) / deviation.max(f64::MIN_POSITIVE) >= SURE
}

/// Whether the victim waited while one request of many thousand times its size was carried out, such as a discard: nothing
/// ends meanwhile, and a device that stood still would not have such a one in it each time.
fn by_one(question: &Question<'_>, slow: &[&&Sample], flights: &Flights) -> bool {
    let (mut behind, mut all) = (0.0, 0.0);
    for sample in slow {
        let (_, at_begin) = flights.ahead(sample.from_ns + 1);
        let (_, came) = flights.begun_within(sample.from_ns, sample.to_ns);
        let extra = sample.ns() - question.usual_ns;
        all += extra;
        if at_begin + came >= question.usual_bytes * FLOOD_BY_ONE {
            behind += extra.min(flights.busy_ns(sample.from_ns, sample.to_ns) as f64);
        }
    }
    behind >= all * BEHIND_ONE
}

/// The part of the extra time of I/Os that ended as one of the suspect's did, while others of the suspect's went on: a device that
/// carries one out at a time, and takes turns. Such a victim waits for one request, however many are ahead of it, and may be answered a
/// moment before it; or always as long behind it, where a large request is carried out in parts and the victim's comes between two of
/// the next. What a stall or a slow device answers is not in step: all at once, or each in its own time.
fn in_step(usual_ns: f64, slow: &[&&Sample], flights: &Flights) -> f64 {
    if slow.len() < IN_STEP_MIN {
        return 0.0;
    }
    let Some(step_ns) = flights.step_ns() else {
        return 0.0;
    };
    let near_ns = |sample: &Sample| (step_ns * SAME_MOMENT).min(sample.ns() * SAME_MOMENT_OF_OWN);
    let at_work = |sample: &Sample| sample.silent * sample.ns() <= step_ns * STEPS;
    let (mut together, mut all) = (0.0, 0.0);
    let mut behind: Vec<(f64, f64)> = Vec::new();
    for sample in slow {
        let extra = sample.ns() - usual_ns;
        all += extra;
        if !at_work(sample) {
            continue;
        }
        if flights.nearest_end_ns(sample.to_ns) <= near_ns(sample) {
            together += extra;
        }
        if let Some(ended) = flights.last_end(sample.to_ns).filter(|end| *end > sample.from_ns) {
            behind.push(((sample.to_ns - ended) as f64, extra));
        }
    }
    if takes_turns(slow, flights) {
        let shortest_ns = slow
            .iter()
            .map(|sample| near_ns(sample))
            .fold(f64::INFINITY, f64::min);
        together = together.max(most_within(behind, 2.0 * shortest_ns));
    }
    let part = together / f64::max(all, 1.0);
    if part >= IN_STEP { part } else { 0.0 }
}

/// Whether a victim's I/O waits for one of several of the suspect's: of those that a device carries out beside it, each in its own
/// time, as many end meanwhile.
fn takes_turns(slow: &[&&Sample], flights: &Flights) -> bool {
    let each = |value: &dyn Fn(&Sample) -> f64| middle(slow.iter().map(|sample| value(sample)).collect());
    let ended = each(&|sample| flights.ended_within(sample.from_ns, sample.to_ns) as f64);
    let queued = each(&|sample| flights.ahead(sample.from_ns + 1).0);
    ended <= 1.0 && queued >= QUEUED_IN_TURNS
}

/// The most weight whose values lie within `width` of each other.
fn most_within(mut values: Vec<(f64, f64)>, width: f64) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut first, mut sum, mut most) = (0, 0.0, 0.0);
    for (value, weight) in &values {
        sum += weight;
        while values[first].0 < value - width {
            sum -= values[first].1;
            first += 1;
        }
        most = f64::max(most, sum);
    }
    most
}

/// How many times apart these were slow, each time counted for what it weighs: (sum of weights)² / sum of their squares.
fn times_seen(slow: &[&&Sample], usual_ns: f64) -> f64 {
    let mut spans: Vec<(u64, u64, f64)> = slow
        .iter()
        .map(|sample| (sample.from_ns, sample.to_ns, sample.ns() - usual_ns))
        .collect();
    spans.sort_unstable_by_key(|span| (span.0, span.1));
    let (mut times, mut last): (Vec<f64>, u64) = (Vec::new(), 0);
    for (from, to, weight) in spans {
        match times.last_mut() {
            Some(time) if from < last => *time += weight,
            _ => times.push(weight),
        }
        last = last.max(to);
    }
    let squares: f64 = times.iter().map(|weight| weight * weight).sum();
    times.iter().sum::<f64>().powi(2) / squares.max(f64::MIN_POSITIVE)
}

/// The part of the extra time that work of that size can make at all: a request more among many, or a small one, costs what
/// one of the victim's costs.
fn possible(question: &Question<'_>, slow: &[&&Sample], flights: &Flights) -> f64 {
    let (mut possible, mut extra) = (0.0, 0.0);
    for sample in slow {
        let (number, bytes) = flights.ahead(sample.from_ns + 1);
        let came = flights.begun_within(sample.from_ns, sample.to_ns);
        let number = (number + came.0) / (question.usual_ahead + 1.0);
        let bytes = (bytes + came.1) / question.usual_bytes.max(1.0);
        possible += question.usual_ns * number.max(bytes);
        extra += sample.ns() - question.usual_ns;
    }
    (possible / f64::max(extra, 1.0)).min(1.0)
}

/// How much of the extra time grows with what is ahead, where it does.
fn follows(usual_ns: f64, over: &[&Sample], flights: &Flights) -> f64 {
    let times: Vec<f64> = over.iter().map(|sample| sample.ns()).collect();
    let ahead: Vec<(f64, f64)> = over.iter().map(|sample| flights.ahead(sample.from_ns)).collect();
    let by_bytes = line(&ahead.iter().map(|ahead| ahead.1).collect::<Vec<_>>(), &times);
    let by_number = line(&ahead.iter().map(|ahead| ahead.0).collect::<Vec<_>>(), &times);
    let by_bytes_is_best = by_bytes.correlation >= by_number.correlation;
    let best = if by_bytes_is_best { by_bytes } else { by_number };
    if best.correlation < FOLLOWS || deviations(best.correlation, over.len()) < SURE {
        return 0.0;
    }
    // One who comes and goes with what made the device slow may be met by one at its edge: a single point makes no line.
    let value = |ahead: &(f64, f64)| if by_bytes_is_best { ahead.1 } else { ahead.0 };
    let mut points: Vec<(f64, f64)> = ahead.iter().map(value).zip(times).collect();
    let off = |(x, _): &(f64, f64)| (x - best.mean_x).abs();
    let outermost = (0..points.len()).max_by(|&a, &b| off(&points[a]).total_cmp(&off(&points[b])));
    if let Some(outermost) = outermost {
        points.swap_remove(outermost);
    }
    let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    if line(&x, &y).correlation < FOLLOWS {
        return 0.0;
    }
    let extra_ns = (best.mean_y - usual_ns).max(1.0);
    (best.slope * best.mean_x / extra_ns).clamp(0.0, 1.0)
}

/// How many standard deviations a coefficient of correlation is off 0: Student's t, brought to the normal distribution by
/// Wallace's approximation (1959), as of three points any two are on a line and the third often is.
fn deviations(correlation: f64, points: usize) -> f64 {
    let Some(freedom) = points.checked_sub(2).filter(|freedom| *freedom > 0) else {
        return 0.0;
    };
    let freedom = freedom as f64;
    // 1 + t² / freedom.
    let ratio = 1.0 / (1.0 - correlation.powi(2)).max(f64::EPSILON);
    (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * (freedom * ratio.ln()).sqrt()
}

/// Somebody whose queue is always as long: nothing varies that could show what it costs. It is granted all where it came as
/// the victim slowed down, had far more in flight, and the device completed more than before without a pause.
fn newcomer(question: &Question<'_>, samples: &[Sample], flights: &Flights, silence: f64) -> f64 {
    let known = question.known_from_ns;
    let before = question.before(flights);
    let ahead = |value: fn((f64, f64)) -> f64| {
        let each = samples.iter().map(|sample| value(flights.ahead(sample.from_ns)));
        middle(each.collect())
    };
    let (in_flight, bytes) = (ahead(|ahead| ahead.0), ahead(|ahead| ahead.1));
    let many = in_flight >= 4.0 * (question.usual_ahead + 1.0) && question.grown(|_| 1.0) >= GROWN;
    let large = bytes >= FLOOD * question.usual_bytes
        && question.grown(|request| f64::from(request.len_bytes)) >= GROWN_BYTES;
    let first = flights.begun.iter().find(|begun| **begun + 1 >= known);
    // As slow as those are that show it; a little slower is one now and then.
    let typical_ns = middle(samples.iter().map(Sample::ns).collect());
    let bar_ns = question.usual_ns + (typical_ns - question.usual_ns) / 2.0;
    let first_slow = samples.iter().filter(|sample| sample.ns() > bar_ns);
    let first_slow = first_slow.map(|sample| sample.to_ns).min();
    let came_first = match (first, first_slow) {
        (Some(first), Some(slow)) => *first <= slow,
        _ => false,
    };
    let guilty = before <= ABSENT && came_first && silence <= BUSY && (many || large);
    let guilty = guilty && !slow_at_once(question, flights, in_flight);
    f64::from(u8::from(guilty))
}

/// Whether requests of a queue were as slow as all before there was one: then it is not what they waited for.
fn slow_at_once(question: &Question<'_>, flights: &Flights, in_flight: f64) -> bool {
    if in_flight < QUEUE_MIN {
        return false;
    }
    // At the end the device may be as fast as before.
    let half_ns = question.from_ns + (question.to_ns - question.from_ns) / 2;
    let there: Vec<(usize, u64)> = flights.queued(question.known_from_ns, half_ns).collect();
    let extra = |ns: f64| (ns - question.usual_ns).max(0.0);
    let typical = extra(middle(there.iter().map(|(_, ns)| *ns as f64).collect()));
    let first = there
        .iter()
        .filter(|(ahead, _)| *ahead as f64 * 2.0 <= in_flight - 1.0);
    let quickest = first.map(|(_, ns)| extra(*ns as f64)).min_by(f64::total_cmp);
    quickest.is_some_and(|quickest| typical > 0.0 && quickest >= typical * AT_ONCE)
}

/// The part of the extra time that the victim's own queue explains, where that is far longer than usual.
fn own_queue(question: &Question<'_>, samples: &[Sample], own: &Flights) -> f64 {
    let ahead = middle(samples.iter().map(|sample| own.ahead(sample.from_ns).0).collect());
    let silence = middle(samples.iter().map(|sample| sample.silent).collect());
    if ahead < question.usual_ahead * 2.0 + 2.0 || silence >= SILENT {
        return 0.0;
    }
    // A queue that is always as long shows nothing by varying: that the device did more than before, without a pause, does.
    if silence <= BUSY && question.grown(|_| 1.0) >= GROWN {
        return 1.0;
    }
    let all: Vec<&Sample> = samples.iter().collect();
    follows(question.usual_ns.max(1.0), &all, own)
}

#[cfg(test)]
mod tests;
