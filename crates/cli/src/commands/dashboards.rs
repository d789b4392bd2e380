//! `fathom dashboards`: what shows the metrics that `--serve` exports.

use crate::args::dashboards::DashboardsArgs;
use crate::exit::Exit;
use crate::terminal;
use fathom_door::output;
use fathom_session::behind;
use fathom_web::dashboards::Kind;

/// Carries `fathom dashboards` out.
pub(crate) fn dashboards(args: &DashboardsArgs) -> anyhow::Result<Exit> {
    match (args.kind, &args.output) {
        (Some(kind), _) => terminal::print(&kind.text())?,
        (None, None) => {
            let rows = Kind::ALL.map(|kind| format!("{:6} {}\n", kind.name(), kind.about()));
            terminal::print(&rows.concat())?;
        }
        (None, Some(dir)) => {
            output::directory(dir)?;
            let paths = Kind::ALL.map(|kind| (kind, dir.join(kind.file_name())));
            for (_, path) in &paths {
                output::check(path, args.force)?;
            }
            let mut written = Vec::new();
            for (kind, path) in &paths {
                let left = output::leave(path, kind.text().as_bytes(), args.force);
                behind(&written, left.map_err(Into::into))?;
                written.push(path.display().to_string());
                if !args.quiet {
                    terminal::say(&format!("wrote {}", path.display()));
                }
            }
        }
    }
    Ok(Exit::Done)
}
