//! Runs other programs, and says so.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    // As cargo says now, not when this was built: checkouts may share a target directory, and with it this program.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&xtask)
        .parent()
        .map_or_else(PathBuf::new, Path::to_owned)
}

/// A `cargo` command in the root of the checkout.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    command
}

/// Runs a command to its end; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("+ {}", words(command));
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", words(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", words(command));
    }
    Ok(())
}

/// What a command prints, which has to succeed.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", words(command)))?;
    if !output.status.success() {
        bail!("{} failed ({})", words(command), output.status);
    }
    Ok(output.stdout)
}

/// Runs a command, passing its standard output on and keeping it; whether it succeeded, and the output.
pub(crate) fn tee(command: &mut Command) -> Result<(bool, String)> {
    eprintln!("+ {}", words(command));
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", words(command)))?;
    let stdout = child.stdout.take().context("no pipe")?;
    let mut kept = String::new();
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        kept.push_str(&line);
        kept.push('\n');
    }
    Ok((child.wait()?.success(), kept))
}

fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
