//! The limits that bind, out of what each group says.
//!
//! Duty: parse the groups' files and keep the strictest. Data in: their text. Data out: limits of each device, the CPU quota,
//! the time throttled. It must not know which group said what.

use super::super::text::{lines, number, number_of, words};
use crate::sysfs::parse_id;
use fathom_core::units::DevId;
use std::collections::BTreeMap;

/// What of a device is limited, in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum IoKind {
    ReadIos,
    /// Writes.
    WriteIos,
    ReadBytes,
    /// Bytes written.
    WriteBytes,
}

impl IoKind {
    pub(super) const ALL: [Self; 4] = [Self::ReadIos, Self::WriteIos, Self::ReadBytes, Self::WriteBytes];

    /// As `io.max` names it.
    pub(super) const fn name(self) -> &'static str {
        ["riops", "wiops", "rbps", "wbps"][self as usize]
    }

    /// The file of version 1.
    pub(super) const fn throttle_file(self) -> &'static str {
        [
            "blkio.throttle.read_iops_device",
            "blkio.throttle.write_iops_device",
            "blkio.throttle.read_bps_device",
            "blkio.throttle.write_bps_device",
        ][self as usize]
    }
}

/// What binds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Limits {
    io: BTreeMap<(DevId, IoKind), u64>,
    /// CPUs that may be used in the mean of a period.
    pub(super) cores: Option<f64>,
    /// How long the groups' tasks were kept from a CPU by the quota, all groups together.
    pub(super) throttled_ns: Option<u64>,
}

impl Limits {
    pub(super) fn clear(&mut self) {
        self.io.clear();
        self.cores = None;
        self.throttled_ns = None;
    }

    /// Each device's limits.
    pub(super) fn io(&self) -> impl Iterator<Item = ((DevId, IoKind), u64)> {
        self.io.iter().map(|(&key, &value)| (key, value))
    }

    /// Lines of `254:0 1100`.
    pub(super) fn take_throttle(&mut self, text: &[u8], kind: IoKind) {
        for line in lines(text) {
            let mut words = words(line);
            if let (Some(device), Some(value)) =
                (words.next().and_then(device), words.next().and_then(number))
            {
                self.limit(device, kind, value);
            }
        }
    }

    /// Lines of `254:0 rbps=max wbps=125000000 riops=max wiops=1100`.
    pub(super) fn take_io_max(&mut self, text: &[u8]) {
        for line in lines(text) {
            let mut words = words(line);
            let Some(device) = words.next().and_then(device) else {
                continue;
            };
            for word in words {
                for kind in IoKind::ALL {
                    let value = word.strip_prefix(kind.name().as_bytes());
                    let value = value.and_then(|rest| number(rest.strip_prefix(b"=")?));
                    if let Some(value) = value {
                        self.limit(device, kind, value);
                    }
                }
            }
        }
    }

    /// `cpu.cfs_quota_us`, -1 for no limit.
    pub(super) fn take_cfs(&mut self, quota: &[u8], period_us: Option<u64>) {
        self.quota(only_number(quota), period_us);
    }

    /// `50000 100000`, or `max 100000` for no limit.
    pub(super) fn take_cpu_max(&mut self, text: &[u8]) {
        let mut words = words(text);
        let quota_us = words.next().and_then(number);
        self.quota(quota_us, words.next().and_then(number));
    }

    /// `throttled_time` in nanoseconds (version 1), `throttled_usec` (version 2).
    pub(super) fn take_cpu_stat(&mut self, text: &[u8]) {
        for line in lines(text) {
            let ns = number_of(line, b"throttled_time")
                .or_else(|| Some(number_of(line, b"throttled_usec")?.saturating_mul(1_000)));
            if let Some(ns) = ns {
                self.throttled_ns = Some(self.throttled_ns.unwrap_or(0).saturating_add(ns));
            }
        }
    }

    fn limit(&mut self, device: DevId, kind: IoKind, value: u64) {
        let strictest = self.io.entry((device, kind)).or_insert(value);
        *strictest = value.min(*strictest);
    }

    fn quota(&mut self, quota_us: Option<u64>, period_us: Option<u64>) {
        let (Some(quota_us), Some(period_us)) = (quota_us, period_us.filter(|&us| us > 0)) else {
            return;
        };
        let cores = quota_us as f64 / period_us as f64;
        self.cores = Some(self.cores.map_or(cores, |strictest| strictest.min(cores)));
    }
}

/// The number that a file consists of.
pub(super) fn only_number(text: &[u8]) -> Option<u64> {
    number(text.trim_ascii())
}

fn device(word: &[u8]) -> Option<DevId> {
    parse_id(std::str::from_utf8(word).ok()?)
}
