//! A layout under its load on the model: what it delivers, and how long I/Os take.
//!
//! Data in: a layout, a load. Data out: [`Proof`]. The load is open: I/Os are sent when they are due, evenly spaced, whether
//! earlier ones are complete or not, so that what a layout cannot carry shows as a delay that grows. Seconds of it stand for
//! the whole: without credit where the load has no end, with a bucket that is smaller by as much as the time is where it has
//! one. It must not know prices.

use crate::layout::{Cache, Layout, LayoutError};
use crate::need::{Bound, Load, MILLION, Need, SECTOR_BYTES};
use crate::replay::Replayed;
use crate::setup::Lasts;
use fathom_core::backend::{Op, Request};
use fathom_core::histogram::Histogram;
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Submitter, VirtualDisk};
use fathom_model::catalog::Catalog;
use fathom_model::defaults;
use fathom_model::{Machine, Spec, target};

const SECOND_NS: u64 = 1_000_000_000;
/// I/Os of a proof, about: more of them say hardly more.
const IOS: u64 = 300_000;
/// Seconds of a proof.
const SECONDS: (u64, u64) = (4, 20);
/// What a host's cache and the working set are scaled down to, so that it is warm soon.
const WARM_BYTES: u64 = 4 << 30;
/// The reads that warm it.
const WARM_READ_BYTES: u32 = 256 << 10;
/// More I/Os are never on their way: a load that is not carried would fill memory.
const UNDER_WAY_MAX: usize = 4_000_000;

/// What came out.
#[derive(Debug, Clone)]
pub struct Proof {
    /// I/Os a second that were complete in time.
    pub ios_per_second: f64,
    pub bytes_per_second: f64,
    /// From when each was due.
    pub latency: Histogram,
    /// What a recorded load came to, where it was that.
    pub replayed: Option<Box<Replayed>>,
}

impl From<Replayed> for Proof {
    fn from(replayed: Replayed) -> Self {
        let seconds = replayed.seconds.max(1) as f64;
        Self {
            ios_per_second: replayed.ios as f64 / seconds,
            bytes_per_second: replayed.bytes as f64 / seconds,
            latency: replayed.latency(),
            replayed: Some(Box::new(replayed)),
        }
    }
}

impl Proof {
    /// What part of `load` was delivered.
    pub fn delivered(&self, load: &Load) -> f64 {
        if load.ios == 0 {
            1.0
        } else {
            self.ios_per_second / load.ios as f64
        }
    }

    /// I/Os in flight on average (documented: queue depth = IOPS x latency).
    pub fn in_flight(&self) -> u64 {
        (self.ios_per_second * self.latency.mean() / SECOND_NS as f64).ceil() as u64
    }

    /// Whether latency is within the bounds of `need`; of a recorded load also whether it was carried to its end, and held in no
    /// more seconds than may be.
    pub fn keeps(&self, need: &Need) -> bool {
        let replayed = self.replayed.as_ref();
        replayed.is_none_or(|replayed| replayed.carried(&need.load.lasts))
            && need
                .latency
                .iter()
                .all(|bound| self.latency_ns(bound) <= bound.below_ns)
    }

    /// What `bound` is about.
    pub fn latency_ns(&self, bound: &Bound) -> u64 {
        match bound.percentile {
            Some(percentile) => self.latency.percentile(percentile),
            None => self.latency.mean() as u64,
        }
    }
}

/// Carries `load` out on the model of `layout`.
///
/// # Errors
/// The layout cannot be modelled.
pub fn prove(layout: &Layout<'_>, load: &Load, catalog: &Catalog) -> Result<Proof, LayoutError> {
    let seconds = (IOS / load.ios.max(1)).clamp(SECONDS.0, SECONDS.1);
    prove_for(layout, load, catalog, seconds)
}

