//! Real disturbances against `fathom explain`: each kind of the scenarios several times, as a table.
//!
//! Data in: how often, which, whether a noisy machine will do, where to keep what went wrong. Data out: a table in Markdown; an error unless all is told
//! rightly. The kinds themselves, with their truth, are those of the command line's scenario tests.

use crate::ci::{TESTED, target_directory};
use crate::shell;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// How often each kind is done, where nothing else is said.
const TIMES: &str = "1";
/// The test that does it.
const TEST: &str = "disturb::table::every_kind";

/// What is said of the runs of one kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    right: u32,
    missed: u32,
    wrong: u32,
    accused: u32,
    /// Runs in which the kind took no effect, or could not be done.
    not_run: u32,
    /// The verdicts, and what was missing.
    said: Vec<String>,
}

/// `[--noisy] [--times N] [--only NAME] [--keep DIR]`.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let mut times = TIMES;
    let mut only = "";
    // What was told wrongly is seldom seen twice.
    let mut keep = target_directory()?.join("disturb");
    let (noisy, options) = match options.split_first() {
        Some((&"--noisy", more)) => (true, more),
        _ => (false, options),
    };
    for pair in options.chunks(2) {
        match *pair {
            ["--times", number] => times = number,
            ["--only", name] => only = name,
            ["--keep", dir] => keep = PathBuf::from(dir),
            _ => bail!("disturb [--noisy] [--times N] [--only NAME] [--keep DIR]"),
        }
    }
    times.parse::<u32>().context("--times: how many?")?;
    let dir = tempfile::tempdir()?;
    let lines = dir.path().join("lines");
    let mut command = shell::cargo(&["test"]);
    command
        .args(TESTED)
        .args(["--", "--ignored", "--exact", TEST, "--nocapture"])
        .env("FATHOM_DISTURB_TIMES", times)
        .env("FATHOM_DISTURB_ONLY", only)
        .env("FATHOM_DISTURB_OUT", &lines);
    if noisy {
        command.env("FATHOM_DISTURB_NOISY", "1");
    }
    std::fs::create_dir_all(&keep).with_context(|| format!("cannot make {}", keep.display()))?;
    // The tests run in another directory.
    let keep = keep.canonicalize()?;
    command.env("FATHOM_DISTURB_KEEP", &keep);
    let outcome = shell::run(&mut command);
    let text = std::fs::read_to_string(&lines).unwrap_or_default();
    let (table, all) = table(&text)?;
    print!("{table}");
    // What broke off has told of some kinds nevertheless.
    outcome?;
    if all.right + all.not_run < all.sum() || all.right == 0 {
        bail!(
            "not all is told rightly: what was not is kept in {}",
            keep.display()
        );
    }
    Ok(())
}

impl Row {
    fn sum(&self) -> u32 {
        self.right + self.missed + self.wrong + self.not_run
    }

    fn add(&mut self, line: &Value) {
        let word = |name: &str| line[name].as_str().unwrap_or_default();
        match word("told") {
            "right" => self.right += 1,
            "missed" => self.missed += 1,
            "wrong" => self.wrong += 1,
            _ => self.not_run += 1,
        }
        let accused = line["accused"].as_array().is_some_and(|names| !names.is_empty());
        self.accused += u32::from(accused);
        let said = match (word("said"), word("why")) {
            (said, "") => said.to_owned(),
            (_, why) => format!("{}: {why}", word("told")),
        };
        if !self.said.contains(&said) {
            self.said.push(said);
        }
    }
}

/// The lines that the test wrote as a table, and the sum.
fn table(lines: &str) -> Result<(String, Row)> {
    let mut order = Vec::new();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut all = Row::default();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line)?;
        let kind = line["kind"].as_str().context("a line without a kind")?.to_owned();
        if !rows.contains_key(&kind) {
            order.push(kind.clone());
        }
        rows.entry(kind).or_default().add(&line);
        all.add(&line);
    }
    let mut text = String::from(
        "| kind | right | missed | wrong | accused | not run | said |\n|---|---|---|---|---|---|---|\n",
    );
    let mut write = |name: &str, row: &Row, said: &str| {
        writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {said} |",
            row.right, row.missed, row.wrong, row.accused, row.not_run
        )
    };
    for kind in &order {
        let row = &rows[kind];
        write(kind, row, &row.said.join("; "))?;
    }
    let told = all.sum() - all.not_run;
    let share = f64::from(all.right) / f64::from(told.max(1)) * 100.0;
    write("all", &all, &format!("right in {share:.0} % of {told}"))?;
    Ok((text, all))
}

#[cfg(test)]
mod tests;
