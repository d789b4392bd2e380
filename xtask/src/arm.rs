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

/// Those of them that speak to the kernel and the processor: the part of a check.
const NEAREST: [&str; 4] = ["fathom-core", "fathom-sys", "fathom-door", "fathom-engine"];

/// Tests that are left out: of which crate, by the beginnings of their names, and why.
const LEFT_OUT: [(&str, &str, &str); 12] = [
    ("fathom-analysis", "explain::scenarios::", TOO_LONG),
    ("fathom-analysis", "explain::limit::", TOO_LONG),
    (
        "fathom-analysis",
        "explain::tests::the_first_pass_takes_little_time_a_row",
        "a processor of its own: it measures time, and an emulator takes several times as long",
    ),
    (
        "fathom-engine",
        "backends::net::tests::a_multicast_arrives",
        "a kernel of its own: the emulator has no IP_MULTICAST_IF",
    ),
    ("fathom-engine", "run::virtual_run::tests::long::", TOO_LONG),
    (
        "fathom-engine",
        "run::tests::programs::what_fails_is_told",
        "a kernel of its own: in an emulator a program that cannot start is one that has started and ends with 127",
    ),
    (
        "fathom-store",
        "reader::tests::flipped_bytes_never_panic",
        TOO_LONG,
    ),
    ("fathom-store", "records::reader::tests::flipped_bits", TOO_LONG),
    (
        "fathom-store",
        "records::reader::tests::torn_at_every_byte",
        TOO_LONG,
    ),
    (
        "fathom-sys",
        "nvme::tests::what_is_no_namespace_says_so",
        NO_IOCTL,
    ),
    ("fathom-sys", "sg::tests::what_is_no_disk_says_so", NO_IOCTL),
    ("fathom-sys", "zoned::tests::a_file_has_no_zones", NO_IOCTL),
];
const TOO_LONG: &str = "a processor of its own: in an emulator it takes minutes";
const NO_IOCTL: &str =
    "a kernel of its own: to an ioctl that the emulator does not know it answers ENOSYS, whatever the file";

/// What others wrote runs little here, and takes long to optimise (docs/journal/2026-11-22-arm.md).
const QUICK_BUILD: [&str; 2] = ["profile.dev.package.\"*\".opt-level=0", "profile.dev.debug=0"];

/// `cargo xtask arm`; with `nearest` only [`NEAREST`].
pub(crate) fn run() -> Result<()> {
    test(&CRATES)?.tell();
    Ok(())
}

/// The tests of [`NEAREST`], and counts.
pub(crate) fn test_nearest() -> Result<Counts> {
    test(&NEAREST)
}

fn test(crates: &[&str]) -> Result<Counts> {
    if cfg!(target_arch = "aarch64") {
        eprintln!("this machine is an Arm machine: its tests are those of everybody");
        return Ok(Counts::default());
    }
    packages::install(packages::ARM);
    if let Some(missing) = missing() {
        return Ok(Counts::of_skipped(&format!("tests on Arm: {missing}")));
    }
    let mut command = shell::cargo(&["test", "--locked", "--no-fail-fast", "--lib", "--target", TARGET]);
    for setting in QUICK_BUILD {
        command.args(["--config", setting]);
    }
    for name in crates {
        command.args(["--package", name]);
    }
    command.args(["--", "--show-output"]);
    let mut counts = Counts::default();
    for (_, tests, missing) in LEFT_OUT.iter().filter(|(name, ..)| crates.contains(name)) {
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
