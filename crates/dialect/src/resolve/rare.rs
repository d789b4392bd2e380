//! What few jobs have: zones, what ends a job early, sizes by order.

use super::Settling;
use crate::diagnostic::Fault;
use crate::draft::ZoneMode;
use fathom_core::units::Nanos;
use fathom_core::workload::{BlockSize, Distribution, EngineKind, Rate, Strides, ZoneRules};

/// How long a depth is tried where nothing says so.
const DEFAULT_WINDOW: Nanos = Nanos::from_secs(5);

/// What counts with `zonemode=zbd` alone.
const OF_HEEDED_ZONES: [&str; 7] = [
    "zonecapacity",
    "read_beyond_wp",
    "max_open_zones",
    "job_max_open_zones",
    "ignore_zone_limits",
    "zone_reset_threshold",
    "zone_reset_frequency",
];

impl Settling<'_> {
    /// `bs=4k,16k` with `bs_is_seq_rand`: the first is the size in sequence, the second that of random I/Os.
    pub(super) fn sizes_by_order(&mut self) {
        if !self.draft.sizes_by_order {
            return;
        }
        let random = self.job.pattern.random;
        let percents = self.job.pattern.random_percent;
        if random && percents.iter().any(|&percent| percent < 100) {
            let fault = Fault::new("`bs_is_seq_rand` with percentage_random is not supported yet");
            self.error(&["bs_is_seq_rand"], fault.remedy("make two jobs"));
        }
        let chosen: BlockSize = self.job.block_size[usize::from(random)].clone();
        self.job.block_size = [chosen.clone(), chosen.clone(), chosen];
    }

    /// Zones, where there are any.
    pub(super) fn strides(&mut self) {
        let zones = self.draft.zones;
        if zones.mode == ZoneMode::Heeded {
            return self.heeded_zones();
        }
        for option in OF_HEEDED_ZONES {
            if self.given(option) {
                let fault = Fault::new(format!("`{option}` has no effect without zonemode=zbd"));
                self.note(&[option], fault);
            }
        }
        if zones.mode == ZoneMode::None {
            if zones.size > 0 {
                let fault = Fault::new("zonesize needs a zonemode");
                self.error(&["zonesize"], fault.remedy("add zonemode=strided"));
            }
            return;
        }
        if zones.size == 0 {
            let fault = Fault::new("zonemode=strided needs a zonesize");
            return self.error(&["zonemode"], fault.remedy("add such as zonesize=1m"));
        }
        let smallest = self.job.min_block_bytes();
        let range_bytes = if zones.range == 0 { zones.size } else { zones.range };
        if range_bytes < smallest {
            let fault = Fault::new(format!(
                "zones of {range_bytes} bytes are smaller than a block of {smallest}"
            ));
            return self.error(
                &["zonerange", "zonesize"],
                fault.remedy("raise zonerange or lower bs"),
            );
        }
        self.job.pattern.strides = Some(Strides {
            amount_bytes: zones.size,
            range_bytes,
            skip_bytes: zones.skip,
        });
    }

    /// The zones of a device are heeded.
    fn heeded_zones(&mut self) {
        let zones = self.draft.zones;
        for option in ["zonerange", "zoneskip"] {
            if self.given(option) {
                let fault = Fault::new(format!("`{option}` has no effect with zonemode=zbd"));
                self.note(&[option], fault);
            }
        }
        if zones.rules.capacity_bytes > 0 && zones.size == 0 {
            let fault = Fault::new(
                "`zonecapacity` has no effect without zonesize: a zoned device says what its zones hold",
            );
            self.note(&["zonecapacity"], fault);
        }
        let (above, share) = (zones.rules.reset_above_share, zones.rules.reset_share);
        if (above > 0.0) != (share > 0.0) {
            let fault = Fault::new(
                "zones are emptied early by zone_reset_threshold and zone_reset_frequency together",
            );
            self.note(
                &["zone_reset_threshold", "zone_reset_frequency"],
                fault.remedy("give both, above 0"),
            );
        }
        self.job.pattern.zones = Some(ZoneRules {
            size_bytes: zones.size,
            ..zones.rules
        });
    }

    /// A sequence of blocks stays, or goes on.
    pub(super) fn sequence(&mut self) {
        let mut is_one = false;
        for distribution in &mut self.job.pattern.distribution {
            if let Distribution::Sequence { strides, .. } = distribution {
                *strides = self.draft.sequence_strides;
                is_one = true;
            }
        }
        if self.draft.sequence_strides && !is_one {
            let fault = Fault::new("`random_sequence_stride` has no effect without a sequence");
            self.note(
                &["random_sequence_stride"],
                fault.remedy("add such as random_distribution=sequence:2,0,1"),
            );
        }
    }

    /// The record that is played, where there is one.
    pub(super) fn iolog(&mut self) {
        self.job.read_iolog = None;
        if self.draft.iolog.path.as_os_str().is_empty() {
            for option in [
                "replay_no_stall",
                "replay_redirect",
                "replay_scale",
                "replay_align",
                "replay_time_scale",
                "replay_skip",
            ] {
                if self.given(option) {
                    let fault = Fault::new(format!("`{option}` has no effect without read_iolog"));
                    self.note(&[option], fault);
                }
            }
            return;
        }
        let align = self.draft.iolog.align_bytes;
        if align > 0 && !align.is_power_of_two() {
            let fault = Fault::new(format!("offsets cannot be aligned to {align} bytes"));
            self.error(&["replay_align"], fault.remedy("give a power of two, such as 4k"));
        }
        if self.job.verify.is_some() {
            let fault = Fault::new("what a record writes cannot be verified");
            self.error(
                &["verify", "read_iolog"],
                fault.remedy("leave verify or read_iolog out"),
            );
        }
        self.job.read_iolog = Some(self.draft.iolog.clone());
    }

    /// Limits that a job must keep, states that end it, balances with others.
    pub(super) fn stops(&mut self) {
        self.least_rates();
        let steady = self.draft.steady;
        if self.draft.steady_given && !steady.duration.is_zero() {
            self.job.stops.steady = Some(steady);
        } else if self.draft.steady_given {
            let fault = Fault::new("`steadystate` has no effect without steadystate_duration");
            self.note(
                &["steadystate"],
                fault.remedy("add such as steadystate_duration=60s"),
            );
        }
        let target = self.draft.target;
        if !target.latency.is_zero() {
            let mut target = target;
            if target.window.is_zero() {
                target.window = DEFAULT_WINDOW;
                let fault = Fault::new("latency_target without latency_window: each depth is tried for 5 s");
                self.note(&["latency_target"], fault.remedy("add such as latency_window=5s"));
            }
            self.job.latency_target = Some(target);
        }
        self.job.flow = (self.draft.flow.weight > 0).then_some(self.draft.flow);
        if self.job.engine.kind == EngineKind::Posixaio {
            self.job.engine.kernel_threads_every = 1;
        }
        if self.job.serialize_overlap && self.job.depth.iodepth == 1 {
            // Nothing overlaps: what costs nothing is not done.
            self.job.serialize_overlap = false;
        }
    }

    fn least_rates(&mut self) {
        for op in 0..3 {
            let least = match (self.draft.rate_min_bytes[op], self.draft.rate_min_iops[op]) {
                (0, 0) => None,
                (0, iops) => Some(Rate::Iops(iops)),
                (bytes, _) => Some(Rate::BytesPerSecond(bytes)),
            };
            self.job.stops.rate_min[op] = least;
            let above = match (self.job.pace.rate[op], least) {
                (Some(Rate::BytesPerSecond(rate)), Some(Rate::BytesPerSecond(least)))
                | (Some(Rate::Iops(rate)), Some(Rate::Iops(least))) => least > rate,
                _ => false,
            };
            if above {
                let fault = Fault::new("the least rate is more than the rate");
                return self.error(
                    &["rate_min", "rate_iops_min"],
                    fault.remedy("lower it below the rate"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests;
