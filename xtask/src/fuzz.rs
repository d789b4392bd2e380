//! Fuzzing on the stable toolchain: libFuzzer with the coverage flags that `cargo fuzz` would pass.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What `cargo fuzz` passes to rustc, without a sanitizer (which would need a nightly toolchain).
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions --cfg fuzzing";

/// How long, and from which random numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Length {
    /// As many inputs, always the same ones for the same code: from a fixed seed and the repository's corpus alone.
    /// A check must not fail by chance, nor pass by chance the second time.
    Fixed { runs: u32 },
    /// For so long, going on from what was found before.
    Search {
        /// How long.
        seconds: u32,
        /// The seed; `None`: a new one, which is printed.
        seed: Option<u32>,
    },
}

/// The seed of [`Length::Fixed`].
const FIXED_SEED: u32 = 20_251_121;

/// `cargo xtask fuzz`: `[SECONDS [SEED]]`.
pub(crate) fn search(options: &[&str]) -> Result<()> {
    let number = |text: &&str| {
        text.parse::<u32>()
            .with_context(|| format!("fuzz: `{text}` is not a number"))
    };
    let numbers = options.iter().map(number).collect::<Result<Vec<u32>>>()?;
    let (seconds, seed) = match numbers.as_slice() {
        [] => (60, None),
        &[seconds] => (seconds, None),
        &[seconds, seed] => (seconds, Some(seed)),
        _ => bail!("fuzz: seconds and a seed are all that it takes"),
    };
    run(Length::Search { seconds, seed })
}

/// Runs each target in `fuzz/fuzz_targets`.
pub(crate) fn run(length: Length) -> Result<()> {
    let folder = shell::root().join("fuzz");
    let mut targets: Vec<String> = std::fs::read_dir(folder.join("fuzz_targets"))
        .context("no fuzz targets")?
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    targets.sort();
    for target in targets {
        fuzz_one(&folder, &target, length)?;
    }
    Ok(())
}

fn fuzz_one(folder: &Path, target: &str, length: Length) -> Result<()> {
    let host = "x86_64-unknown-linux-gnu";
    let triple = if cfg!(target_arch = "aarch64") {
        "aarch64-unknown-linux-gnu"
    } else {
        host
    };
    // Naming the target keeps the flags away from build scripts.
    let mut build = shell::cargo(&[
        "build",
        "--release",
        "--locked",
        "--target",
        triple,
        "--bin",
        target,
    ]);
    build
        .current_dir(folder)
        .env("RUSTFLAGS", COVERAGE)
        .env("CARGO_TARGET_DIR", folder.join("target"));
    shell::run(&mut build)?;
    let artifacts = folder.join("artifacts").join(target);
    std::fs::create_dir_all(&artifacts)?;
    let binary = folder.join("target").join(triple).join("release").join(target);
    let fuzz = |found: &Path, arguments: [String; 2]| {
        let mut fuzz = Command::new(&binary);
        fuzz.arg(found)
            .arg(folder.join("corpus").join(target))
            .args(arguments)
            .arg("-max_len=4096")
            .arg("-timeout=10")
            .arg("-verbosity=0")
            .arg("-print_final_stats=1")
            .arg(format!("-artifact_prefix={}/", artifacts.display()));
        shell::run(&mut fuzz)
    };
    match length {
        Length::Fixed { runs } => {
            let found = tempfile::tempdir()?;
            let arguments = [format!("-seed={FIXED_SEED}"), format!("-runs={runs}")];
            fuzz(found.path(), arguments)
        }
        Length::Search { seconds, seed } => {
            // 0 would have libFuzzer choose one of its own.
            let seed = seed.unwrap_or_else(new_seed).max(1);
            println!("fuzzing {target} for {seconds} s: to repeat, cargo xtask fuzz {seconds} {seed}");
            // What is found goes to a folder of its own; the seeds in the repository stay as they are.
            let found = folder.join("corpus-found").join(target);
            std::fs::create_dir_all(&found)?;
            fuzz(
                &found,
                [format!("-seed={seed}"), format!("-max_total_time={seconds}")],
            )
        }
    }
}

/// From the time: no two runs begin alike.
fn new_seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |now| now.subsec_nanos() ^ now.as_secs() as u32)
}
