use super::*;
use crate::explain::answer::{OwnerClass, Process};
use fathom_core::record::Comm;
use fathom_core::rng::Rng;
use fathom_testkit::make;

const MS: u64 = 1_000_000;
fn neighbour() -> Process {
    Process {
        pid: 9,
        comm: Comm::from("dd"),
    }
}

/// A device on which a victim with one in flight meets a neighbour with `depth` of `bytes` in bursts.
struct Made {
    requests: Vec<BlockRequest>,
}

impl Made {
    /// Requests of the device from 0 to 4 s: a pipe of so many bytes a second, each request 1 ms besides; or a device on
    /// which each goes on for itself and takes so long.
    fn new(
        seed: u64,
        pipe: Option<f64>,
        latency: impl Fn(u64) -> u64,
        neighbour: impl Fn(u64) -> bool,
        depth: usize,
        bytes: u32,
    ) -> Self {
        let mut rng = Rng::new(seed);
        let mut requests: Vec<BlockRequest> = Vec::new();
        let mut free = 0u64;
        // Each slot sends its next request when its last one is done: (next, victim).
        let mut slots: Vec<(u64, bool)> = vec![(0, true)];
        slots.extend((0..depth).map(|_| (0, false)));
        loop {
            let (index, _) = slots
                .iter()
                .enumerate()
                .min_by_key(|(_, slot)| slot.0)
                .expect("a slot");
            let (now, victim) = slots[index];
            if now > 4_000 * MS {
                break;
            }
            if !victim && !neighbour(now) {
                slots[index].0 = now + 5 * MS;
                continue;
            }
            let len_bytes = if victim { 4096 } else { bytes };
            let jitter = rng.below(MS / 5);
            let done = match pipe {
                Some(rate) => {
                    let begin = free.max(now);
                    free = begin + (f64::from(len_bytes) / rate * 1e9) as u64;
                    free + latency(now) + jitter
                }
                None => now + latency(now) + jitter,
            };
            requests.push(BlockRequest {
                len_bytes,
                pid: if victim { 1 } else { 9 },
                comm: Comm::from(if victim { "fathom" } else { "dd" }),
                ..make::request(now, done)
            });
            slots[index].0 = done + 20_000;
        }
        requests.sort_by_key(|request| request.completed_ns);
        Self { requests }
    }

    fn part(&self, from_ms: u64, to_ms: u64) -> f64 {
        let question = Question {
            slow_before: Busy::default(),
            requests: &self.requests,
            from_ns: from_ms * MS,
            to_ns: to_ms * MS,
            known_from_ns: 0,
            usual_ns: 1.1e6,
            usual_ahead: 0.0,
            usual_bytes: 4096.0,
        };
        let found = Counterfactual::new(&question, |request| match request.pid {
            1 => Party::Victim,
            _ => Party::Suspect(Owner::by(OwnerClass::CompetingIo, neighbour())),
        });
        found.part
    }
}

fn always(_: u64) -> bool {
    true
}

/// 400 ms in each second.
fn bursts(now: u64) -> bool {
    now / MS % 1000 > 600
}

fn second_half(now: u64) -> bool {
    now > 2_000 * MS
}

#[test]
fn a_neighbour_who_fills_the_pipe_is_granted_what_it_costs() {
    for seed in 0..5 {
        let with = Made::new(seed, Some(1e8), |_| MS, bursts, 4, 256 << 10);
        assert!(with.part(600, 4_000) > 0.9, "bursts, seed {seed}");
        let with = Made::new(seed, Some(1e8), |_| MS, second_half, 8, 128 << 10);
        assert!(with.part(2_000, 4_000) > 0.8, "never alone, seed {seed}");
    }
}

/// The device is slower for a while; a neighbour is there all the time, in bursts, or from that moment on.
#[test]
fn a_neighbour_on_a_slow_device_is_granted_nothing() {
    let slow = |now: u64| if second_half(now) { 4 * MS } else { MS };
    for seed in 0..5 {
        for (depth, bytes) in [(2, 4096), (4, 64 << 10)] {
            for there in [always, bursts, second_half] {
                let made = Made::new(seed, None, slow, there, depth, bytes);
                let part = made.part(2_000, 4_000);
                assert!(part < 0.1, "seed {seed}, {depth} of {bytes}: {part}");
            }
        }
    }
}

/// One at a time, in turns: each read waits for one large write of several that are queued, and is answered a moment before it, or
/// as the first part of the next was carried out.
#[test]
fn a_neighbour_whose_every_write_is_waited_for_is_granted_that() {
    let step = 5 * MS + MS / 4;
    let cases =
        [(1, 2), (2, 4), (3, 10)].map(|(seed, in_flight)| [(seed, in_flight, 0), (seed, in_flight, MS)]);
    for (seed, in_flight, behind) in cases.into_iter().flatten() {
        let moved = |at: u64| at + MS / 20 - behind;
        let mut rng = Rng::new(seed);
        let mut requests = Vec::new();
        let victim = |from: u64, to: u64| BlockRequest {
            len_bytes: 4096,
            pid: 1,
            ..make::request(from, to)
        };
        requests.extend((0..1_800).map(|n| victim(n * 11 * MS / 10, (n + 1) * 11 * MS / 10 - 20_000)));
        let mut ends = vec![2_000 * MS];
        for turn in 0..300 {
            let begin = *ends.last().expect("the first");
            let end = begin + step + rng.below(MS / 20);
            ends.push(end);
            requests.push(victim(begin + 20_000, end));
            let queued = ends[usize::try_from(turn).expect("small").saturating_sub(in_flight)];
            requests.push(BlockRequest {
                len_bytes: 512 << 10,
                pid: 9,
                ..make::request(moved(queued), moved(end))
            });
        }
        requests.sort_by_key(|request| request.completed_ns);
        let made = Made { requests };
        let part = made.part(2_000, 3_500);
        assert!(part > 0.9, "{in_flight}, {behind} ns behind: {part}");
    }
}