/// The same, for about so many seconds.
pub(crate) fn prove_for(
    layout: &Layout<'_>,
    load: &Load,
    catalog: &Catalog,
    seconds: u64,
) -> Result<Proof, LayoutError> {
    let mut spec = target::parse(&layout.target(), catalog)?;
    // A plan counts on what is stated, not on what disks were seen to give beyond it.
    for disk in &mut spec.disks {
        disk.released = None;
    }
    let duration_ns = shortened(&mut spec, &load.lasts, seconds);
    let set_bytes = scaled(&mut spec, layout, load);
    let mut machine = Machine::new(&spec);
    machine.attach(Submitter {
        direct: true,
        sync_writes: false,
        file_base_bytes: vec![0],
    });
    let begin_ns = match layout.cache {
        Cache::None => 0,
        Cache::ReadOnly | Cache::ReadWrite => warm(&mut machine, set_bytes),
    };
    Ok(Drive::new(load, set_bytes, spec.stripe_chunk_bytes).carry_out(&mut machine, begin_ns, duration_ns))
}

/// Makes all credit fit the time that stands for the whole. Returns that time.
fn shortened(spec: &mut Spec, lasts: &Lasts, seconds: u64) -> u64 {
    let disks = spec.disks.iter_mut().map(|disk| &mut disk.limits);
    let machine = spec.vm.iter_mut().map(|vm| &mut vm.uncached);
    let limits = disks.chain(machine);
    match lasts {
        Lasts::Always => {
            limits.for_each(|limits| limits.burst = None);
            seconds * SECOND_NS
        }
        // Its busiest seconds, from full credit.
        Lasts::AsSeen(_) => seconds * SECOND_NS,
        &Lasts::Seconds(whole) => {
            let full = (defaults::BURST_SECONDS * seconds).div_ceil(whole).max(1);
            for burst in limits.filter_map(|limits| limits.burst.as_mut()) {
                burst.full_seconds = full;
            }
            // As long as a bucket of so many seconds is to the whole as a real one is.
            full * SECOND_NS / defaults::BURST_SECONDS * whole
        }
    }
}

/// Makes a host's cache small, and what is read and written again and again by as much. Returns the latter.
fn scaled(spec: &mut Spec, layout: &Layout<'_>, load: &Load) -> u64 {
    let volume = spec.volume_bytes();
    let set = load.working_set_bytes.clamp(1 << 20, volume);
    let Some(cache) = &spec.host_cache else {
        return volume;
    };
    let larger = set.max(cache.capacity_bytes);
    let small =
        |bytes: u64| (u128::from(bytes) * u128::from(WARM_BYTES.min(larger)) / u128::from(larger)) as u64;
    if layout.cache != Cache::None {
        spec.host_cache = Some(defaults::host_cache(
            cache.mode,
            small(cache.capacity_bytes).max(1 << 20),
        ));
    }
    small(set).max(1 << 20)
}

/// Reads all of what the cache is to know. Returns when that is over.
fn warm(machine: &mut Machine, set_bytes: u64) -> u64 {
    let mut at = MonoTime(0);
    for number in 0..set_bytes / u64::from(WARM_READ_BYTES) {
        let request = Request {
            slot: 0,
            op: Op::Read,
            file: 0,
            offset: number * u64::from(WARM_READ_BYTES),
            len: WARM_READ_BYTES,
        };
        let completed = machine.submit(0, 0, &request, at).completed;
        if completed != MonoTime::NEVER {
            at = at.max(completed);
        }
        machine.advance(at, &mut |_, _| {});
    }
    at.0 + SECOND_NS
}

/// A load on its way.
struct Drive {
    ios: u64,
    read_ppm: u64,
    /// Sizes of I/Os: the smaller, and how many of a million are larger by a sector.
    block_bytes: u64,
    larger_ppm: u64,
    align_bytes: u64,
    places: u64,
    rng: Rng,
    begin_ns: u64,
    end_ns: u64,
    done: u64,
    done_bytes: u64,
    latency: Histogram,
}

