//! Where a measurement runs: this machine, or a modelled one in virtual time.

use crate::checks;
use crate::conditions::{self, Conditions};
use fathom_core::run::{Environment, Target, TargetFile, TargetKind, Warning};
use fathom_core::workload::Workload;
use fathom_engine::plan::{FileAction, Plan, PlanError};
use fathom_model::{Catalog, Spec};
use fathom_observe::SystemRoot;

/// Where a measurement runs.
#[derive(Debug, Clone)]
pub enum Machine {
    /// Here, in real time.
    This,
    /// On the machine of a specification, in virtual time. Nothing of this machine goes into the record but the civil time,
    /// so that equal seeds give equal directories; nothing is touched but that directory.
    Modelled(Box<Spec>),
}

impl Machine {
    /// The machine of `spec`; this one without.
    pub fn from_model(spec: Option<Spec>) -> Self {
        spec.map_or(Self::This, |spec| Self::Modelled(Box::new(spec)))
    }

    /// Of a modelled one, what it is.
    pub fn spec(&self) -> Option<&Spec> {
        match self {
            Self::This => None,
            Self::Modelled(spec) => Some(spec),
        }
    }

    /// Whether it is a modelled one.
    pub fn is_modelled(&self) -> bool {
        matches!(self, Self::Modelled(_))
    }

    /// The plan of a workload there.
    ///
    /// # Errors
    /// It cannot be carried out there.
    pub fn plan(&self, workload: &Workload) -> Result<Plan, PlanError> {
        match self {
            Self::This => Plan::new(workload),
            Self::Modelled(spec) => Plan::modelled(workload, spec.volume_bytes()),
        }
    }

    /// All that can be known to go wrong with a plan there before anything is touched.
    ///
    /// # Errors
    /// It cannot be carried out, with the sum or the option.
    pub fn check(&self, plan: &Plan) -> anyhow::Result<()> {
        match self {
            Self::This => checks::check(plan),
            Self::Modelled(_) => checks::check_modelled(plan),
        }
    }

    /// What it has to say of a workload.
    pub(crate) fn warnings(&self, workload: &Workload) -> Vec<Warning> {
        let Self::Modelled(spec) = self else {
            return Vec::new();
        };
        let mut warnings = warnings_of_model(spec);
        let verifying = workload.jobs.iter().filter(|job| job.verify.is_some());
        warnings.extend(verifying.map(|job| Warning::ModelHoldsNoData {
            job: job.name.clone(),
        }));
        warnings
    }

    /// What the files of a plan are and lie on.
    pub fn target(&self, system: &SystemRoot, plan: &Plan) -> Target {
        match self {
            Self::This => conditions::aim(system, plan),
            Self::Modelled(spec) => Target {
                description: format!("model:{}", spec.name),
                called: None,
                modelled: true,
                files: plan.files.iter().map(modelled_file).collect(),
            },
        }
    }

    /// As a record describes it, where `this` is the machine that fathom runs on.
    pub fn environment(&self, this: &Environment) -> Environment {
        match self {
            Self::This => this.clone(),
            Self::Modelled(spec) => Environment {
                cpus: spec.vm.as_ref().and_then(|vm| vm.vcpus).unwrap_or(0),
                clock_source: String::from("virtual"),
                ..Environment::default()
            },
        }
    }

    /// The command line as recorded: of a modelled run without the place of the record, which is no part of it.
    pub fn command(&self, words: &[String]) -> Vec<String> {
        match self {
            Self::This => words.to_vec(),
            Self::Modelled(_) => without_output(words),
        }
    }

    /// The conditions of virtual time.
    pub(crate) fn virtual_conditions(&self, system: &SystemRoot, plan: &Plan) -> Conditions {
        Conditions {
            environment: self.environment(&Environment::default()),
            target: self.target(system, plan),
            requirements: Vec::new(),
            warnings: Vec::new(),
            disks: None,
        }
    }
}

/// What to know of a modelled machine before its figures are used.
pub fn warnings_of_model(spec: &Spec) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let unknown = spec.not_known();
    if !unknown.is_empty() {
        warnings.push(Warning::ModelLimitNotKnown { limits: unknown });
    }
    if !spec.assumed.is_empty() {
        let what = spec.assumed.clone();
        warnings.push(Warning::ModelAssumes { what });
    }
    warnings.extend(Catalog::azure().doubts(spec));
    warnings
}

fn modelled_file(action: &FileAction) -> TargetFile {
    TargetFile {
        path: action.path.display().to_string(),
        kind: TargetKind::Modelled,
        size_bytes: action.size_needed,
        filesystem: None,
        device: None,
        device_missing: None,
    }
}

/// Words without `-o` and what belongs to it.
pub fn without_output(words: &[String]) -> Vec<String> {
    let mut rest = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" => drop(words.next()),
            word if word.starts_with("--output=") => {}
            word if word.starts_with("-o") && !word.starts_with("--") && word.len() > 2 => {}
            word => rest.push(word.to_owned()),
        }
    }
    rest
}

#[cfg(test)]
mod tests;
