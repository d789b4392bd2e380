//! The volume: one disk, or several striped (RAID 0), below the virtual machine's limit for uncached I/O.
//!
//! Data in: I/Os on the volume, in the order of their times. Data out: when each is complete: with stripes, when its
//! last piece is. It must not know caches.

use crate::device::{Device, Units};
use crate::merge::Cost;
use crate::path::{LimitState, Path, Spent, Unit};
use crate::spec::{Counts, Limit, PathLimits, SharedSpec, Spec};
use fathom_core::backend::Op;
use fathom_core::rng::split_mix;
use fathom_core::run::{Counted, DiskSummary, SpentCredit};
use fathom_core::virtual_disk::CreditLeft;

/// What a flush costs of limits.
const NOTHING: Cost = Cost { units: 0, bytes: 0 };

#[derive(Debug, Clone)]
pub(crate) struct Volume {
    devices: Vec<Device>,
    chunk_bytes: u64,
    size_bytes: u64,
    units: Units,
    /// The virtual machine's limits, shared by all disks.
    vm: Path,
    /// What else is in front of the disks, if anything.
    front: Option<Box<Front>>,
}

/// What is in front of the disks beside the virtual machine's limits for all I/O.
#[derive(Debug, Clone)]
struct Front {
    /// Limits in front of all disks, on all I/O or on one direction.
    gates: Vec<Gate>,
    /// The cards that the disks are attached to in turn; none where there is only one.
    cards: Vec<Path>,
    /// Disks of the machine that come before those of this volume.
    first_place: usize,
}

#[derive(Debug, Clone)]
struct Gate {
    of_vm: bool,
    counts: Counts,
    limits: Path,
}

impl Gate {
    fn counts(&self, op: Op) -> bool {
        match self.counts {
            Counts::All => true,
            Counts::Reads => op == Op::Read,
            Counts::Writes => op != Op::Read,
        }
    }

    /// What its limits are called.
    fn names(&self) -> (&'static str, &'static str) {
        gate_names(self.of_vm, self.counts)
    }
}

/// Adds what another stripe has of the same limit.
fn add(sum: &mut LimitState, other: LimitState) {
    sum.rate_per_second += other.rate_per_second;
    sum.taken += other.taken;
    sum.held_ns += other.held_ns;
    let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    sum.credit_full = both(sum.credit_full, other.credit_full);
    sum.credit_left = both(sum.credit_left, other.credit_left);
}

/// What limits in front of all disks are called.
fn gate_names(of_vm: bool, counts: Counts) -> (&'static str, &'static str) {
    match (of_vm, counts) {
        (false, Counts::All) => ("disk IOPS", "disk MB/s"),
        (false, Counts::Reads) => ("disk IOPS of reads", "disk MB/s of reads"),
        (false, Counts::Writes) => ("disk IOPS of writes", "disk MB/s of writes"),
        (true, Counts::All) => ("VM IOPS", "VM MB/s"),
        (true, Counts::Reads) => ("VM IOPS of reads", "VM MB/s of reads"),
        (true, Counts::Writes) => ("VM IOPS of writes", "VM MB/s of writes"),
    }
}

/// The limits of each of `cards` that share `limits`.
fn card(limits: &PathLimits, cards: u32) -> PathLimits {
    let part = |limit: Limit| match limit {
        Limit::At(rate) => Limit::At((rate / u64::from(cards)).max(1)),
        other => other,
    };
    let mut limits = limits.clone();
    limits.iops = part(limits.iops);
    limits.bytes_per_second = part(limits.bytes_per_second);
    if let Some(burst) = &mut limits.burst {
        burst.iops = part(burst.iops);
        burst.bytes_per_second = part(burst.bytes_per_second);
    }
    limits
}

