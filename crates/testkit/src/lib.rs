//! What tests stand on: made-up runs ([`make`]), simulated machines to which something was done ([`scenarios`]), a
//! simulated kernel's trace ([`peer`]), servers of exports and of objects ([`exports`], [`objects`]), loop devices in a
//! known state, whether a machine is quiet enough to tell, and who of a program's tests has it alone.
//!
//! Duty: make what is to be judged; make devices and take them down; judge the machine, not the program. Data in: files,
//! `/proc`, `/sys`. Data out: records, devices, seeds, and `SKIPPED` lines where a machine cannot tell. It must not know
//! the program under test but the words that all of it shares (`fathom_core`), and is never a dependency of it.
#![forbid(unsafe_code)]

pub mod exports;
mod loop_device;
pub mod make;
pub mod objects;
pub mod peer;
mod quiet;
pub mod scenarios;
mod turns;
mod usage;

use std::process::Stdio;

pub use loop_device::LoopDevice;
pub use quiet::{Needs, comes_to_rest, noise_during, telling};
pub use turns::{Turn, beside_others};

/// Capabilities that `FATHOM_REQUIRE` may name, separated by commas, and how a reason speaks of each.
const CAPABILITIES: [(&str, &[&str]); 6] = [
    ("root", &["root", "not permitted", "permission denied"]),
    ("fio", &["fio"]),
    ("chromium", &["chromium"]),
    ("tracefs", &["tracefs", "tracing", "tracepoint"]),
    ("prometheus", &["debian's prometheus"]),
    ("promtool", &["promtool"]),
];

/// Says that a test did not run, and why: `cargo xtask ci` counts these lines.
///
/// # Panics
/// `FATHOM_REQUIRE` says that this machine has what is missing: then nothing may be skipped for it.
pub fn skipped(test: &str, missing: impl std::fmt::Display) {
    let missing = missing.to_string();
    let required = std::env::var("FATHOM_REQUIRE").unwrap_or_default();
    if let Some(capability) = required_of(&required, &missing) {
        panic!("{test}: {missing}: FATHOM_REQUIRE names {capability}");
    }
    tell_skipped(test, &missing);
}

/// The line itself; for what no machine can promise, whose words may name any program.
fn tell_skipped(test: &str, missing: &str) {
    eprintln!("SKIPPED: {test}: {missing}");
}

/// The capability of `required` that a reason is about.
fn required_of<'a>(required: &'a str, missing: &str) -> Option<&'a str> {
    let missing = missing.to_lowercase();
    let mut named = required.split(',').map(str::trim).filter(|name| !name.is_empty());
    named.find(|name| {
        let known = CAPABILITIES.iter().find(|(known, _)| known == name);
        let (_, words) = known.unwrap_or_else(|| panic!("FATHOM_REQUIRE: there is no capability {name}"));
        words.iter().any(|word| missing.contains(word))
    })
}

/// A seed for this run, printed so that a failure can be repeated (`FATHOM_TEST_SEED`).
pub fn seed() -> u64 {
    let given = std::env::var("FATHOM_TEST_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(1, |since| since.as_nanos() as u64)
    };
    let seed = given.unwrap_or_else(now);
    eprintln!("FATHOM_TEST_SEED={seed}");
    seed
}

/// Whether a test can start its own program, for what must happen to a process of its own; said where it cannot: a
/// program for another machine in an emulator, without `binfmt_misc`.
pub fn starts_itself(test: &str) -> bool {
    let list = |program| {
        let mut command = std::process::Command::new(program);
        command.arg("--list").stdout(Stdio::null()).stderr(Stdio::null());
        command.status()
    };
    let starts = std::env::current_exe().and_then(list);
    let starts = starts.is_ok_and(|status| status.success());
    if !starts {
        skipped(
            test,
            "a kernel that starts this program (in an emulator: binfmt_misc)",
        );
    }
    starts
}

#[cfg(test)]
mod tests;
