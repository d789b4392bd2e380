//! The points of a sweep as requests, and what all of them together touch.
//!
//! Data in: a request a point. Data out: requests with randomness of their own, the files, what to know and what cannot
//! work before the first point. It must not know how points become requests, nor carry anything out.

use crate::machine::Machine;
use crate::planned::{Planned, files_of_all};
use crate::request::Request;
use anyhow::Context;
use fathom_core::rng::Rng;
use fathom_core::run::{Target, Warning};
use fathom_core::sweep::SweepPlan;
use fathom_core::workload::Workload;
use fathom_engine::plan::Plan;
use fathom_observe::SystemRoot;

/// All points of a sweep, as they would be run.
pub struct Points {
    seed: u64,
    machine: Machine,
    /// Before seeds are mixed in.
    requests: Vec<Request>,
    precondition: Option<Request>,
    files: Plan,
    /// What cannot work on the machine.
    unfit: anyhow::Result<()>,
    warnings: Vec<Warning>,
}

impl Points {
    /// `requests` in the order of the plan's points.
    ///
    /// # Errors
    /// One cannot be planned.
    pub fn new(
        plan: &SweepPlan,
        machine: &Machine,
        requests: Vec<Request>,
        precondition: Option<Request>,
    ) -> anyhow::Result<Self> {
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
        Ok(Self {
            unfit: plans.iter().try_for_each(|plan| machine.check(plan)),
            files: files_of_all(plans),
            seed: plan.seed,
            machine: machine.clone(),
            requests,
            precondition,
            warnings,
        })
    }

    /// All that can be known to go wrong on this machine before anything is touched; once.
    ///
    /// # Errors
    /// What cannot work.
    pub fn check(&mut self) -> anyhow::Result<()> {
        std::mem::replace(&mut self.unfit, Ok(()))
    }

    /// What to know before the first point.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Nothing but the files of all points.
    pub fn files(&self) -> &Plan {
        &self.files
    }

    /// The workloads of all points.
    pub fn workloads(&self) -> impl Iterator<Item = &Workload> {
        self.requests.iter().map(|request| &request.workload)
    }

    /// What all of them are aimed at.
    pub fn target(&self, system: &SystemRoot) -> Target {
        let mut target = self.machine.target(system, &self.files);
        // What is not there yet will be as large as the points need it.
        for (file, action) in target.files.iter_mut().zip(&self.files.files) {
            file.size_bytes = file.size_bytes.max(action.size_needed);
        }
        target
    }

    pub(super) fn is_modelled(&self) -> bool {
        self.machine.is_modelled()
    }

    pub(super) fn precondition(&self) -> Option<&Request> {
        self.precondition.as_ref()
    }

    /// One measurement of a point: with randomness of its own.
    pub(super) fn request(&self, point: u32, pass: u32) -> Request {
        let seed = seed_of(self.seed, point, pass);
        seeded(self.requests[point as usize].clone(), seed)
    }

    /// The measurement of a load beside the matrix.
    pub(super) fn beside(&self, request: Request) -> Request {
        seeded(request, seed_of(self.seed, self.requests.len() as u32, 0))
    }
}

/// A request with randomness of its own.
fn seeded(mut request: Request, seed: u64) -> Request {
    for job in &mut request.workload.jobs {
        job.random_seed = seed;
    }
    if let Machine::Modelled(spec) = &mut request.machine {
        spec.seed ^= seed;
    }
    request
}

/// The seed of a measurement: a draw of its own, whatever is measured before it. Half of the bits, so that a model file can hold it.
fn seed_of(seed: u64, point: u32, pass: u32) -> u64 {
    Rng::stream(seed, u64::from(point) << 32 | u64::from(pass)).next_u64() >> 32
}
