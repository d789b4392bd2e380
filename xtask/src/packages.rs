//! System packages that the tests need: installed where that is possible, named where it is not.

use crate::shell;
use std::path::Path;
use std::process::Command;

/// A program that tests run, and the Debian package that has it.
const NEEDED: [(&str, &str); 5] = [
    ("chromium", "chromium"),
    ("fio", "fio"),
    ("mkfs.ext4", "e2fsprogs"),
    ("losetup", "mount"),
    ("mkswap", "util-linux"),
];

/// Installs what is missing. Tests that miss a program all the same say SKIPPED.
pub(crate) fn install() {
    let missing: Vec<&str> = NEEDED
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

/// Where a program is, on the path or among the system's.
fn find(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(|directory| Path::new(directory).to_owned());
    std::env::split_paths(&path)
        .chain(system)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}