impl Front {
    /// `None`: there is nothing.
    fn new(spec: &Spec) -> Option<Self> {
        let gates = spec.shared.iter().map(|shared| Gate {
            of_vm: shared.of_vm,
            counts: shared.counts,
            limits: Path::new(&shared.limits, spec.slices),
        });
        let cards = spec.vm.as_ref().filter(|vm| vm.cards > 1);
        let cards = cards.map(|vm| {
            let one = Path::new(&card(&vm.uncached, vm.cards), spec.slices);
            vec![one; vm.cards as usize]
        });
        let front = Self {
            gates: gates.collect(),
            cards: cards.unwrap_or_default(),
            first_place: 0,
        };
        (!front.gates.is_empty() || !front.cards.is_empty()).then_some(front)
    }

    /// When an I/O of the disk at `place` that the machine let through at `passed_ns` has passed what else is in front of it.
    fn pass(&mut self, passed_ns: u64, place: usize, (op, len): (Op, u32), cost: Cost) -> u64 {
        let mut passed_ns = passed_ns;
        let cards = self.cards.len().max(1);
        if let Some(card) = self.cards.get_mut((self.first_place + place) % cards) {
            passed_ns = card.take(passed_ns, cost.units, u64::from(len));
        }
        for gate in self.gates.iter_mut().filter(|gate| gate.counts(op)) {
            passed_ns = gate.limits.take(passed_ns, cost.units, cost.bytes);
        }
        passed_ns
    }

    /// How long I/Os were held, by limit, in nanoseconds.
    fn held_ns(&self) -> Vec<(&'static str, u64)> {
        let mut held = Vec::new();
        for card in &self.cards {
            held.push(("VM card IOPS", card.held_ns(Unit::Iops)));
            held.push(("VM card MB/s", card.held_ns(Unit::Bytes)));
        }
        for gate in &self.gates {
            let names = gate.names();
            held.push((names.0, gate.limits.held_ns(Unit::Iops)));
            held.push((names.1, gate.limits.held_ns(Unit::Bytes)));
        }
        held
    }
}

/// The limits that several volumes of one machine have together. Each volume has some of its own, for when it is alone: those
/// that are shared are lent to the one that is asked.
#[derive(Debug, Clone)]
pub(crate) struct SharedLimits {
    vm: Path,
    cards: Vec<Path>,
    /// The machine's limits on disks of one kind, each once.
    gates: Vec<(SharedSpec, Path)>,
}

/// Which gates of a volume are which of [`SharedLimits`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Lent {
    gates: Vec<(usize, usize)>,
}

impl SharedLimits {
    /// Those of the machine that the first of `specs` names.
    pub(crate) fn new(specs: &[Spec]) -> Self {
        let first = &specs[0];
        let mut shared = Self {
            vm: uncached(first),
            cards: Front::new(first).map(|front| front.cards).unwrap_or_default(),
            gates: Vec::new(),
        };
        for spec in specs {
            for gate in spec.shared.iter().filter(|gate| gate.of_vm) {
                if shared.gates.iter().all(|(known, _)| known != gate) {
                    shared
                        .gates
                        .push((gate.clone(), Path::new(&gate.limits, spec.slices)));
                }
            }
        }
        shared
    }

    /// What of it a volume of `spec` is lent.
    pub(crate) fn lent_to(&self, spec: &Spec) -> Lent {
        let place = |gate: &SharedSpec| self.gates.iter().position(|(known, _)| known == gate);
        let gates = spec.shared.iter().enumerate();
        Lent {
            gates: gates.filter_map(|(at, gate)| Some((at, place(gate)?))).collect(),
        }
    }

    /// How they stand.
    pub(crate) fn states(&self, now_ns: u64) -> Vec<LimitState> {
        let mut states = self.vm.states(now_ns, ("VM uncached IOPS", "VM uncached MB/s"));
        for card in &self.cards {
            states.extend(card.states(now_ns, ("VM card IOPS", "VM card MB/s")));
        }
        for (gate, limits) in &self.gates {
            states.extend(limits.states(now_ns, gate_names(true, gate.counts)));
        }
        states
    }
}

