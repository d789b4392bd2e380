//! Fuzzing on the stable toolchain: libFuzzer with the coverage flags that `cargo fuzz` would pass.

use crate::shell;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// What `cargo fuzz` passes to rustc, without a sanitizer (which would need a nightly toolchain).
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions --cfg fuzzing";

/// Runs each target in `fuzz/fuzz_targets` for `seconds`.
pub(crate) fn run(seconds: u32) -> Result<()> {
    let folder = shell::root().join("fuzz");
    let mut targets: Vec<String> = std::fs::read_dir(folder.join("fuzz_targets"))
        .context("no fuzz targets")?
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    targets.sort();
    for target in targets {
        fuzz_one(&folder, &target, seconds)?;
    }
    Ok(())
}

fn fuzz_one(folder: &Path, target: &str, seconds: u32) -> Result<()> {
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
    // What is found goes to a folder of its own; the seeds in the repository stay as they are.
    let found = folder.join("corpus-found").join(target);
    std::fs::create_dir_all(&found)?;
    let artifacts = folder.join("artifacts").join(target);
    std::fs::create_dir_all(&artifacts)?;
    let mut fuzz = Command::new(folder.join("target").join(triple).join("release").join(target));
    fuzz.arg(found)
        .arg(folder.join("corpus").join(target))
        .arg(format!("-max_total_time={seconds}"))
        .arg("-max_len=4096")
        .arg("-timeout=10")
        .arg("-verbosity=0")
        .arg("-print_final_stats=1")
        .arg(format!("-artifact_prefix={}/", artifacts.display()));
    shell::run(&mut fuzz)
}
