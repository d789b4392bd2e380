//! The points of a sweep as workloads.
//!
//! Data in: the plan of a sweep and its target. Data out: a [`Request`] a point, what all of them together touch, and what
//! may refuse before anything is touched. It must not carry anything out.

use super::Undertaking;
use crate::request;
use crate::target::{self, Target};
use anyhow::Context;
use fathom_core::rng::Rng;
use fathom_core::run::Warning;
use fathom_core::sweep::{Coordinates, Probe};
use fathom_core::units::Nanos;
use fathom_core::workload::Workload;
use fathom_dialect::Override;
use fathom_engine::plan::Plan;
use fathom_observe::SystemRoot;
use fathom_session::{Machine, Planned, Request, files_of_all};
use std::path::PathBuf;

/// The one file of a sweep in a directory or on a modelled disk: all threads and all points share it.
const DATA_FILE: &str = "fathom-sweep.data";
/// Writes of the preconditioning: large and in order, as fast as the disk takes them.
const PRECONDITION_BLOCK: &str = "1m";
const PRECONDITION_DEPTH: &str = "8";
/// Passes of the preconditioning over the region: twice, as SNIA's test specification has it
/// (Solid State Storage Performance Test Specification 2.0.1, workload-independent preconditioning).
const PRECONDITION_PASSES: &str = "2";

/// All points of a sweep, as they would be run.
pub(crate) struct Points {
    /// A workload each, before seeds are mixed in.
    requests: Vec<Request>,
    /// The preconditioning, where it is asked for and there is a real disk.
    precondition: Option<Request>,
    /// Nothing but files: what all of it touches.
    files: Plan,
    /// What to know before the first point.
    pub(crate) warnings: Vec<Warning>,
}

impl Points {
    /// `None` where an option is wrong, which is on stderr.
    pub(crate) fn new(undertaking: &Undertaking) -> anyhow::Result<Option<Self>> {
        let plan = &undertaking.plan;
        let mut requests = Vec::with_capacity(plan.points.len());
        for point in &plan.points {
            let Some(request) = load(undertaking, &overrides(undertaking, point)) else {
                return Ok(None);
            };
            requests.push(request);
        }
        let precondition = if plan.precondition && !undertaking.machine.is_modelled() {
            let Some(request) = resolve(undertaking, &precondition(undertaking)) else {
                return Ok(None);
            };
            Some(request)
        } else {
            None
        };
        let mut plans = Vec::new();
        let mut warnings = Vec::new();
        for (request, point) in requests.iter().zip(&plan.points) {
            let planned = Planned::new(request).with_context(|| format!("point {}", point.name()))?;
            for warning in planned.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            plans.push(planned.plan);
        }
        if let Some(request) = &precondition {
            plans.push(Planned::new(request)?.plan);
        }
        Ok(Some(Self {
            requests,
            precondition,
            files: files_of_all(plans),
            warnings,
        }))
    }

    /// All that can be known to go wrong on this machine before anything is touched.
    pub(crate) fn check(&self, undertaking: &Undertaking) -> anyhow::Result<()> {
        for request in self.requests.iter().chain(&self.precondition) {
            let Planned { plan, .. } = Planned::new(request)?;
            undertaking.machine.check(&plan)?;
        }
        Ok(())
    }

    /// Nothing but the files of all points.
    pub(crate) fn files(&self) -> &Plan {
        &self.files
    }

    /// The preconditioning, where there is one.
    pub(crate) fn precondition(&self) -> Option<&Request> {
        self.precondition.as_ref()
    }

    /// What all of them are aimed at.
    pub(crate) fn target(&self, undertaking: &Undertaking, system: &SystemRoot) -> fathom_core::run::Target {
        let mut target = undertaking.machine.target(system, &self.files);
        // What is not there yet will be as large as the points need it.
        for (file, action) in target.files.iter_mut().zip(&self.files.files) {
            file.size_bytes = file.size_bytes.max(action.size_needed);
        }
        target
    }

    /// The workloads of all points.
    pub(crate) fn workloads(&self) -> impl Iterator<Item = &Workload> {
        self.requests.iter().map(|request| &request.workload)
    }

    /// One measurement of a point: with randomness of its own.
    pub(crate) fn request(&self, undertaking: &Undertaking, point: u32, pass: u32) -> Request {
        let seed = seed_of(undertaking.plan.seed, point, pass);
        seeded(undertaking, &self.requests[point as usize], seed)
    }

