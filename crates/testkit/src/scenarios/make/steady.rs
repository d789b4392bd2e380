//! Machines that are at a limit all the time.

use super::super::load::Pace;
use super::super::machine::BOOT_NS;
use super::super::{Limit, Scenario, Window};
use super::{Doing, Plan, Set, open_loop, size};
use fathom_core::backend::Op;
use fathom_core::rng::split_mix;
use fathom_core::workload::{EngineKind, Mix};

/// Every limit that a simulated machine can be at, with every size of load that can be at it.
pub fn steady(set: Set) -> Vec<(Limit, Scenario)> {
    let base: u64 = match set {
        Set::Development => 11,
        Set::HeldOut => 0x57ea,
    };
    let kinds = [
        Limit::Iops,
        Limit::Latency,
        Limit::AboveBlockLayer,
        Limit::OwnPace,
        Limit::PageCache,
    ];
    let mut made = Vec::new();
    for (kind_number, kind) in kinds.into_iter().enumerate() {
        for (size_number, size) in size::ALL.into_iter().enumerate() {
            // With one I/O in flight a limit of the disk and its latency are the same.
            if kind == Limit::Iops && size.depth == 1 {
                continue;
            }
            let seed = split_mix(base ^ (kind_number * 10 + size_number) as u64);
            let plan = Plan {
                doing: Doing::Nothing,
                size,
                seed,
                beside: None,
            };
            made.push((kind, plan.steady(kind)));
        }
    }
    made
}

impl Plan {
    fn steady(&self, kind: Limit) -> Scenario {
        let mut making = self.begin();
        let rate = self.size.rate();
        let always = Window {
            start_ns: BOOT_NS,
            end_ns: u64::MAX,
        };
        let share = making.between(0.25, 0.5);
        let worker = &mut making.machine.workers[0];
        let job = &mut making.jobs[0];
        match kind {
            Limit::Iops => making.machine.device.iops = rate * share,
            Limit::AboveBlockLayer => {
                making.machine.block.throttle.windows = vec![(always, rate * share)];
                making.limits = vec![(always, rate * share)];
            }
            Limit::OwnPace => {
                worker.pace = Pace::Open {
                    rate: rate * share,
                    surges: Vec::new(),
                };
                open_loop(job, rate * share);
            }
            Limit::PageCache => {
                // Memory answers a hundred thousand times a second: three seconds are enough of it.
                making.run_ns = making.run_ns.min(3_000_000_000);
                worker.ends_ns = BOOT_NS + making.run_ns;
                worker.buffered = true;
                worker.op = Op::Write;
                worker.size = 64 << 10;
                job.direct = false;
                job.pattern.mix = Mix::Write;
                job.engine.kind = EngineKind::Psync;
                making.machine.writeback.background = 64 << 30;
            }
            Limit::Latency => {}
        }
        making.machine.run(BOOT_NS + making.run_ns);
        self.finish(making)
    }
}
