//! `fathom run` on a modelled disk.
//!
//! Data in: a request whose target is a model. Data out: a report and a run directory as of a real run, marked as
//! modelled. Nothing of the machine that it runs on goes into the record but the civil time: equal seeds give equal
//! directories. Nothing is touched but that directory.

use crate::args::Settings;
use crate::conditions::Conditions;
use crate::exit::{AfterTouching as _, Exit};
use crate::live::Live;
use crate::measure::{self, Asked, Company, Measured};
use crate::request::Request;
use crate::run_command::{kept, report, tell_place};
use crate::{dry_run, preflight, record, signals, tell};
use fathom_core::run::{Environment, Target, TargetFile, TargetKind, Warning};
use fathom_core::workload::Workload;
use fathom_engine::plan::Plan;
use fathom_model::{Catalog, Spec};
use fathom_observe::SystemRoot;

/// Carries `request` out on the machine of `spec`.
pub(crate) fn carry_out(request: &Request, spec: &Spec, settings: &Settings) -> anyhow::Result<Exit> {
    let capacity_bytes = spec.volume_bytes();
    let plan = Plan::modelled(&request.workload, capacity_bytes);
    let known = match &plan {
        Ok(plan) => measure::known(request, plan),
        Err(_) => request.warnings.clone(),
    };
    if settings.dry_run {
        let target = |plan: &Plan| target(spec, plan);
        return dry_run::show_modelled(request, plan, &target, &known, settings);
    }
    let plan = plan?;
    preflight::check_modelled(&plan)?;
    if !settings.report_follows() {
        tell::warnings(&known);
    }
    let stop = signals::stop_flag()?;
    let dir = record::reserve(&settings.output, request.name())?;
    // The place of the record is no part of it.
    let told = Settings {
        words: told(&settings.words),
        ..settings.clone()
    };
    let asked = Asked {
        system: &SystemRoot::default(),
        request,
        settings: &told,
        known: &known,
    };
    let company = Company::new(Live::new(settings.quiet));
    match measure::modelled(asked, spec, &plan, dir.as_deref(), company, &stop)? {
        Measured::Ended { run, exit, .. } => {
            report(&run, settings).after_touching(|| kept(dir.as_deref()))?;
            tell_place(dir.as_deref(), settings);
            Ok(exit)
        }
        Measured::NotStarted { message } => anyhow::bail!(message),
    }
}

/// What the machine of `spec` has to say of a workload.
pub(crate) fn warnings_of(workload: &Workload, spec: &Spec) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let unknown = spec.not_known();
    if !unknown.is_empty() {
        warnings.push(Warning::ModelLimitNotKnown { limits: unknown });
    }
    warnings.extend(Catalog::azure().doubts(spec));
    let verifying = workload.jobs.iter().filter(|job| job.verify.is_some());
    warnings.extend(verifying.map(|job| Warning::ModelHoldsNoData {
        job: job.name.clone(),
    }));
    warnings
}

/// The conditions of virtual time: the machine is the modelled one.
pub(crate) fn conditions(spec: &Spec, plan: &Plan) -> Conditions {
    Conditions {
        environment: environment(spec),
        target: target(spec, plan),
        requirements: Vec::new(),
        warnings: Vec::new(),
        disks: None,
    }
}

/// The modelled machine as far as a record describes machines.
pub(crate) fn environment(spec: &Spec) -> Environment {
    Environment {
        cpus: spec.vm.as_ref().and_then(|vm| vm.vcpus).unwrap_or(0),
        clock_source: String::from("virtual"),
        ..Environment::default()
    }
}

pub(crate) fn target(spec: &Spec, plan: &Plan) -> Target {
    let file = |action: &fathom_engine::plan::FileAction| TargetFile {
        path: action.path.display().to_string(),
        kind: TargetKind::Modelled,
        size_bytes: action.size_needed,
        filesystem: None,
        device: None,
        device_missing: None,
    };
    Target {
        description: format!("model:{}", spec.name),
        modelled: true,
        files: plan.files.iter().map(file).collect(),
    }
}

/// The command line as recorded: without the place of the record, which is no part of the run.
pub(crate) fn told(words: &[String]) -> Vec<String> {
    let mut told = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" => drop(words.next()),
            word if word.starts_with("--output=") => {}
            word if word.starts_with("-o") && !word.starts_with("--") && word.len() > 2 => {}
            word => told.push(word.to_owned()),
        }
    }
    told
}

#[cfg(test)]
mod tests;
