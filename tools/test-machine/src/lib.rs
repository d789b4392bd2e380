//! What tests need of the machine that they run on: loop devices in a known state, and whether it is quiet enough to tell.
//!
//! Duty: make devices and take them down; judge the machine, not the program. Data in: files, `/proc`, `/sys`. Data out:
//! devices, and `SKIPPED` lines where a machine cannot tell. It must not know the program under test.
#![forbid(unsafe_code)]

mod loop_device;
mod quiet;
mod usage;

use std::process::Stdio;

pub use loop_device::LoopDevice;
pub use quiet::{Needs, telling};

/// Says that a test did not run, and why: `cargo xtask ci` counts these lines.
pub fn skipped(test: &str, missing: impl std::fmt::Display) {
    eprintln!("SKIPPED: {test}: {missing}");
}

/// Whether a test can start its own program, for what must happen to a process of its own; said where it cannot: a program
/// for another machine in an emulator, without `binfmt_misc`.
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
