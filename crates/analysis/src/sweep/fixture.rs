//! What made-up sweeps are made of.

use fathom_core::sweep::{Axes, Coordinates};

/// Random and sequential, pure and half mixes, five sizes, four depths, one thread.
pub(super) fn axes() -> Axes {
    Axes {
        random: vec![true, false],
        read_percent: vec![100, 50, 0],
        block_size_bytes: vec![4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20],
        iodepth: vec![1, 4, 16, 64],
        threads: vec![1],
    }
}

/// A disk of limits alone: `service_us` an I/O and `us_per_kib` more for each KiB, then limits on IOPS and bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk {
    pub(super) service_us: f64,
    pub(super) us_per_kib: f64,
    pub(super) iops: f64,
    pub(super) bytes_per_second: f64,
    /// Larger I/O counts as several.
    pub(super) unit_bytes: u64,
}

impl Disk {
    /// Its IOPS at a point.
    pub(super) fn at(&self, at: Coordinates) -> f64 {
        let size = at.block_size_bytes as f64;
        let latency_us = self.service_us + self.us_per_kib * size / 1024.0;
        let units = at.block_size_bytes.div_ceil(self.unit_bytes) as f64;
        (at.total_depth() as f64 * 1e6 / latency_us)
            .min(self.iops / units)
            .min(self.bytes_per_second / size)
    }
}
