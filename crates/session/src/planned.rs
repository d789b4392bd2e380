//! A request on its files: what would be done, before anything is.

use crate::clip;
use crate::conditions;
use crate::facts;
use crate::merge::merge;
use crate::request::Request;
use fathom_core::run::{Build, Target, Warning};
use fathom_engine::plan::{FileAction, Plan, PlanError};
use fathom_observe::{SystemRoot, validity};
use std::collections::HashMap;
use std::path::PathBuf;

/// A request and its plan.
#[derive(Debug)]
pub struct Planned<'r> {
    /// What is asked for.
    pub request: &'r Request,
    /// On which files, how much.
    pub plan: Plan,
    /// What to know of the numbers before there are any.
    pub warnings: Vec<Warning>,
}

impl<'r> Planned<'r> {
    /// Plans `request` where it is to run. Looks at files, changes none.
    ///
    /// # Errors
    /// It cannot be carried out there.
    pub fn new(request: &'r Request) -> Result<Self, PlanError> {
        let plan = request.machine.plan(&request.workload)?;
        let mut warnings = request.warnings.clone();
        warnings.extend(clip::clipped(&plan));
        warnings.extend(request.machine.warnings(&request.workload));
        Ok(Self {
            request,
            plan,
            warnings,
        })
    }
}

/// What the files of a plan are and lie on, and what would be warned of before the first I/O, as far as that does not depend
/// on what files will hold.
pub fn foresee(system: &SystemRoot, plan: &Plan) -> (Target, Vec<Warning>) {
    // Both look at all files, and neither needs the other.
    let (target, facts) = std::thread::scope(|scope| {
        let facts = scope.spawn(|| facts::of_plan(plan));
        let target = conditions::aim(system, plan);
        let facts = facts.join();
        (
            target,
            facts.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    });
    let mut warnings = Vec::new();
    let by_path = conditions::by_path(&target);
    for (path, facts) in &facts {
        if let Some(file) = by_path.get(&*path.to_string_lossy()) {
            warnings.extend(validity::foresee(system, file, facts));
        }
    }
    drop(by_path);
    (target, merge(warnings))
}

/// Nothing but the files of several plans, each once.
pub fn files_of_all(plans: impl IntoIterator<Item = Plan>) -> Plan {
    let mut files: Vec<FileAction> = Vec::new();
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    for action in plans.into_iter().flat_map(|plan| plan.files) {
        match places.get(&action.path) {
            None => {
                places.insert(action.path.clone(), files.len());
                files.push(action);
            }
            Some(&place) => {
                let known = &mut files[place];
                known.size_needed = known.size_needed.max(action.size_needed);
                known.reads |= action.reads;
                known.writes |= action.writes;
                known.fill |= action.fill;
            }
        }
    }
    Plan {
        jobs: Vec::new(),
        files,
    }
}

/// What measures.
pub fn build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        debug: cfg!(debug_assertions),
    }
}
