//! The volume: one disk, or several striped (RAID 0), below the virtual machine's limit for uncached I/O.
//!
//! Data in: I/Os on the volume, in the order of their times. Data out: when each is complete: with stripes, when its
//! last piece is. It must not know caches.

use crate::device::{Device, Units};
use crate::path::{Path, Spent, Unit};
use crate::spec::Spec;
use fathom_core::backend::Op;
use fathom_core::rng::split_mix;
use fathom_core::run::{DiskSummary, SpentCredit};

#[derive(Debug, Clone)]
pub(crate) struct Volume {
    devices: Vec<Device>,
    chunk_bytes: u64,
    size_bytes: u64,
    units: Units,
    /// The virtual machine's limits, shared by all disks.
    vm: Path,
}

impl Volume {
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
            devices,
            chunk_bytes: spec.stripe_chunk_bytes,
            size_bytes: spec.volume_bytes(),
            units: Units::new(unit_bytes),
            vm: spec
                .vm
                .as_ref()
                .map_or_else(Path::default, |vm| Path::new(&vm.uncached, spec.slices)),
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
            let passed = if op.index() < 3 {
                self.vm.take(now_ns, self.units.of(len), u64::from(len))
            } else {
                now_ns
            };
            return device.admit(now_ns, passed, op, offset, len);
        }
        self.admit_striped(now_ns, op, offset, len)
    }

    fn admit_striped(&mut self, now_ns: u64, op: Op, offset: u64, len: u32) -> u64 {
        if op.index() >= 3 {
            let flushed = self
                .devices
                .iter_mut()
                .map(|device| device.admit(now_ns, now_ns, op, 0, 0));
            return flushed.max().unwrap_or(now_ns);
        }
        let (mut at, mut left, mut last) = (offset, u64::from(len), now_ns);
        while left > 0 {
            let chunk = at / self.chunk_bytes;
            let within = at % self.chunk_bytes;
            let piece = left.min(self.chunk_bytes - within);
            let disks = self.devices.len() as u64;
            let passed = self.vm.take(now_ns, self.units.of(piece as u32), piece);
            let place = chunk / disks * self.chunk_bytes + within;
            let device = &mut self.devices[(chunk % disks) as usize];
            last = last.max(device.admit(now_ns, passed, op, place, piece as u32));
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

    /// How long I/Os were held in all, by limit, in nanoseconds.
    pub(crate) fn held_ns(&self) -> [(&'static str, u64); 4] {
        let (mut iops, mut bytes) = (0, 0);
        for device in &self.devices {
            let held = device.held_ns();
            iops += held.0;
            bytes += held.1;
        }
        [
            ("disk IOPS", iops),
            ("disk MB/s", bytes),
            ("VM uncached IOPS", self.vm.held_ns(Unit::Iops)),
            ("VM uncached MB/s", self.vm.held_ns(Unit::Bytes)),
        ]
    }
}

#[cfg(test)]
mod tests;
