//! A guest of QEMU's with another kernel and disks that no test machine has: `NVMe` namespaces (of other block sizes, with metadata,
//! zoned), a SCSI disk, a disk with a journal, and one that fathom itself serves live, by NBD.
//!
//! `xtask/guest` has what runs in it: `init.sh`, and `checks.sh`, whose functions are the checks. Kernel and modules are Debian's,
//! fetched once and kept in the user's cache; fathom is the debug build, beside Debian's fio.

mod boot;
mod cpio;
mod kernel;

use crate::ci::{Counts, target_directory};
use crate::{packages, shell};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// What it needs of the machine.
const NEEDED: &[packages::Need] = &[
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("dpkg-deb", "dpkg"),
    ("strip", "binutils"),
    ("fio", "fio"),
    ("mkfs.ext4", "e2fsprogs"),
    ("blkzone", "util-linux"),
];
/// Programs that run in it, with the libraries that they ask for.
const PROGRAMS: [&str; 3] = ["fio", "mkfs.ext4", "blkzone"];
/// What tests are called that could not be run.
const CHECKS: &str = "checks in a guest with other disks";

/// `cargo xtask guest [WORD…]`: fetches what it needs, builds, boots, and tells of each check; with words only the checks that
/// have one of them in their names. `script FILE` runs a script of yours in place of the checks.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    packages::install(NEEDED);
    let kernel = match missing() {
        Some(missing) => Err(missing),
        None => kernel::fetched().map_err(|error| format!("{error:#}")),
    };
    let kernel = match kernel {
        Ok(kernel) => kernel,
        Err(missing) => {
            Counts::of_skipped(&format!("{CHECKS}: {missing}")).tell();
            return Ok(());
        }
    };
    let script = match options {
        ["script", file] => Some(Path::new(file)),
        _ => None,
    };
    let build = ["build", "--locked", "--package", "fathom", "--bin", "fathom"];
    shell::run(&mut shell::cargo(&build))?;
    let said = guest(&kernel, script, options)?;
    if script.is_some() {
        return Ok(());
    }
    judged(&said)?.tell();
    Ok(())
}

/// Why this machine can have no guest.
fn missing() -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return Some(String::from("a processor of the kind x86-64"));
    }
    let missing = packages::first_missing(NEEDED);
    missing.map(|(name, package)| format!("{name} (package {package})"))
}

/// Boots it, and returns what it said.
fn guest(kernel: &kernel::Kernel, script: Option<&Path>, words: &[&str]) -> Result<String> {
    let scripts = shell::root().join("xtask/guest");
    let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let mut archive = cpio::Archive::new();
    archive.file("init", 0o755, &read(&scripts.join("init.sh"))?);
    let checks = script.map_or_else(|| scripts.join("checks.sh"), Path::to_owned);
    archive.file("checks.sh", 0o755, &read(&checks)?);
    archive.file("words", 0o644, words.join(" ").as_bytes());
    archive.file("bin/busybox", 0o755, &read(&kernel.busybox())?);
    for (at, module) in kernel.modules()?.iter().enumerate() {
        let name = module.file_name().unwrap_or_default().to_string_lossy();
        archive.file(&format!("modules/{at:02}-{name}"), 0o644, &read(module)?);
    }
    let fathom = stripped(&target_directory()?)?;
    archive.file("bin/fathom", 0o755, &read(&fathom)?);
    let mut programs = vec![fathom.clone()];
    for name in PROGRAMS {
        let path = packages::find(name).with_context(|| format!("no {name}"))?;
        archive.file(&format!("bin/{name}"), 0o755, &read(&path)?);
        programs.push(path);
    }
    for library in libraries(&programs)? {
        let name = library.to_string_lossy();
        archive.file(name.trim_start_matches('/'), 0o755, &read(&library)?);
    }
    boot::boot(&kernel.image(), &archive.finished(), &fathom)
}

/// The program without what a debugger reads, which is most of it.
fn stripped(target: &Path) -> Result<PathBuf> {
    let dir = target.join("guest");
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let stripped = dir.join("fathom");
    let mut strip = std::process::Command::new("strip");
    strip.arg("-o").arg(&stripped).arg(target.join("debug/fathom"));
    shell::run(&mut strip)?;
    Ok(stripped)
}

/// All libraries that they ask for, each once.
fn libraries(programs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for program in programs {
        let said = shell::output(std::process::Command::new("ldd").arg(program))?;
        let said = String::from_utf8(said).context("ldd prints text")?;
        let paths = said
            .lines()
            .filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
        found.extend(paths.map(PathBuf::from));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// What the checks' lines say: how many passed, those that were skipped, and the failures as an error.
fn judged(said: &str) -> Result<Counts> {
    let mut counts = Counts::default();
    let mut failed = Vec::new();
    for line in said.lines() {
        match line.split_once(' ') {
            Some(("PASSED", _)) => counts.add(Counts::of_passed()),
            Some(("SKIPPED", what)) => counts.add(Counts::of_skipped(&format!("in a guest: {what}"))),
            Some(("FAILED", what)) => failed.push(what),
            _ => {}
        }
    }
    if !said.lines().any(|line| line == "ENDED") {
        bail!("the guest did not come to its end");
    }
    if !failed.is_empty() {
        bail!("checks in the guest failed: {}", failed.join(", "));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests;
