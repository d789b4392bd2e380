//! The sizes of load and disk that scenarios come in.

/// A load and a disk that suits it.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Size {
    pub name: &'static str,
    pub depth: usize,
    pub bytes: u32,
    pub channels: usize,
    pub service_ns: f64,
    pub sigma: f64,
    pub run_ns: u64,
}

const SECOND: u64 = 1_000_000_000;

pub(super) const ALL: [Size; 5] = [
    Size {
        name: "QD1 110 IOPS",
        depth: 1,
        bytes: 64 << 10,
        channels: 8,
        service_ns: 9e6,
        sigma: 0.25,
        run_ns: 30 * SECOND,
    },
    Size {
        name: "QD4 1.3k IOPS",
        depth: 4,
        bytes: 16 << 10,
        channels: 8,
        service_ns: 3e6,
        sigma: 0.3,
        run_ns: 12 * SECOND,
    },
    Size {
        name: "QD16 8k IOPS",
        depth: 16,
        bytes: 4 << 10,
        channels: 16,
        service_ns: 2e6,
        sigma: 0.3,
        run_ns: 5 * SECOND,
    },
    Size {
        name: "QD32 55k IOPS",
        depth: 32,
        bytes: 4 << 10,
        channels: 32,
        service_ns: 500e3,
        sigma: 0.3,
        run_ns: 5 * SECOND / 2,
    },
    Size {
        name: "QD1 6k IOPS",
        depth: 1,
        bytes: 4 << 10,
        channels: 4,
        service_ns: 150e3,
        sigma: 0.3,
        run_ns: 5 * SECOND,
    },
];

impl Size {
    /// I/Os a second that the closed loop does, about.
    pub(super) fn rate(&self) -> f64 {
        self.depth as f64 / (self.service_ns + 20_000.0) * 1e9
    }
}