fn uncached(spec: &Spec) -> Path {
    let vm = spec.vm.as_ref();
    vm.map_or_else(Path::default, |vm| Path::new(&vm.uncached, spec.slices))
}

impl Volume {
    /// Lends the volume what it shares with others, or takes it back.
    pub(crate) fn exchange(&mut self, shared: &mut SharedLimits, lent: &Lent) {
        std::mem::swap(&mut self.vm, &mut shared.vm);
        let Some(front) = &mut self.front else { return };
        std::mem::swap(&mut front.cards, &mut shared.cards);
        for &(own, common) in &lent.gates {
            std::mem::swap(&mut front.gates[own].limits, &mut shared.gates[common].1);
        }
    }

    /// So many disks of the machine come before its own.
    pub(crate) fn attach_after(&mut self, disks: usize) {
        if let Some(front) = &mut self.front {
            front.first_place = disks;
        }
    }

    /// How its limits stand, the machine's among them where `with_machine`.
    pub(crate) fn limits(&self, now_ns: u64, with_machine: bool) -> Vec<LimitState> {
        let mut limits: Vec<LimitState> = Vec::new();
        // Stripes are asked alike: one row for all, with what they have together.
        for device in &self.devices {
            for state in device.limits(now_ns) {
                match limits.iter_mut().find(|known| {
                    known.name == state.name
                        && known.counts == state.counts
                        && known.credit_full.is_some() == state.credit_full.is_some()
                }) {
                    Some(sum) if self.devices.len() > 1 => add(sum, state),
                    _ => limits.push(state),
                }
            }
        }
        if with_machine {
            limits.extend(self.vm.states(now_ns, ("VM uncached IOPS", "VM uncached MB/s")));
        }
        let Some(front) = &self.front else { return limits };
        if with_machine {
            for card in &front.cards {
                limits.extend(card.states(now_ns, ("VM card IOPS", "VM card MB/s")));
            }
        }
        for gate in front.gates.iter().filter(|gate| with_machine || !gate.of_vm) {
            limits.extend(gate.limits.states(now_ns, gate.names()));
        }
        limits
    }

