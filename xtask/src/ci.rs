//! Everything that must hold, in the order of its cost.

use crate::{arm, cluster, fuzz, packages, shell, tidy};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Inputs that each parser is fuzzed with in a CI run: about 15 s of them.
const FUZZ_RUNS: u32 = 12_000;

/// The seed of tests that draw at random, unless the environment gives another: a check must not fail by chance. `cargo
/// test` draws a new one each time, and prints it.
const TEST_SEED: &str = "20251121";

/// The tests that have the kernel trace, by a part of their names. Not each kind of disturbance once more: what is missing is the
/// same for all of them.
const TRACING: [&str; 5] = ["trace::", "recorded::", "tracing::", "watched::", "real::"];

/// What is tested, in every call: another choice is built with other features, and with it all that it uses once more.
pub(crate) const TESTED: [&str; 5] = ["--workspace", "--lib", "--bins", "--tests", "--locked"];

/// Runs all checks; stops at the first that fails.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::begin();
    packages::install(packages::TESTS);
    packages::cache_of_npm();
    packages::install_python();
    steps.ended("packages");
    shell::run(&mut shell::cargo(&["fmt", "--all", "--", "--check"]))?;
    tidy::run()?;
    steps.ended("tidy");
    shell::run(&mut shell::cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))?;
    steps.ended("clippy");
    let before = tidy::files(&shell::root())?;
    let mut tests = test()?;
    steps.ended("tests");
    tests.add(without_tracefs()?);
    nothing_left_behind(&before)?;
    steps.ended("tests without tracefs");
    let on_cluster = cluster::test_if_built()?;
    if on_cluster.skipped.is_empty() {
        // They were skipped where all others were run, and have been run now.
        tests.skipped.retain(|line| !line.contains(cluster::SKIPPED));
    }
    tests.add(on_cluster);
    steps.ended("tests on Kubernetes");
    tests.add(arm::test_nearest()?);
    steps.ended("tests on Arm");
    let mut doc = shell::cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
    shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    steps.ended("rustdoc");
    fuzz::run(fuzz::Length::Fixed { runs: FUZZ_RUNS })?;
    steps.ended("fuzz");
    quick()?;
    reproduce()?;
    steps.ended("reproduce");
    steps.tell();
    tests.tell();
    Ok(())
}

/// Tests write into directories of their own: what they left in the checkout would be taken for a part of it.
fn nothing_left_behind(before: &[PathBuf]) -> Result<()> {
    let mut left = tidy::files(&shell::root())?;
    left.retain(|file| !before.contains(file));
    if !left.is_empty() {
        bail!("tests left files in the checkout: {left:?}");
    }
    Ok(())
}

/// How long each step took: where time goes that everybody waits for.
struct Steps {
    begun: Instant,
    last: Instant,
    took: Vec<String>,
}

impl Steps {
    fn begin() -> Self {
        let now = Instant::now();
        Self {
            begun: now,
            last: now,
            took: Vec::new(),
        }
    }

    fn ended(&mut self, step: &str) {
        self.took
            .push(format!("{step} {} s", self.last.elapsed().as_secs()));
        self.last = Instant::now();
    }

    fn tell(&self) {
        eprintln!(
            "ci took {} s: {}",
            self.begun.elapsed().as_secs(),
            self.took.join(", ")
        );
    }
}

/// The README's first command, with the program that the tests ran: to build it once more takes minutes.
fn quick() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let job = shell::root().join("experiments/quick.fio");
    let mut command = Command::new(target_directory()?.join("debug/fathom"));
    shell::run(command.current_dir(directory.path()).arg("run").arg(job))
}

/// The published figures against the model, each within its bound; and the table in the docs is that of this model.
fn reproduce() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let table = directory.path().join("reproduction.md");
    let mut command = Command::new(target_directory()?.join("debug/fathom"));
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
#[derive(Default)]
pub(crate) struct Counts {
    passed: u64,
    /// The lines that say so, each with the test's name and what is missing.
    skipped: Vec<String>,
    /// Lines of tests that failed once and then passed.
    unsteady: Vec<String>,
}

impl Counts {
    /// Tests that were not run at all, and why.
    pub(crate) fn of_skipped(what: &str) -> Self {
        let line = format!("SKIPPED: {what}");
        println!("{line}");
        Self {
            skipped: vec![line],
            ..Self::default()
        }
    }

    /// One test that passed.
    pub(crate) fn of_passed() -> Self {
        Self {
            passed: 1,
            ..Self::default()
        }
    }

