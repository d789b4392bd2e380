//! Programs that need nothing but a kernel.

use super::{Binary, Machine, elf};
use crate::ci::target_directory;
use crate::{packages, shell};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// Builds the program. Rust brings musl and a linker; only zstd and ring need a C compiler, for which that of Debian's own C library
/// does: what they take of its headers is the same in both, and what were not would not link.
pub(super) fn build(machine: &Machine) -> Result<Binary<'_>> {
    let triple = machine.triple();
    packages::add_target(&triple)?;
    let variable = triple.replace('-', "_");
    let mut cargo = shell::cargo(&["build", "--profile", "dist", "--locked", "--package", "fathom"]);
    cargo
        .args(["--target", &triple])
        .env(format!("CC_{variable}"), compiler(machine))
        .env(
            format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase()),
            "rust-lld",
        )
        .env("CARGO_ENCODED_RUSTFLAGS", flags()?.join("\u{1f}"));
    shell::run(&mut cargo)?;
    let path = target_directory()?.join(&triple).join("dist/fathom");
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let program = elf::Program::read(&bytes).with_context(|| format!("{}: no program", path.display()))?;
    ensure!(
        program.machine == machine.number && !program.has_interpreter,
        "{} is not a static program for {}",
        path.display(),
        machine.arch
    );
    Ok(Binary { machine, bytes })
}

fn compiler(machine: &Machine) -> String {
    match machine.arch {
        arch if arch == std::env::consts::ARCH => String::from("cc"),
        "aarch64" => packages::ARM_CC.to_owned(),
        arch => format!("{}-linux-gnu-gcc", arch.replace('_', "-")),
    }
}

/// Takes the places of this machine out of the program: they are nobody's business, and differ from one to the next.
fn flags() -> Result<Vec<String>> {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || {
            let home = std::env::var_os("HOME").unwrap_or_default();
            Path::new(&home).join(".cargo")
        },
        PathBuf::from,
    );
    let mut sources = vec![(shell::root(), "/fathom")];
    let registries = home.join("registry/src");
    if registries.is_dir() {
        for registry in std::fs::read_dir(registries)? {
            sources.push((registry?.path(), "/cargo"));
        }
    }
    sources.sort();
    Ok(sources
        .iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect())
}
