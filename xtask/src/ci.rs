//! Everything that must hold, in the order of its cost.

use crate::{fuzz, packages, shell, tidy};
use anyhow::{Result, bail};
use std::time::Instant;

/// Inputs that each parser is fuzzed with in a CI run: about 15 s of them.
const FUZZ_RUNS: u32 = 12_000;

/// The seed of tests that draw at random, unless the environment gives another: a check must not fail by chance. `cargo
/// test` draws a new one each time, and prints it.
const TEST_SEED: &str = "20251121";

/// Runs all checks; stops at the first that fails.
pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    packages::install();
    shell::run(&mut shell::cargo(&["fmt", "--all", "--", "--check"]))?;
    tidy::run()?;
    shell::run(&mut shell::cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))?;
    let tests = test()?;
    let mut doc = shell::cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
    shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    fuzz::run(fuzz::Length::Fixed { runs: FUZZ_RUNS })?;
    shell::run(&mut shell::cargo(&["build", "--release", "--locked"]))?;
    quick()?;
    reproduce()?;
    eprintln!("ci took {} s", start.elapsed().as_secs());
    println!("{} passed, 0 failed, {} skipped", tests.passed, tests.skipped);
    Ok(())
}

/// The README's first command, as a user runs it.
fn quick() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let job = shell::root().join("experiments/quick.fio");
    let mut command = std::process::Command::new(target_directory()?.join("release/fathom"));
    shell::run(command.current_dir(directory.path()).arg("run").arg(job))
}

/// The published figures against the model, each within its bound; and the table in the docs is that of this model.
fn reproduce() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let table = directory.path().join("reproduction.md");
    let mut command = std::process::Command::new(target_directory()?.join("release/fathom"));
    command
        .args(["reproduce", "all", "--check", "--markdown"])
        .arg(&table);
    shell::run(&mut command)?;
    let now = std::fs::read_to_string(&table)?;
    let kept = std::fs::read_to_string(shell::root().join("docs/reproduction.md"))?;
    if now != kept {
        bail!(
            "docs/reproduction.md is not of this model: fathom reproduce all --markdown docs/reproduction.md"
        );
    }
    Ok(())
}

/// Where cargo builds.
pub(crate) fn target_directory() -> Result<std::path::PathBuf> {
    let output = shell::cargo(&["metadata", "--format-version=1", "--no-deps", "--offline"]).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    match metadata["target_directory"].as_str() {
        Some(directory) => Ok(directory.into()),
        None => bail!("cargo metadata names no target directory"),
    }
}

/// What the test runs counted.
struct Counts {
    passed: u64,
    skipped: u64,
}

fn test() -> Result<Counts> {
    // Output of tests that pass is shown too: that is where they say what they had to skip.
    let seed = std::env::var("FATHOM_TEST_SEED").unwrap_or_else(|_| TEST_SEED.to_owned());
    let (good, output) = shell::tee(
        shell::cargo(&[
            "test",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--",
            "--show-output",
        ])
        .env("PROPTEST_RNG_SEED", &seed)
        .env("FATHOM_TEST_SEED", &seed),
    )?;
    let skipped: Vec<&str> = output
        .lines()
        .filter(|line| line.starts_with("SKIPPED"))
        .collect();
    if !skipped.is_empty() {
        println!("\nskipped ({}):", skipped.len());
        for line in &skipped {
            println!("  {line}");
        }
    }
    let passed = output
        .lines()
        .filter(|line| line.starts_with("test result:"))
        .filter_map(passed_in)
        .sum();
    if !good {
        let failed: Vec<&str> = output
            .lines()
            .filter(|line| line.starts_with("test ") && line.ends_with("FAILED"))
            .collect();
        bail!("tests failed:\n{}", failed.join("\n"));
    }
    Ok(Counts {
        passed,
        skipped: skipped.len() as u64,
    })
}

/// The number before `passed` in libtest's closing line.
fn passed_in(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("passed"))?;
    words.get(at.checked_sub(1)?)?.parse().ok()
}

/// Runs the tests so that they write their snapshots anew.
pub(crate) fn bless() -> Result<()> {
    shell::run(shell::cargo(&["test", "--workspace"]).env("UPDATE_EXPECT", "1"))
}
