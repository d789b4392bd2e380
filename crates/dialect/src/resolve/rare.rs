//! What few jobs have: zones, what ends a job early, sizes by order.

use super::Settling;
use crate::diagnostic::Fault;
use fathom_core::units::Nanos;
use fathom_core::workload::{BlockSize, EngineKind, Rate, Strides};

/// How long a depth is tried where nothing says so.
const DEFAULT_WINDOW: Nanos = Nanos::from_secs(5);

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
        if !zones.strided {
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