    /// The volume of `spec`.
    pub(crate) fn new(spec: &Spec) -> Self {
        let device =
            |(number, disk)| Device::new(disk, spec.slices, split_mix(spec.seed ^ split_mix(number)));
        let devices: Vec<Device> = (1..).zip(&spec.disks).map(device).collect();
        let unit_bytes = spec
            .disks
            .iter()
            .map(|disk| disk.io_unit_bytes)
            .min()
            .unwrap_or(1);
        Self {
            front: Front::new(spec).map(Box::new),
            devices,
            chunk_bytes: spec.stripe_chunk_bytes,
            size_bytes: spec.volume_bytes(),
            units: Units::new(unit_bytes),
            vm: uncached(spec),
        }
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// How I/O is counted.
    pub(crate) fn units(&self) -> Units {
        self.units
    }

    /// When an I/O sent at `now_ns` is complete.
    #[inline]
    pub(crate) fn admit(&mut self, now_ns: u64, op: Op, offset: u64, len: u32) -> u64 {
        if let [device] = self.devices.as_mut_slice() {
            let cost = device.cost(offset, len);
            let mut passed = now_ns;
            if op.index() < 3 {
                passed = self.vm.take(now_ns, cost.units, u64::from(len));
                if let Some(front) = &mut self.front {
                    passed = front.pass(passed, 0, (op, len), cost);
                }
            }
            return device.admit((now_ns, passed), (op, offset, len), cost);
        }
        self.admit_striped(now_ns, op, offset, len)
    }

    #[inline(never)]
    fn admit_striped(&mut self, now_ns: u64, op: Op, offset: u64, len: u32) -> u64 {
        if op.index() >= 3 {
            let flushed = self
                .devices
                .iter_mut()
                .map(|device| device.admit((now_ns, now_ns), (op, 0, 0), NOTHING));
            return flushed.max().unwrap_or(now_ns);
        }
        let (mut at, mut left, mut last) = (offset, u64::from(len), now_ns);
        while left > 0 {
            let chunk = at / self.chunk_bytes;
            let within = at % self.chunk_bytes;
            let piece = left.min(self.chunk_bytes - within);
            let disks = self.devices.len() as u64;
            let place = chunk / disks * self.chunk_bytes + within;
            let number = (chunk % disks) as usize;
            let cost = self.devices[number].cost(place, piece as u32);
            let mut passed = self.vm.take(now_ns, cost.units, piece);
            if let Some(front) = &mut self.front {
                passed = front.pass(passed, number, (op, piece as u32), cost);
            }
            let io = (op, place, piece as u32);
            last = last.max(self.devices[number].admit((now_ns, passed), io, cost));
            at += piece;
            left -= piece;
        }
        last
    }

    /// The counters of each disk over a run of `duration_ns`.
    pub(crate) fn counters(&self, duration_ns: u64) -> Vec<DiskSummary> {
        self.devices
            .iter()
            .map(|device| device.counters(duration_ns))
            .collect()
    }

    /// The burst credits that have run out, by limit.
    pub(crate) fn spent(&self) -> Vec<SpentCredit> {
        let mut credits = Vec::new();
        for (unit, of_disk, of_vm) in [
            (Unit::Iops, "disk IOPS", "VM uncached IOPS"),
            (Unit::Bytes, "disk MB/s", "VM uncached MB/s"),
        ] {
            let disks: Vec<Spent> = self
                .devices
                .iter()
                .filter_map(|device| device.spent(unit))
                .collect();
            // Stripes spend theirs alike; of disks that do not, no one moment is that of all.
            let whole = if disks.len() == self.devices.len() {
                Spent::of_all(&disks)
            } else {
                None
            };
            credits.extend(whole.map(|spent| spent.told(of_disk, unit)));
            credits.extend(self.vm.spent(unit).map(|spent| spent.told(of_vm, unit)));
        }
        credits
    }

    /// What is left of the burst credits at `now_ns`: of all disks together, and of the machine.
    pub(crate) fn credit(&self, now_ns: u64, out: &mut Vec<CreditLeft>) {
        for (unit, counts, of_disk, of_vm) in [
            (Unit::Iops, Counted::IoUnits, "disk IOPS", "VM uncached IOPS"),
            (Unit::Bytes, Counted::Bytes, "disk MB/s", "VM uncached MB/s"),
        ] {
            let disks = self
                .devices
                .iter()
                .filter_map(|device| device.credit(unit, now_ns));
            let disks = disks.reduce(|all, one| (all.0 + one.0, all.1 + one.1));
            let told = |limit: &'static str, (left, full): (f64, f64)| CreditLeft {
                limit,
                counts,
                left,
                full,
            };
            out.extend(disks.map(|credit| told(of_disk, credit)));
            out.extend(self.vm.credit(unit, now_ns).map(|credit| told(of_vm, credit)));
        }
    }

    /// How long I/Os were held in all, by limit, in nanoseconds.
    pub(crate) fn held_ns(&self) -> Vec<(&'static str, u64)> {
        let (mut iops, mut bytes) = (0, 0);
        for device in &self.devices {
            let held = device.held_ns();
            iops += held.0;
            bytes += held.1;
        }
        let mut held = vec![
            ("disk IOPS", iops),
            ("disk MB/s", bytes),
            ("VM uncached IOPS", self.vm.held_ns(Unit::Iops)),
            ("VM uncached MB/s", self.vm.held_ns(Unit::Bytes)),
        ];
        if let Some(front) = &self.front {
            held.extend(front.held_ns());
        }
        // One name, one limit: disks may be held by their own and by those that they share.
        let mut by_name: Vec<(&'static str, u64)> = Vec::with_capacity(held.len());
        for (name, ns) in held {
            match by_name.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += ns,
                None => by_name.push((name, ns)),
            }
        }
        by_name
    }
}

#[cfg(test)]
mod tests;
