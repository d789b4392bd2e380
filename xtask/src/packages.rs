//! System packages that the tests need: installed where that is possible, named where it is not.

use crate::shell;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// A program, or a file by its whole path, and the Debian package that has it.
pub(crate) type Need = (&'static str, &'static str);

/// What tests run.
pub(crate) const TESTS: &[Need] = &[
    ("chromium", "chromium"),
    ("fio", "fio"),
    ("prometheus", "prometheus"),
    ("openssl", "openssl"),
    ("curl", "curl"),
    ("nbdcopy", "libnbd-bin"),
    ("qemu-img", "qemu-utils"),
    ("/usr/lib/postgresql/15/bin/postgres", "postgresql-15"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("losetup", "mount"),
    ("mkswap", "util-linux"),
];

/// Compiles and links for Arm.
pub(crate) const ARM_CC: &str = "aarch64-linux-gnu-gcc";

/// What builds and runs programs for Arm on a machine of another kind.
pub(crate) const ARM: &[Need] = &[
    (ARM_CC, "gcc-aarch64-linux-gnu"),
    ("/usr/aarch64-linux-gnu/include/stdio.h", "libc6-dev-arm64-cross"),
    ("qemu-aarch64", "qemu-user"),
];

/// Installs what is missing. Tests that miss a program all the same say SKIPPED.
pub(crate) fn install(needed: &[Need]) {
    let missing: Vec<&str> = needed
        .iter()
        .filter(|(program, _)| find(program).is_none())
        .map(|&(_, package)| package)
        .collect();
    if missing.is_empty() {
        return;
    }
    if find("apt-get").is_none() {
        eprintln!(
            "missing: {} (no apt-get here: tests that need them are skipped)",
            missing.join(", ")
        );
        return;
    }
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(args);
        shell::run(&mut command)
    };
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(&missing);
    if let Err(error) = apt(&["update"]).and_then(|()| apt(&install)) {
        eprintln!(
            "cannot install {}: {error:#}: tests that need them are skipped",
            missing.join(", ")
        );
    }
}

/// The checker of accessibility that a test takes from npm's cache.
const AXE: &str = "axe-core@4.14.1";

/// Has npm keep what a test takes from its cache, where there is npm: for this alone it is not installed.
pub(crate) fn cache_of_npm() {
    if find("npm").is_none() {
        return;
    }
    let mut add = Command::new("npm");
    add.args(["cache", "add", AXE, "--prefer-offline"]);
    if let Err(error) = shell::run(&mut add) {
        eprintln!("cannot fetch {AXE}: {error:#}: the test of accessibility is skipped");
    }
}

/// What reads a fleet's records in a test, by pip's names: `DuckDB` before 2.0 does not read how numbers of single I/Os are packed.
const PYTHON: [&str; 2] = ["duckdb==2.0.0", "polars==2.1.0"];

/// Where they are kept, for all checkouts: the test looks there.
fn python_packages() -> Option<std::path::PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(std::path::PathBuf::from);
    let usual = || Some(Path::new(&std::env::var_os("HOME")?).join(".cache"));
    Some(
        cache
            .or_else(usual)?
            .join("fathom/python/duckdb-2.0.0-polars-2.1.0"),
    )
}

/// Has pip fetch them once.
pub(crate) fn install_python() {
    let Some(dir) = python_packages() else {
        return;
    };
    let is_there = |name: &str| {
        let name = name.split("==").next().unwrap_or_default();
        dir.join(name).is_dir()
    };
    if find("pip").is_none() || PYTHON.into_iter().all(is_there) {
        return;
    }
    let mut pip = Command::new("pip");
    pip.args(["install", "--quiet", "--upgrade", "--target"])
        .arg(&dir)
        .args(PYTHON);
    if let Err(error) = shell::run(&mut pip) {
        eprintln!(
            "cannot fetch {}: {error:#}: the test that needs them is skipped",
            PYTHON.join(", ")
        );
    }
}

/// The first of them that is not there.
pub(crate) fn first_missing(needed: &[Need]) -> Option<Need> {
    needed.iter().find(|(name, _)| find(name).is_none()).copied()
}

/// Has rustup add the standard library for a target, unless it is there.
pub(crate) fn add_target(triple: &str) -> Result<()> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .current_dir(shell::root())
        .args(["--print", "sysroot"])
        .output()
        .context("cannot run rustc")?;
    let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if Path::new(&sysroot).join("lib/rustlib").join(triple).is_dir() {
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.current_dir(shell::root()).args(["target", "add", triple]);
    shell::run(&mut rustup).with_context(|| format!("no standard library for {triple}"))
}

/// Where a program or file is: as it is named, on the path or among the system's.
pub(crate) fn find(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(|directory| Path::new(directory).to_owned());
    std::env::split_paths(&path)
        .chain(system)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}
