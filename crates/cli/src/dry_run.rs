//! `--dry-run`: what a run would do, and whether it would be refused.
//!
//! Data in: the request and its plan. Data out: the workload on its files, on stdout; what would stop the run, on stderr;
//! the exit that it would have. It must not change anything, nor open anything for writing: it asks the same questions as
//! [`crate::run_command`], in the same order.

use crate::args::Settings;
use crate::exit::Exit;
use crate::merge::merge;
use crate::request::Request;
use crate::{clip, conditions, facts, preflight, record, safety, tell, terminal};
use fathom_core::run::{Target, Warning};
use fathom_engine::plan::{FileAction, JobPlan, Kind, Plan, PlanError};
use fathom_observe::SystemRoot;
use fathom_observe::honesty::{self, IoFacts};
use fathom_report::dry_run::{self, DryRun, PlacedFile, PlacedJob, PlacedWorker, Placement};
use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::path::PathBuf;

/// Shows what would be done.
pub(crate) fn show(
    system: &SystemRoot,
    request: &Request,
    plan: Result<Plan, PlanError>,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            print(request, None, &request.warnings, settings)?;
            return Err(error.into());
        }
    };
    // Plans can be large, and the process ends behind this: nobody waits for its memory to be freed piece by piece.
    let plan = ManuallyDrop::new(plan);
    // Both look at all files, and neither needs the other.
    let (target, facts) = std::thread::scope(|scope| {
        let facts = scope.spawn(|| facts::of_plan(&plan));
        let target = conditions::aim(system, &plan);
        (target, facts.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let placement = ManuallyDrop::new(place(&plan, target));
    let facts = ManuallyDrop::new(facts);
    let mut warnings = request.warnings.clone();
    warnings.extend(clip::clipped(&plan));
    warnings.extend(foresee(system, &facts, &placement.target));
    print(request, Some(&placement), &warnings, settings)?;
    preflight::check(&plan)?;
    let refusals = safety::foresee(system, &plan, settings);
    if !refusals.is_empty() {
        return Ok(tell::refused(&refusals));
    }
    record::check(&settings.output)?;
    Ok(Exit::Done)
}

/// Shows what would be done on a modelled disk, whose files `target` describes.
pub(crate) fn show_modelled(
    request: &Request,
    plan: Result<Plan, PlanError>,
    target: &dyn Fn(&Plan) -> Target,
    warnings: &[Warning],
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let placement = plan.as_ref().ok().map(|plan| place(plan, target(plan)));
    print(request, placement.as_ref(), warnings, settings)?;
    preflight::check_modelled(&plan?)?;
    record::check(&settings.output)?;
    Ok(Exit::Done)
}

fn print(
    request: &Request,
    placement: Option<&Placement>,
    warnings: &[Warning],
    settings: &Settings,
) -> anyhow::Result<()> {
    let document = DryRun {
        written: &request.written,
        workload: &request.workload,
        placement,
        warnings,
    };
    if settings.json {
        tell::warnings(warnings);
        terminal::print(&dry_run::json(document))
    } else {
        terminal::print(&dry_run::render(
            document,
            terminal::stdout_style(settings.colour),
        ))
    }
}

/// What would be warned of before the first I/O, as far as it does not depend on what files will hold.
fn foresee(system: &SystemRoot, facts: &[(PathBuf, IoFacts)], target: &Target) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let by_path = conditions::by_path(target);
    for (path, facts) in facts {
        if let Some(file) = by_path.get(&*path.to_string_lossy()) {
            warnings.extend(honesty::foresee(system, file, facts));
        }
    }
    merge(warnings)
}

fn place(plan: &Plan, target: Target) -> Placement {
    Placement {
        target,
        jobs: plan.jobs.iter().map(placed_job).collect(),
        files: plan.files.iter().map(placed_file).collect(),
    }
}

fn placed_job(job: &JobPlan) -> PlacedJob {
    let workers = job.workers.iter().map(|worker| {
        let regions = worker.files.iter();
        PlacedWorker {
            regions: regions.map(|file| (file.span.start, file.span.bytes)).collect(),
            amount_bytes: worker.amount,
        }
    });
    PlacedJob {
        workers: workers.collect(),
    }
}

fn placed_file(action: &FileAction) -> PlacedFile {
    let now = action.size_now.unwrap_or(0);
    let regular = action.kind == Kind::Regular;
    let grows = if action.changes_size() {
        action.size_needed.saturating_sub(now)
    } else {
        0
    };
    // As the layout does it: a file that has to grow keeps what it holds, any other is written in full.
    let filled = match (regular && action.fill, grows) {
        (false, _) => 0,
        (true, 0) => now,
        (true, grows) => grows,
    };
    PlacedFile {
        path: action.path.clone(),
        size_bytes: if regular {
            action.size_now
        } else {
            Some(action.size_needed)
        },
        need_bytes: action.size_needed,
        filled_bytes: filled,
        reserved_bytes: if action.fill { 0 } else { grows },
    }
}

#[cfg(test)]
mod tests;