    /// The measurement of a load beside the matrix, on the file of its points.
    pub(crate) fn probe(undertaking: &Undertaking, probe: &Probe) -> anyhow::Result<Request> {
        let mut options = overrides(undertaking, &probe.at);
        let small_percent = 100 - probe.large_percent;
        // With a map, what of a large block was visited before would be cut off it.
        options.push(Override::new("norandommap", "1"));
        options.push(Override::new(
            "bssplit",
            format!(
                "{}/{small_percent}:{}/{}",
                probe.at.block_size_bytes, probe.large_bytes, probe.large_percent
            ),
        ));
        let request = load(undertaking, &options)
            .with_context(|| format!("the load {} cannot be made", probe.name()))?;
        let seed = seed_of(undertaking.plan.seed, undertaking.plan.points.len() as u32, 0);
        Ok(seeded(undertaking, &request, seed))
    }
}

/// A request with randomness of its own.
fn seeded(undertaking: &Undertaking, from: &Request, seed: u64) -> Request {
    let mut workload = from.workload.clone();
    for job in &mut workload.jobs {
        job.random_seed = seed;
    }
    let mut machine = undertaking.machine.clone();
    if let Machine::Modelled(spec) = &mut machine {
        spec.seed ^= seed;
    }
    Request {
        workload,
        machine,
        ..from.clone()
    }
}

/// The seed of a measurement: a draw of its own, whatever is measured before it. Half of the bits, so that a model file can hold it.
fn seed_of(seed: u64, point: u32, pass: u32) -> u64 {
    Rng::stream(seed, u64::from(point) << 32 | u64::from(pass)).next_u64() >> 32
}

/// The options of a point, in the order in which they count.
fn overrides(undertaking: &Undertaking, point: &Coordinates) -> Vec<Override> {
    let timing = &undertaking.plan.timing;
    let mut overrides = shared(undertaking);
    let order = if point.random { "rand" } else { "" };
    let direction = match point.read_percent {
        100 => "read",
        0 => "write",
        _ => "rw",
    };
    let microseconds = |ns: u64| format!("{}us", ns / 1000);
    overrides.extend([
        Override::new("name", point.name()),
        Override::new("rw", format!("{order}{direction}")),
        Override::new("bs", point.block_size_bytes.to_string()),
        Override::new("iodepth", point.iodepth.to_string()),
        Override::new("numjobs", point.threads.to_string()),
        Override::new("group_reporting", "1"),
        Override::new("time_based", "1"),
        Override::new("runtime", microseconds(timing.duration_ns)),
        Override::new("ramp_time", microseconds(timing.warmup_ns)),
        Override::new("startdelay", microseconds(timing.idle_ns)),
    ]);
    if direction == "rw" {
        overrides.push(Override::new("rwmixread", point.read_percent.to_string()));
    }
    overrides
}

fn precondition(undertaking: &Undertaking) -> Vec<Override> {
    let mut overrides = shared(undertaking);
    overrides.extend([
        Override::new("name", "precondition"),
        Override::new("rw", "write"),
        Override::new("bs", PRECONDITION_BLOCK),
        Override::new("iodepth", PRECONDITION_DEPTH),
        Override::new("loops", PRECONDITION_PASSES),
    ]);
    overrides
}

fn shared(undertaking: &Undertaking) -> Vec<Override> {
    let option = |(name, value): &(String, Option<String>)| Override {
        name: name.clone(),
        value: value.clone(),
    };
    let mut overrides: Vec<Override> = undertaking.plan.options.iter().map(option).collect();
    if undertaking.target == Target::Null {
        overrides.push(Override::new("ioengine", "null"));
    }
    overrides
}

/// What is measured, with its cooldown, which no option stands for.
fn load(undertaking: &Undertaking, overrides: &[Override]) -> Option<Request> {
    let mut request = resolve(undertaking, overrides)?;
    for job in &mut request.workload.jobs {
        job.limit.cooldown_time = Nanos(undertaking.plan.timing.cooldown_ns);
    }
    Some(request)
}

fn resolve(undertaking: &Undertaking, overrides: &[Override]) -> Option<Request> {
    let environment = &undertaking.environment;
    let parsed = request::with_context(environment, &[], |context| {
        fathom_dialect::parse(&[], overrides, context)
    });
    // What is worth a note at each of 200 points is worth none.
    let mut request = request::accept(parsed, environment.clone(), true)?;
    request.machine = undertaking.machine.clone();
    target::aim(&mut request.workload, &undertaking.target);
    if matches!(undertaking.target, Target::Directory(_) | Target::Model(_)) {
        for job in &mut request.workload.jobs {
            job.files.names = vec![PathBuf::from(DATA_FILE)];
        }
    }
    Some(request)
}
