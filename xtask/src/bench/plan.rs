//! How long the planner's search takes: 500 drawn needs over a whole catalogue.
//!
//! Data in: the example of `fathom-plan`. Data out: rows of the table. No other tool searches, so that there is no pair.

use super::Row;
use crate::shell;
use anyhow::{Context, Result, ensure};

/// Appends the rows.
pub(super) fn rows(rows: &mut Vec<Row>) -> Result<()> {
    for (clouds, bar) in [("azure", "< 50 ms"), ("azure,aws,gcp", "< 100 ms")] {
        let mut command = shell::cargo(&[
            "run",
            "--release",
            "--locked",
            "-q",
            "-p",
            "fathom-plan",
            "--example",
            "search_time",
            "--",
            clouds,
        ]);
        let output = command.output()?;
        ensure!(
            output.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let found: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let ms = |name: &str| -> Result<f64> {
            let us = found[name].as_f64();
            us.map(|us| us / 1e3)
                .with_context(|| format!("no {name} in what search_time prints"))
        };
        rows.push(Row {
            what: format!(
                "plan: the ten cheapest of {} machines ({clouds}), {} needs: median, p99, maximum",
                found["machines"], found["needs"]
            ),
            ours: format!(
                "{:.1}, {:.1}, {:.1} ms",
                ms("us_median")?,
                ms("us_p99")?,
                ms("us_max")?
            ),
            theirs: String::from("-"),
            ratio: String::from("-"),
            bar,
        });
    }
    Ok(())
}
