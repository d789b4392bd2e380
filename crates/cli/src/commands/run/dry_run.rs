//! `--dry-run`: what a run would do, and whether it would be refused.
//!
//! Data in: the request and its plan. Data out: the workload on its files, on stdout; what would stop the run, on stderr;
//! the exit that it would have. It must not change anything, nor open anything for writing: it asks the same questions as
//! [`crate::commands::run`], in the same order.

use crate::args::Settings;
use crate::exit::Exit;
use crate::terminal::{self, tell};
use fathom_core::run::{Target, Warning};
use fathom_engine::plan::{FileAction, JobPlan, Kind, Plan, PlanError};
use fathom_observe::SystemRoot;
use fathom_report::dry_run::{self, DryRun, PlacedFile, PlacedJob, PlacedWorker, Placement};
use fathom_session::{Machine, Planned, Request, Session};
use std::mem::ManuallyDrop;

/// Shows what would be done.
pub(crate) fn show(
    system: &SystemRoot,
    request: &Request,
    planned: Result<Planned<'_>, PlanError>,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let planned = match planned {
        // Plans can be large, and the process ends behind this: nobody waits for its memory to be freed piece by piece.
        Ok(planned) => ManuallyDrop::new(planned),
        Err(error) => {
            print(request, None, &request.warnings, settings)?;
            return Err(error.into());
        }
    };
    let plan = &planned.plan;
    let (target, foreseen) = match &request.machine {
        Machine::This => fathom_session::foresee(system, plan),
        modelled @ Machine::Modelled(_) => (modelled.target(system, plan), Vec::new()),
    };
    let placement = ManuallyDrop::new(place(plan, target));
    let mut warnings = planned.warnings.clone();
    warnings.extend(foreseen);
    print(request, Some(&placement), &warnings, settings)?;
    request.machine.check(plan)?;
    Session::foresee(system, &settings.how, plan)?;
    fathom_session::check_directory(&settings.output)?;
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
