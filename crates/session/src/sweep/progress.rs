//! What is measured next.
//!
//! Data in: the plan, what was measured so far. Data out: one step after the other. A plan's steps depend on nothing else, so
//! that a sweep that is taken up again goes the same way. It must not know how a step is carried out.

use fathom_analysis::sweep::adaptive::{Next, next};
use fathom_core::rng::Rng;
use fathom_core::run::Status;
use fathom_core::sweep::{
    Inferred, Outcome, PointFigures, PointOrder, PointResult, ProbeResult, SCHEMA, SweepPlan, SweepResults,
};
use fathom_store::SweepDir;
use std::collections::{BTreeMap, VecDeque};

/// One measurement of one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The point's number.
    pub point: u32,
    /// Which of its repeats, from 0.
    pub pass: u32,
}

impl Step {
    /// The name of its run directory below the sweep's.
    pub(crate) fn name(self, plan: &SweepPlan) -> String {
        SweepDir::name_of(self.point, &plan.points[self.point as usize].name(), self.pass)
    }
}

/// The points of a sweep and what is known of them.
#[derive(Debug)]
pub struct Progress<'a> {
    plan: &'a SweepPlan,
    measured: BTreeMap<Step, PointFigures>,
    failed: BTreeMap<u32, String>,
    inferred: BTreeMap<u32, Inferred>,
    probe: Option<ProbeResult>,
    /// Steps that are settled and not yet handed out.
    ahead: VecDeque<Step>,
}

impl<'a> Progress<'a> {
    /// Nothing is known.
    pub(crate) fn new(plan: &'a SweepPlan) -> Self {
        Self::of_passes(plan, plan.repeats)
    }

    /// The same for the first so many passes of a plan that skips nothing.
    pub(crate) fn of_passes(plan: &'a SweepPlan, passes: u32) -> Self {
        Self {
            plan,
            measured: BTreeMap::new(),
            failed: BTreeMap::new(),
            inferred: BTreeMap::new(),
            probe: None,
            ahead: if plan.adaptive {
                VecDeque::new()
            } else {
                fixed_order(plan, passes)
            },
        }
    }

    /// The next step; `None`: there is none left. With `adaptive`, what came of the last one must be known by then.
    pub(crate) fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(step) = self.ahead.pop_front() {
                // Its first pass has shown that it cannot be measured.
                if self.failed.contains_key(&step.point) {
                    continue;
                }
                return Some(step);
            }
            if !self.plan.adaptive {
                return None;
            }
            match next(self.plan, &self.results(Status::Running)) {
                Next::Measure(point) => {
                    let pass = self.passes(point);
                    self.ahead.push_back(Step { point, pass });
                }
                Next::Infer { point, inferred } => {
                    self.inferred.insert(point, inferred);
                }
                Next::Done => return None,
            }
        }
    }

    /// Takes what came of a step.
    pub(crate) fn measured(&mut self, step: Step, figures: PointFigures) {
        self.measured.insert(step, figures);
    }

    /// Takes what came of a load beside the matrix.
    pub(crate) fn probed(&mut self, result: ProbeResult) {
        self.probe = Some(result);
    }

    /// Takes that a point cannot be measured.
    pub(crate) fn failed(&mut self, step: Step, message: String) {
        self.failed.entry(step.point).or_insert(message);
    }

    /// Measurements that are settled, and those that there are in all.
    pub fn done_of(&self) -> (usize, usize) {
        let repeats = self.plan.repeats;
        let settled = |point: u32| {
            if self.failed.contains_key(&point) || self.inferred.contains_key(&point) {
                repeats
            } else {
                self.passes(point)
            }
        };
        let points = self.plan.points.len();
        let done: u32 = (0..points as u32).map(settled).sum();
        (done as usize, points * repeats as usize)
    }

    /// All that is known, each point under its number.
    pub fn results(&self, status: Status) -> SweepResults {
        let points = self.plan.points.iter().zip(0..);
        SweepResults {
            schema: SCHEMA.to_owned(),
            status,
            probe: self.probe.clone(),
            points: points
                .map(|(&coordinates, point)| PointResult {
                    coordinates,
                    outcome: self.outcome(point),
                })
                .collect(),
        }
    }

    /// How the sweep ended, when all steps are done.
    pub(crate) fn status(&self) -> Status {
        let mut all = self
            .measured
            .values()
            .chain(self.probe.iter().map(|probe| &probe.figures));
        let errors = all.any(|figures| figures.errors > 0);
        if errors || !self.failed.is_empty() {
            Status::Failed
        } else {
            Status::Complete
        }
    }

    /// How often a point was measured.
    fn passes(&self, point: u32) -> u32 {
        self.of_point(point).count() as u32
    }

    fn of_point(&self, point: u32) -> impl Iterator<Item = &PointFigures> {
        let from = Step { point, pass: 0 };
        let to = Step {
            point,
            pass: u32::MAX,
        };
        self.measured.range(from..to).map(|(_, figures)| figures)
    }

    /// A point that could be measured once is measured, whatever became of its repeats.
    fn outcome(&self, point: u32) -> Outcome {
        let repeats: Vec<PointFigures> = self.of_point(point).cloned().collect();
        if !repeats.is_empty() {
            return Outcome::Measured { repeats };
        }
        if let Some(message) = self.failed.get(&point) {
            return Outcome::Failed {
                message: message.clone(),
            };
        }
        match self.inferred.get(&point) {
            Some(inferred) => Outcome::Inferred(inferred.clone()),
            None => Outcome::Pending,
        }
    }
}

/// The steps of the first passes of a plan that skips nothing: pass after pass.
fn fixed_order(plan: &SweepPlan, passes: u32) -> VecDeque<Step> {
    let count = plan.points.len() as u32;
    let mut steps = VecDeque::new();
    for pass in 0..passes.min(plan.repeats) {
        let mut order: Vec<u32> = (0..count).collect();
        if plan.order == PointOrder::Shuffled {
            shuffle(&mut order, &mut Rng::stream(plan.seed, u64::from(pass)));
        }
        steps.extend(order.into_iter().map(|point| Step { point, pass }));
    }
    steps
}

/// Fisher and Yates' shuffle.
fn shuffle(order: &mut [u32], rng: &mut Rng) {
    for at in (1..order.len()).rev() {
        let with = rng.below(at as u64 + 1) as usize;
        order.swap(at, with);
    }
}
