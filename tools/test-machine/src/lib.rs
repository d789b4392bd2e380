//! What tests need of the machine that they run on: loop devices in a known state, and whether it is quiet enough to tell.
//!
//! Duty: make devices and take them down; judge the machine, not the program. Data in: files, `/proc`, `/sys`. Data out:
//! devices, and `SKIPPED` lines where a machine cannot tell. It must not know the program under test.
#![forbid(unsafe_code)]

mod loop_device;
mod quiet;
mod usage;

pub use loop_device::LoopDevice;
pub use quiet::{Needs, telling};

/// Says that a test did not run, and why: `cargo xtask ci` counts these lines.
pub fn skipped(test: &str, missing: impl std::fmt::Display) {
    eprintln!("SKIPPED: {test}: {missing}");
}