impl Drive {
    fn new(load: &Load, set_bytes: u64, chunk_bytes: u64) -> Self {
        let ios = load.ios.max(1);
        let block_bytes = (load.bytes / ios / SECTOR_BYTES * SECTOR_BYTES).max(SECTOR_BYTES);
        let rest = load.bytes.saturating_sub(block_bytes * ios);
        let largest = block_bytes + SECTOR_BYTES;
        // Small I/Os cross no chunk, as those of file systems do not.
        let align_bytes = match (rest, block_bytes.next_power_of_two()) {
            (0, _) => block_bytes,
            (_, align) if align.max(largest.next_power_of_two()) <= chunk_bytes => {
                largest.next_power_of_two()
            }
            _ => block_bytes,
        };
        Self {
            ios,
            read_ppm: load.read_ppm,
            block_bytes,
            larger_ppm: (u128::from(rest) * u128::from(MILLION) / u128::from(ios * SECTOR_BYTES)) as u64,
            align_bytes,
            places: (set_bytes.saturating_sub(largest) / align_bytes).max(1),
            rng: Rng::new(1),
            begin_ns: 0,
            end_ns: 0,
            done: 0,
            done_bytes: 0,
            latency: Histogram::new(),
        }
    }

    fn request(&mut self) -> Request {
        let larger = self.rng.below(MILLION) < self.larger_ppm;
        let read = self.rng.below(MILLION) < self.read_ppm;
        Request {
            slot: 0,
            op: if read { Op::Read } else { Op::Write },
            file: 0,
            offset: self.rng.below(self.places) * self.align_bytes,
            len: (self.block_bytes + if larger { SECTOR_BYTES } else { 0 }) as u32,
        }
    }

    fn carry_out(mut self, machine: &mut Machine, begin_ns: u64, duration_ns: u64) -> Proof {
        (self.begin_ns, self.end_ns) = (begin_ns, begin_ns + duration_ns);
        let count = (u128::from(self.ios) * u128::from(duration_ns) / u128::from(SECOND_NS)) as u64;
        let passive = machine.is_passive();
        // Who waits for the machine to say: when it was due, and how much it carries.
        let mut waiting: Vec<Option<(u64, u32)>> = Vec::new();
        let mut free: Vec<u32> = Vec::new();
        for number in 0..count {
            let due_ns =
                begin_ns + (u128::from(number) * u128::from(SECOND_NS) / u128::from(self.ios)) as u64;
            if !passive && machine.next_event().0 <= due_ns {
                machine.advance(MonoTime(due_ns), &mut |ticket, at| {
                    self.told(&mut waiting, &mut free, ticket, at);
                });
            }
            let request = self.request();
            let ticket = free.pop().unwrap_or(waiting.len() as u32);
            let accepted = machine.submit(0, ticket, &request, MonoTime(due_ns));
            if accepted.completed != MonoTime::NEVER {
                free.push(ticket);
                if waiting.len() == ticket as usize {
                    waiting.push(None);
                }
                self.complete(due_ns, accepted.completed.0, request.len);
                continue;
            }
            let waits = Some((due_ns, request.len));
            match waiting.get_mut(ticket as usize) {
                Some(place) => *place = waits,
                None => waiting.push(waits),
            }
            if waiting.len() - free.len() > UNDER_WAY_MAX {
                break;
            }
        }
        while waiting.len() > free.len() && machine.next_event() != MonoTime::NEVER {
            let next = machine.next_event();
            machine.advance(next, &mut |ticket, at| {
                self.told(&mut waiting, &mut free, ticket, at);
            });
        }
        let seconds = duration_ns as f64 / SECOND_NS as f64;
        Proof {
            ios_per_second: self.done as f64 / seconds,
            bytes_per_second: self.done_bytes as f64 / seconds,
            latency: self.latency,
            replayed: None,
        }
    }

    fn told(&mut self, waiting: &mut [Option<(u64, u32)>], free: &mut Vec<u32>, ticket: u32, at: MonoTime) {
        if let Some((due_ns, len)) = waiting[ticket as usize].take() {
            free.push(ticket);
            self.complete(due_ns, at.0, len);
        }
    }

    /// What would have been complete within the time, were the first I/O's latency not part of it.
    fn complete(&mut self, due_ns: u64, completed_ns: u64, len: u32) {
        let latency_ns = completed_ns.saturating_sub(due_ns);
        self.latency.record(latency_ns);
        if completed_ns <= self.end_ns + ALLOWED_NS {
            self.done += 1;
            self.done_bytes += u64::from(len);
        }
    }
}

/// What is sent last is complete only after the end: it counts for as long as an I/O may usually take.
const ALLOWED_NS: u64 = 100_000_000;

#[cfg(test)]
mod tests;
