//! Tests once more as on an Arm machine: cross-compiled, and run by QEMU's user mode.
//!
//! Of the crates below the command line, where what differs between machines is: the clock, system calls, layouts, sizes of
//! pages. What QEMU or the kernel below it does not carry (`io_uring`), the tests find out as they do everywhere, and say
//! SKIPPED.

use crate::ci::{Counts, counted};
use crate::{packages, shell};
use anyhow::Result;

pub(crate) const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Where Debian's cross packages have the C library.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
const EMULATOR: &str = "qemu-aarch64";
const CRATES: [&str; 8] = [
    "fathom-core",
    "fathom-dialect",
    "fathom-model",
    "fathom-sys",
    "fathom-door",
    "fathom-analysis",
    "fathom-store",
    "fathom-engine",
];

/// Tests that are left out by the beginnings of their names, and why.
const LEFT_OUT: [(&str, &str); 7] = [
    ("explain::scenarios::", TOO_LONG),
    ("explain::limit::", TOO_LONG),
    ("run::virtual_run::tests::long::", TOO_LONG),
    ("reader::tests::flipped_bytes_never_panic", TOO_LONG),
    ("records::reader::tests::flipped_bits", TOO_LONG),
    ("records::reader::tests::torn_at_every_byte", TOO_LONG),
    (
        "explain::tests::the_first_pass_takes_little_time_a_row",
        "a processor of its own: it measures time, and an emulator takes several times as long",
    ),
];
const TOO_LONG: &str = "a processor of its own: in an emulator it takes minutes";

/// What others wrote runs little here, and takes long to optimise (docs/journal/2026-11-22-arm.md).
const QUICK_BUILD: [&str; 2] = ["profile.dev.package.\"*\".opt-level=0", "profile.dev.debug=0"];

/// `cargo xtask arm`.
pub(crate) fn run() -> Result<()> {
    packages::install(packages::ARM);
    test()?.tell();
    Ok(())
}

/// Runs the tests, and counts.
pub(crate) fn test() -> Result<Counts> {
    if cfg!(target_arch = "aarch64") {
        eprintln!("this machine is an Arm machine: its tests are those of everybody");
        return Ok(Counts::default());
    }
    if let Some(missing) = missing() {
        return Ok(Counts::of_skipped(&format!("tests on Arm: {missing}")));
    }
    let mut command = shell::cargo(&["test", "--locked", "--no-fail-fast", "--lib", "--target", TARGET]);
    for setting in QUICK_BUILD {
        command.args(["--config", setting]);
    }
    for name in CRATES {
        command.args(["--package", name]);
    }
    command.args(["--", "--show-output"]);
    let mut counts = Counts::default();
    for (tests, missing) in LEFT_OUT {
        command.args(["--skip", tests]);
        counts.add(Counts::of_skipped(&format!("{tests} on Arm: {missing}")));
    }
    let runner = format!("{EMULATOR} -L {LIBRARIES}");
    command
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", packages::ARM_CC)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner);
    counts.add(counted(&mut command)?);
    Ok(counts)
}

fn missing() -> Option<String> {
    if let Some((name, package)) = packages::first_missing(packages::ARM) {
        return Some(format!("{name} (package {package})"));
    }
    let added = packages::add_target(TARGET);
    added.err().map(|error| format!("{error:#}"))
}