    /// The sum, with each skipped test by name.
    pub(crate) fn tell(&self) {
        self.tell_skipped();
        let (skipped, unsteady) = (self.skipped.len(), self.unsteady.len());
        println!(
            "{} passed, 0 failed, {skipped} skipped, {unsteady} unsteady",
            self.passed
        );
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.skipped.extend(other.skipped);
        self.unsteady.extend(other.unsteady);
    }

    fn tell_skipped(&self) {
        for (what, lines) in [("skipped", &self.skipped), ("unsteady", &self.unsteady)] {
            if !lines.is_empty() {
                println!("\n{what} ({}):\n  {}", lines.len(), lines.join("\n  "));
            }
        }
    }
}

fn test() -> Result<Counts> {
    // Output of tests that pass is shown too: that is where they say what they had to skip. Most of them wait more than they
    // compute: two for each processor take two thirds of the time. There are no examples in comments (tidy): to look for them
    // takes a minute.
    let threads = std::thread::available_parallelism()?.get() * 2;
    counted(
        shell::cargo(&["test"])
            .args(TESTED)
            .args(["--no-fail-fast", "--", "--show-output"])
            .env("RUST_TEST_THREADS", threads.to_string()),
    )
}

/// Runs tests, and counts.
pub(crate) fn counted(command: &mut Command) -> Result<Counts> {
    let seed = std::env::var("FATHOM_TEST_SEED").unwrap_or_else(|_| TEST_SEED.to_owned());
    command
        .env("PROPTEST_RNG_SEED", &seed)
        .env("FATHOM_TEST_SEED", &seed);
    let (good, output) = shell::tee(command)?;
    let counts = Counts {
        passed: output
            .lines()
            .filter(|line| line.starts_with("test result:"))
            .filter_map(passed_in)
            .sum(),
        skipped: lines_from(&output, "SKIPPED"),
        unsteady: lines_from(&output, "UNSTEADY"),
    };
    counts.tell_skipped();
    if !good {
        bail!("tests failed:\n{}", failures(&output).join("\n"));
    }
    Ok(counts)
}

fn lines_from(output: &str, word: &str) -> Vec<String> {
    let lines = output.lines().filter(|line| line.starts_with(word));
    lines.map(str::to_owned).collect()
}

/// Each test that failed, and the end of what it said: a log is read from its end, and may be cut.
fn failures(output: &str) -> Vec<String> {
    const SAID_MAX: usize = 40;
    const LINE_MAX: usize = 400;
    let lines: Vec<&str> = output.lines().collect();
    let failed = lines
        .iter()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let told = |name: &str| {
        let head = format!("---- {name} stdout ----");
        let said = lines.iter().skip_while(|line| **line != head).skip(1);
        let said: Vec<String> = said
            .take_while(|line| !line.starts_with("---- ") && **line != "failures:" && **line != "successes:")
            .map(|line| line.chars().take(LINE_MAX).collect())
            .collect();
        let last = said.len().saturating_sub(SAID_MAX);
        format!("{name} FAILED:\n  {}", said[last..].join("\n  "))
    };
    failed.map(told).collect()
}

/// The tests that trace once more, as on a machine where nobody has mounted the kernel's trace files.
fn without_tracefs() -> Result<Counts> {
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    let points = trace_mounts(&mounts);
    if points.is_empty() {
        eprintln!("the kernel's trace files are mounted nowhere: the tests ran without them");
        return Ok(Counts::default());
    }
    let hide = format!("umount --lazy {} && exec \"$@\"", points.join(" "));
    let hidden = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .current_dir(shell::root())
            .args(["--mount", "sh", "-c", &hide, "sh"])
            .args(words);
        command
    };
    let permitted = hidden(&["true"]).output();
    if !permitted.is_ok_and(|output| output.status.success()) {
        return Ok(Counts::of_skipped(
            "tests without /sys/kernel/tracing: leave to make a mount namespace (unshare --mount, as root)",
        ));
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| String::from("cargo"));
    counted(
        hidden(&[&cargo, "test"])
            .args(TESTED)
            .args(["--", "--show-output"])
            .args(TRACING),
    )
}

/// Where the kernel's trace files can be found, the deepest first.
fn trace_mounts(mounts: &str) -> Vec<&str> {
    let mut points: Vec<&str> = mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (point, filesystem) = (words.next()?, words.next()?);
            matches!(filesystem, "tracefs" | "debugfs").then_some(point)
        })
        .collect();
    points.sort_unstable_by(|a, b| b.cmp(a));
    points
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

#[cfg(test)]
mod tests;
