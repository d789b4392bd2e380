//! `fathom show` and `fathom recover`: a run from its directory alone.

use crate::args::{Settings, ShowArgs};
use crate::commands::{run, sweep};
use crate::exit::Exit;
use crate::recorded::run_dir::run_of;
use crate::terminal;
use fathom_analysis::partial;
use fathom_session::AfterTouching as _;
use fathom_store::StoreError;
use std::path::Path;

/// Prints the report of a run again. Of a killed run, what its series says.
pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    if fathom_store::is_sweep(&args.dir) {
        return show_sweep(args);
    }
    if fathom_store::is_repeats(&args.dir) {
        let repeats = fathom_store::read_repeats(&args.dir)?;
        terminal::print(&if args.json {
            fathom_report::repeats::json(&repeats)
        } else {
            fathom_report::repeats::text(&repeats, terminal::stdout_style(args.colour))
        })?;
        return Ok(Exit::Done);
    }
    let run = run_of(&args.dir)?;
    let settings = Settings {
        json: args.json,
        colour: args.colour,
        ..Settings::default()
    };
    run::report(&run, &settings)?;
    Ok(Exit::Done)
}

/// The same for a sweep, as far as it is.
fn show_sweep(args: &ShowArgs) -> anyhow::Result<Exit> {
    let plan = fathom_store::read_sweep_plan(&args.dir)?;
    let results = fathom_session::sweep::results_of(&args.dir, &plan)?;
    sweep::print(&plan, &results, args.json, args.colour)?;
    Ok(Exit::Done)
}

/// Completes the directory of a killed run.
pub(crate) fn recover(dir: &Path) -> anyhow::Result<Exit> {
    let histograms = fathom_store::read_histograms(dir)?;
    let recovered = fathom_store::recover_with(dir, |run, series| partial::fill(run, series, &histograms));
    let recovered = match recovered {
        // These come before anything is written.
        Err(
            error @ (StoreError::NotARun { .. }
            | StoreError::IsASweep { .. }
            | StoreError::StillRunning { .. }
            | StoreError::Schema { .. }),
        ) => {
            return Err(error.into());
        }
        other => other
            .map_err(Into::into)
            .after_touching(|| vec![format!("what was recovered so far in {}", dir.display())])?,
    };
    let name = dir.display();
    let lost = recovered.lost.map(|lost| format!("; {lost}")).unwrap_or_default();
    if recovered.changed {
        terminal::print(&format!(
            "recovered {name}: {} rows of the series were kept{lost}. See it with: fathom show {name}\n",
            recovered.rows
        ))?;
    } else {
        terminal::print(&format!("{name} is complete: there was nothing to recover\n"))?;
    }
    Ok(Exit::Done)
}