/// Each in its own time, which is the same for all: the victim ends always as long behind one of the neighbour's.
#[test]
fn a_neighbour_in_step_on_a_slow_device_is_granted_nothing() {
    for in_flight in 1..=8_u64 {
        let mut requests = Vec::new();
        for pid in [1, 9] {
            let queue = if pid == 1 { 1 } else { in_flight };
            let mut begins: Vec<u64> = (0..queue)
                .map(|n| MS * n * 4 / queue + u64::from(pid) * MS / 9)
                .collect();
            // The neighbour comes as the device slows down.
            while begins[0] < 4_000 * MS {
                for begin in &mut begins {
                    let slow = (2_000..3_500).contains(&(*begin / MS));
                    let end = *begin + if slow { 4 * MS } else { MS };
                    if pid == 1 || slow {
                        requests.push(BlockRequest {
                            len_bytes: if pid == 1 { 4096 } else { 64 << 10 },
                            pid,
                            ..make::request(*begin, end)
                        });
                    }
                    *begin = end + 20_000;
                }
            }
        }
        requests.sort_by_key(|request| request.completed_ns);
        let part = Made { requests }.part(2_000, 3_500);
        assert!(part < 0.1, "{in_flight}: {part}");
    }
}

/// The same of a device that stands still now and then, and then answers all that waited.
#[test]
fn a_neighbour_in_many_stalls_is_granted_nothing() {
    let stall = |now: u64| {
        let at = now / MS % 300;
        if at >= 200 { (300 - at) * MS + MS } else { MS }
    };
    for seed in 0..5 {
        for (depth, bytes) in [(1, 8192), (4, 64 << 10), (8, 512 << 10)] {
            let made = Made::new(seed, None, stall, always, depth, bytes);
            let part = made.part(0, 4_000);
            assert!(part < 0.1, "seed {seed}, {depth} of {bytes}: {part}");
        }
    }
}

/// The device stands still, once, with a request of a neighbour in it who has hardly any.
#[test]
fn a_neighbour_in_a_stall_is_granted_nothing() {
    let stall = |now: u64| {
        if (2_000..2_300).contains(&(now / MS)) {
            2_300 * MS - now + MS
        } else {
            MS
        }
    };
    for seed in 0..5 {
        for there in [always, bursts, second_half] {
            let made = Made::new(seed, None, stall, there, 1, 8192);
            let part = made.part(1_990, 2_310);
            assert!(part < 0.1, "seed {seed}: {part}");
        }
    }
}

/// A device that takes four times as long from the moment that somebody comes, for him as well; his requests end one after the other by
/// chance, as those in a pipe do.
#[test]
fn a_newcomer_who_is_as_slow_from_his_first_request_on_is_granted_nothing() {
    let latency = |now: u64| if now > 2_000 * MS { 4 * MS } else { MS };
    let alone = Made::new(1, None, latency, |_| false, 0, 0).requests;
    for depth in [4, 6, 8] {
        let made = |first_ns: &dyn Fn(u64) -> u64, service: &dyn Fn(u64, u64) -> u64| {
            let mut all = alone.clone();
            for slot in 0..depth {
                let mut begin = first_ns(slot);
                let mut number = 0;
                while begin < 4_000 * MS {
                    let end = begin + service(slot, number);
                    all.push(BlockRequest {
                        len_bytes: 64 << 10,
                        pid: 9,
                        comm: Comm::from("dd"),
                        ..make::request(begin, end)
                    });
                    begin = end + 20_000;
                    number += 1;
                }
            }
            all.sort_by_key(|request| request.completed_ns);
            Made { requests: all }
        };
        // Evenly apart.
        let apart = made(&|slot| 2_001 * MS + slot * 4 * MS / depth, &|_, _| 4 * MS);
        assert!(apart.part(2_000, 4_000) <= 0.0, "{depth} apart");
        // All at once, one after the other from then on: the first are quick.
        let pipe = made(&|_| 2_001 * MS, &|slot, number| match number {
            0 => (slot + 1) * 4 * MS / depth,
            _ => 4 * MS,
        });
        assert!(pipe.part(2_000, 4_000) >= 1.0, "{depth} in a pipe");
    }
}

/// What is granted to all is divided by what each has ahead, and adds up to no more than was granted.
#[test]
fn grants_add_up() {
    let made = Made::new(1, Some(1e8), |_| MS, bursts, 4, 256 << 10);
    let question = Question {
        slow_before: Busy::default(),
        requests: &made.requests,
        from_ns: 600 * MS,
        to_ns: 4_000 * MS,
        known_from_ns: 0,
        usual_ns: 1.1e6,
        usual_ahead: 0.0,
        usual_bytes: 4096.0,
    };
    let other = Process {
        pid: 10,
        comm: Comm::from("cp"),
    };
    let found = Counterfactual::new(&question, |request| match request.pid {
        1 => Party::Victim,
        _ if request.sector == 0 && request.completed_ns % 3 == 0 => {
            Party::Suspect(Owner::by(OwnerClass::CompetingIo, other))
        }
        _ => Party::Suspect(Owner::by(OwnerClass::CompetingIo, neighbour())),
    });
    let slow = made.requests.iter().filter(|request| request.pid == 1);
    for request in slow {
        let granted = found.granted(request.begun_ns(), request.completed_ns);
        let sum: f64 = granted.iter().map(|(_, part)| part).sum();
        assert!(sum <= 1.0 + 1e-9, "{granted:?}");
    }
}
