//! The conditions of a run: machine, targets, what would make the numbers mean something else.
//!
//! Data in: the plan, with its files made. Data out: [`Conditions`], for the record. It must not change anything.

use crate::facts;
use crate::merge::merge;
use fathom_core::run::{Environment, Requirement, Target, TargetFile, TargetKind, Warning};
use fathom_engine::plan::{FileAction, Kind, Plan};
use fathom_observe::disk::Snapshot;
use fathom_observe::target::Inspector;
use fathom_observe::{SystemRoot, busy, target, validity};
use fathom_sys::clock::HostClock;
use fathom_sys::parallel::in_parts;
use std::collections::HashMap;

/// What is true before the first I/O.
#[derive(Debug)]
pub(crate) struct Conditions {
    /// The machine.
    pub environment: Environment,
    /// What the run is aimed at.
    pub target: Target,
    /// What sound numbers need.
    pub requirements: Vec<Requirement>,
    /// What to know before trusting the numbers.
    pub warnings: Vec<Warning>,
    /// The disks' counters; `None` where the system has none.
    pub disks: Option<Disks>,
}

/// The counters of some disks at one moment.
#[derive(Debug)]
pub(crate) struct Disks {
    names: Vec<String>,
    /// The counters.
    pub snapshot: Snapshot,
}

impl Disks {
    /// The counters of all disks below `target`, where there are any.
    fn of(system: &SystemRoot, target: &Target, warnings: &mut Vec<Warning>) -> Option<Self> {
        let names = disk_names(&target.files);
        if names.is_empty() {
            return None;
        }
        Self::take(system, names)
            .inspect_err(|error| {
                let detail = format!("no disk counters: /proc/diskstats: {error}");
                warnings.push(Warning::RecordIncomplete { detail });
            })
            .ok()
    }

    fn take(system: &SystemRoot, names: Vec<String>) -> std::io::Result<Self> {
        let snapshot = Snapshot::take(system, &names)?;
        Ok(Self { names, snapshot })
    }

    /// The counters of the same disks now.
    pub(crate) fn again(&self, system: &SystemRoot) -> std::io::Result<Self> {
        Self::take(system, self.names.clone())
    }
}

/// The kernel names of all disks below `files`, each once.
pub(crate) fn disk_names(files: &[TargetFile]) -> Vec<String> {
    let mut names: Vec<String> = files.iter().flat_map(target::whole_disk).collect();
    names.sort();
    names.dedup();
    names
}

/// Looks around.
pub(crate) fn look(system: &SystemRoot, plan: &Plan, machine: &Environment, clock: &HostClock) -> Conditions {
    let target = aim(system, plan);
    let mut warnings = Vec::new();
    let mut requirements = vec![optimised_build(), busy::quiet_host(system)];
    let by_path = by_path(&target);
    for (path, facts) in facts::of_plan(plan) {
        if let Some(file) = by_path.get(&*path.to_string_lossy()) {
            let (found, needed) = validity::before(system, file, &facts);
            warnings.extend(found);
            requirements.extend(
                needed
                    .into_iter()
                    .filter(|new| !requirements.contains(new))
                    .collect::<Vec<_>>(),
            );
        }
    }
    let disks = Disks::of(system, &target, &mut warnings);
    Conditions {
        environment: environment(machine, clock),
        target,
        requirements,
        warnings: merge(warnings),
        disks,
    }
}

/// The files of `target` by their paths.
pub(crate) fn by_path(target: &Target) -> HashMap<&str, &TargetFile> {
    let files = target.files.iter();
    files.map(|file| (file.path.as_str(), file)).collect()
}

/// Looks around where there is no load: `file` is only watched.
pub(crate) fn look_at(
    system: &SystemRoot,
    file: TargetFile,
    called: Option<&str>,
    machine: &Environment,
    clock: &HostClock,
) -> Conditions {
    let files = vec![file];
    let described = target::describe(&files);
    let target = Target {
        description: match called {
            Some(name) => format!("{name}: {described}"),
            None => described,
        },
        called: called.map(str::to_owned),
        modelled: false,
        files,
    };
    let mut warnings = Vec::new();
    let disks = Disks::of(system, &target, &mut warnings);
    Conditions {
        environment: environment(machine, clock),
        target,
        requirements: Vec::new(),
        warnings,
        disks,
    }
}

fn environment(machine: &Environment, clock: &HostClock) -> Environment {
    Environment {
        clock_source: clock.source().name().to_owned(),
        ..machine.clone()
    }
}

/// What the plan's files are and lie on.
pub(crate) fn aim(system: &SystemRoot, plan: &Plan) -> Target {
    let files: Vec<TargetFile> = in_parts(&plan.files, |files| {
        let mut inspector = Inspector::new(system);
        let inspect = |action: &FileAction| match action.kind {
            Kind::Printed => None,
            Kind::Remote => Some(served(action)),
            Kind::Peer => Some(TargetFile {
                kind: TargetKind::Remote,
                ..nothing(&action.path.to_string_lossy())
            }),
            Kind::Null => Some(nothing(&action.path.to_string_lossy())),
            _ => Some(inspector.inspect(&action.path)),
        };
        files.iter().filter_map(inspect).collect()
    });
    let names_alone = files.is_empty();
    let all_null = files.iter().all(|file| file.kind == TargetKind::Null);
    let description = if names_alone {
        String::from("nothing (no I/O on files)")
    } else if all_null {
        String::from("nothing (the null engine)")
    } else {
        target::describe(&files)
    };
    Target {
        description,
        called: None,
        modelled: false,
        files,
    }
}

fn served(action: &FileAction) -> TargetFile {
    TargetFile {
        kind: TargetKind::Remote,
        size_bytes: action.size_now.unwrap_or(action.size_needed),
        ..nothing(&action.path.to_string_lossy())
    }
}

fn nothing(path: &str) -> TargetFile {
    TargetFile {
        path: path.to_owned(),
        kind: TargetKind::Null,
        size_bytes: 0,
        filesystem: None,
        device: None,
        device_missing: None,
    }
}

fn optimised_build() -> Requirement {
    let debug = cfg!(debug_assertions);
    Requirement {
        name: String::from("optimised_build"),
        met: Some(!debug),
        detail: String::from(if debug { "a debug build" } else { "a release build" }),
    }
}
