//! `--serve` of disks that are served live: what those who look are told each second.
//!
//! Data in: the disks' specifications; each second how they stand and what was asked of them. Data out: what a page and metrics are
//! made of. The counters of this machine are read as well: a server that gets no CPU answers late.

use super::disks::Chosen;
use crate::args::disk::ServeArgs;
use crate::commands::explain;
use crate::commands::serve::Serving;
use crate::request;
use fathom_analysis::explain::{KnownDisk, LimitScope};
use fathom_core::record::CounterRow;
use fathom_core::served::Status;
use fathom_disk::Bench;
use fathom_disk::series::Series;
use fathom_observe::SystemRoot;
use fathom_observe::counters::CounterSampler;
use fathom_sys::clock::monotonic_ns;
use fathom_web::{About, Hub, Measured};
use std::sync::atomic::AtomicBool;

/// Who may look, or nobody.
pub(super) struct Watching(Serving);

/// What is told each second.
pub(super) struct Seconds<'a> {
    hub: &'a Hub,
    series: Series,
    sampler: CounterSampler,
}

impl Watching {
    /// Begins to serve, where that is asked for.
    ///
    /// # Errors
    /// As of [`Serving::begin_of`].
    pub(super) fn begin(args: &ServeArgs, chosen: &Chosen) -> anyhow::Result<Self> {
        Ok(Self(Serving::begin_of(&args.watching, || about(chosen))?))
    }

    pub(super) fn hub(&self) -> Option<&Hub> {
        self.0.hub()
    }

    /// From now on; `None`: nobody may look.
    pub(super) fn seconds(&self, bench: &Bench) -> Option<Seconds<'_>> {
        let hub = self.hub()?;
        let (mut sampler, _missing) = CounterSampler::new(&SystemRoot::default(), &[]);
        sampler.follow(std::process::id(), monotonic_ns());
        Some(Seconds {
            hub,
            series: Series::new(bench),
            sampler,
        })
    }

    /// The disks are gone: whoever looks is told.
    pub(super) fn end(self, stop: &AtomicBool) {
        self.0.end(stop);
    }
}

impl Seconds<'_> {
    /// Tells of the second that has ended; `counters`: the disks'.
    pub(super) fn tell(&mut self, bench: &Bench, status: Status, mut counters: Vec<CounterRow>) {
        // How the disks stand comes first: it is evidence for what the intervals show.
        self.hub.served(status, bench.lateness());
        let seen = self.series.look(bench);
        self.hub.latencies(&seen.latencies);
        self.hub.rows(&seen.rows);
        let now_ns = monotonic_ns();
        self.sampler.sample(now_ns, &mut counters, &mut Vec::new());
        self.hub.counters(now_ns, &counters);
    }
}

fn about(chosen: &Chosen) -> About {
    let specs = chosen.specs.as_deref().unwrap_or_default();
    let target = match specs {
        [] => String::from("a disk that takes no time"),
        specs => {
            let names: Vec<String> = specs.iter().map(|spec| format!("model:{}", spec.name)).collect();
            names.join(" and ")
        }
    };
    About {
        title: format!("fathom disk serve: {}", chosen.names.join(", ")),
        target,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        jobs: chosen.names.clone(),
        measured: Measured::Served,
        limits: limits(chosen),
        devices: chosen.names.clone(),
        sweep_steps: None,
    }
}

/// Each disk's limits, under its name where there are several; their machine's once.
fn limits(chosen: &Chosen) -> Vec<KnownDisk> {
    let environment = request::machine();
    let mut known: Vec<KnownDisk> = Vec::new();
    for (name, spec) in chosen.names.iter().zip(chosen.specs.iter().flatten()) {
        for limit in explain::own_limits(Some(spec), &environment) {
            let of_disk = limit.scope == LimitScope::Disk && chosen.names.len() > 1;
            let limit = KnownDisk {
                name: if of_disk {
                    format!("{name}: {}", limit.name)
                } else {
                    limit.name
                },
                ..limit
            };
            if !known.iter().any(|other| other.name == limit.name) {
                known.push(limit);
            }
        }
    }
    known
}
