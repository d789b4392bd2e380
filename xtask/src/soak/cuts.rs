//! Power cuts under a database, many times.
//!
//! Data in: how often. Data out: an error for the first transaction that was acknowledged and is gone. The test that does it is
//! the one of a check, which does it twice.

use crate::shell;
use anyhow::{Context, Result};

/// Cuts, where nothing else is said.
const CUTS: u32 = 200;

/// `[CUTS]`.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let cuts = match options.first() {
        Some(text) => text.parse().context("how many cuts?")?,
        None => CUTS,
    };
    let words = [
        "test",
        "--release",
        "--locked",
        "-p",
        "fathom",
        "--test",
        "it",
        "disk::postgres::",
    ];
    let mut command = shell::cargo(&words);
    command.args(["--", "--nocapture", "--test-threads=1"]);
    command.env("FATHOM_POWER_CUTS", cuts.to_string());
    // A soak that skipped has soaked nothing.
    command.env("FATHOM_REQUIRE", "root");
    shell::run(&mut command)
}
