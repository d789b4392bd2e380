//! Several volumes attached to one machine, whose limits they share; what answers live.
//!
//! Data in: a [`Spec`] for each volume, then direct I/Os on any of them in the order of time. Data out: when each is complete.
//! It must not know who asks, nor what the time is: the same machine answers in virtual and in real time.

use crate::machine::Machine;
use crate::path::{LimitState, Path};
use crate::spec::Spec;
use crate::volume::{Lent, SharedLimits};
use fathom_core::backend::Op;
use fathom_core::run::{DiskSummary, ModelSummary};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::VirtualDisk as _;

/// Volumes of one machine.
#[derive(Debug, Clone)]
pub struct Attached {
    volumes: Vec<Volume>,
    /// `None`: there is one volume, which has its machine for itself.
    shared: Option<Shared>,
}

#[derive(Debug, Clone)]
struct Volume {
    machine: Machine,
    lent: Lent,
}

/// The machine's limits, lent to the volume that is asked.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) uncached: SharedLimits,
    pub(crate) cached: Path,
}

/// Why volumes cannot be attached to one machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    #[error("there is no disk")]
    None,
    /// They name several machines.
    #[error(
        "{first} and {other} are disks of different machines ({first_vm} and {other_vm}): disks that are served together \
         are attached to one"
    )]
    Machines {
        first: String,
        first_vm: String,
        other: String,
        other_vm: String,
    },
}

/// An I/O on a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VolumeIo {
    /// Which volume, in the order in which they were attached.
    pub volume: usize,
    /// Names it until it is complete.
    pub ticket: u32,
    pub op: Op,
    pub offset_bytes: u64,
    /// 0 for a flush.
    pub len_bytes: u32,
}

impl Attached {
    /// Volumes of valid `specs`. The processor time of a submission is left out: who asks spends its own.
    ///
    /// # Errors
    /// They are not of one machine.
    pub fn new(specs: &[Spec]) -> Result<Self, AttachError> {
        let first = specs.first().ok_or(AttachError::None)?;
        let vm = |spec: &Spec| spec.vm.as_ref().map(|vm| vm.name.clone());
        let in_words = |vm: Option<String>| vm.unwrap_or_else(|| String::from("none named"));
        if let Some(other) = specs.iter().find(|spec| vm(spec) != vm(first)) {
            return Err(AttachError::Machines {
                first: first.name.clone(),
                first_vm: in_words(vm(first)),
                other: other.name.clone(),
                other_vm: in_words(vm(other)),
            });
        }
        let shared = (specs.len() > 1).then(|| Shared {
            uncached: SharedLimits::new(specs),
            cached: first
                .vm
                .as_ref()
                .map_or_else(Path::default, |vm| Path::new(&vm.cached, first.slices)),
        });
        let mut before = 0;
        let volume = |(number, spec): (u64, &Spec)| {
            let mut spec = spec.clone();
            spec.guest.submit_ns = 0;
            // Disks of one kind do not take the same time at the same moment.
            spec.seed = spec.seed.wrapping_add(number);
            let mut machine = Machine::new(&spec);
            machine.attach_directly(before);
            before += spec.disks.len();
            let lent = shared.as_ref().map(|shared| shared.uncached.lent_to(&spec));
            Volume {
                machine,
                lent: lent.unwrap_or_default(),
            }
        };
        Ok(Self {
            volumes: (0..).zip(specs).map(volume).collect(),
            shared,
        })
    }

    /// Takes an I/O at `now_ns`, which is not before that of an earlier call. When it is complete; `None`: it waits, and
    /// [`Attached::advance`] will say.
    pub fn admit(&mut self, now_ns: u64, io: VolumeIo) -> Option<u64> {
        let VolumeIo {
            ticket,
            op,
            offset_bytes,
            len_bytes,
            ..
        } = io;
        self.with(io.volume, |machine| {
            machine.admit_directly(now_ns, ticket, (op, offset_bytes, len_bytes))
        })
    }

    /// When a volume next does something of itself ([`u64::MAX`]: never).
    pub fn next_event_ns(&self) -> u64 {
        let events = self.volumes.iter().map(|volume| volume.machine.next_event().0);
        events.min().unwrap_or(u64::MAX)
    }

    /// Lets the volumes do what they have to do up to `now_ns`: `done(volume, ticket, completed_ns)` for each I/O whose end has
    /// become known.
    pub fn advance(&mut self, now_ns: u64, done: &mut dyn FnMut(usize, u32, u64)) {
        for number in 0..self.volumes.len() {
            if self.volumes[number].machine.next_event().0 > now_ns {
                continue;
            }
            self.with(number, |machine| {
                machine.advance(MonoTime(now_ns), &mut |ticket, at| done(number, ticket, at.0));
            });
        }
    }

    /// Asks a volume, with the machine's limits in its hands.
    fn with<T>(&mut self, number: usize, ask: impl FnOnce(&mut Machine) -> T) -> T {
        let volume = &mut self.volumes[number];
        let Some(shared) = &mut self.shared else {
            return ask(&mut volume.machine);
        };
        volume.machine.exchange(shared, &volume.lent);
        let answer = ask(&mut volume.machine);
        volume.machine.exchange(shared, &volume.lent);
        answer
    }

    /// The size of a volume.
    pub fn capacity_bytes(&self, number: usize) -> u64 {
        self.volumes[number].machine.capacity_bytes()
    }

    /// How the limits of a volume stand at `now_ns`; the machine's are among them where it has the machine for itself.
    pub fn limits(&self, number: usize, now_ns: u64) -> Vec<LimitState> {
        self.volumes[number].machine.limits(now_ns, self.shared.is_none())
    }

    /// How the limits that all volumes share stand at `now_ns`; none where there is one volume.
    pub fn shared_limits(&self, now_ns: u64) -> Vec<LimitState> {
        let Some(shared) = &self.shared else {
            return Vec::new();
        };
        let mut states = shared.uncached.states(now_ns);
        let of_caches = |volume: &Volume| volume.machine.has_host_cache();
        if self.volumes.iter().any(of_caches) {
            states.extend(shared.cached.states(now_ns, ("VM cached IOPS", "VM cached MB/s")));
        }
        states
    }

    /// The counters of each disk of a volume over a run of `duration_ns`.
    pub fn disks(&self, number: usize, duration_ns: u64) -> Vec<DiskSummary> {
        self.volumes[number].machine.disks(duration_ns)
    }

    /// What a volume tells of itself; what is known of its [`Spec`] alone is left empty.
    pub fn account(&self, number: usize) -> ModelSummary {
        self.volumes[number].machine.account()
    }
}

#[cfg(test)]
mod tests;
