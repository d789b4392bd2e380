//! `fathom run` on a modelled disk.
//!
//! Data in: a request whose target is a model. Data out: a report and a run directory as of a real run, marked as
//! modelled. Nothing of the machine that it runs on goes into the record but the civil time: equal seeds give equal
//! directories. Nothing is touched but that directory.

use crate::args::Settings;
use crate::conditions::Conditions;
use crate::exit::Exit;
use crate::live::Live;
use crate::outcome::Used;
use crate::recorder::Recorder;
use crate::request::Request;
use crate::run_command::{Watchers, finish, report, tell_place};
use crate::streams::VirtualStreams;
use crate::{dry_run, modelled, outcome, record, signals, tell};
use fathom_core::run::{Environment, Target, TargetFile, TargetKind, Warning};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::Trace;
use fathom_engine::plan::Plan;
use fathom_engine::run::Options;
use fathom_model::Spec;
use fathom_sys::clock::HostClock;
use std::sync::Arc;

/// Carries `request` out on the machine of `spec`.
pub(crate) fn carry_out(request: &Request, spec: &Spec, settings: &Settings) -> anyhow::Result<Exit> {
    let capacity_bytes = spec.volume_bytes();
    let plan = Plan::modelled(&request.workload, capacity_bytes);
    let known = warnings(request, spec);
    if settings.dry_run {
        let target = |plan: &Plan| target(spec, plan);
        return dry_run::show_modelled(request, plan, &target, &known, settings);
    }
    let plan = plan?;
    if !settings.report_follows() {
        tell::warnings(&known);
    }
    let dir = record::reserve(&settings.output, request.name())?;
    let clock = HostClock::new();
    let conditions = conditions(spec, &plan);
    let mut run = outcome::before(request, &known, &conditions, &told(&settings.words), &clock);
    run.started_monotonic_ns = MonoTime(0);
    let recorder = dir.as_deref().map(|dir| Recorder::begin(dir, &run)).transpose()?;
    let recorded = dir.as_deref().filter(|_| !settings.record.is_none());
    let streams = recorded.map(|dir| VirtualStreams::begin(dir, settings.record));
    let (recorder, streams) = Recorder::beside(recorder, streams.transpose())?;
    let recording = streams.as_ref().and_then(VirtualStreams::recording);
    let mut hooks = Watchers {
        live: Live::new(settings.quiet),
        recorder,
        virtual_streams: streams,
        lossless: true,
    };
    let options = Options {
        stop: Arc::clone(&signals::stop_flag()?),
        clock: clock.clone(),
        hook: None,
        recording,
    };
    let traced = hooks
        .virtual_streams
        .as_ref()
        .map_or(Trace::default(), VirtualStreams::wanted);
    let done = modelled::carry_out(spec, &plan, &options, traced, &mut hooks)?;
    hooks.live.finish();
    outcome::complete(&mut run, &done.results, Used::of_model(done.disks), &clock);
    run.summary.model = Some(done.model);
    // The last hold on what records the I/Os: its keeper then sees their end.
    drop(options);
    let streams = hooks.virtual_streams.map(VirtualStreams::end);
    let exit = finish(&mut run, done.results.histograms, hooks.recorder, streams);
    report(&run, settings)?;
    tell_place(dir.as_deref(), settings);
    Ok(exit)
}

/// What to know of the numbers before there are any.
fn warnings(request: &Request, spec: &Spec) -> Vec<Warning> {
    let mut warnings = request.warnings.clone();
    let unknown = spec.not_known();
    if !unknown.is_empty() {
        warnings.push(Warning::ModelLimitNotKnown { limits: unknown });
    }
    let verifying = request.workload.jobs.iter().filter(|job| job.verify.is_some());
    warnings.extend(verifying.map(|job| Warning::ModelHoldsNoData {
        job: job.name.clone(),
    }));
    warnings
}

/// The conditions of virtual time: the machine is the modelled one.
fn conditions(spec: &Spec, plan: &Plan) -> Conditions {
    Conditions {
        environment: Environment {
            cpus: spec.vm.as_ref().and_then(|vm| vm.vcpus).unwrap_or(0),
            clock_source: String::from("virtual"),
            ..Environment::default()
        },
        target: target(spec, plan),
        requirements: Vec::new(),
        warnings: Vec::new(),
        disks: None,
    }
}

fn target(spec: &Spec, plan: &Plan) -> Target {
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
fn told(words: &[String]) -> Vec<String> {
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
