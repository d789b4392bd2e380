//! What users install, made from the checkout: `cargo xtask dist`.
//!
//! Data in: the sources. Data out, in `target/dist`: a static binary, a Debian package each for x86-64 and Arm, an image for
//! both, a list of what is in them, and digests. The same sources give the same bytes: the only time in them is
//! `SOURCE_DATE_EPOCH`, or that of the commit.

mod archive;
mod binaries;
mod deb;
mod elf;
mod image;
mod sbom;

use crate::ci::target_directory;
use crate::{packages, shell};
use anyhow::{Context, Result, bail, ensure};
use archive::Entry;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// A kind of machine.
pub(crate) struct Machine {
    /// As Rust and Linux call it.
    arch: &'static str,
    /// As Debian, Go and so images call it.
    short: &'static str,
    /// In the header of a program: `e_machine`.
    number: u16,
}

const MACHINES: [Machine; 2] = [
    Machine {
        arch: "x86_64",
        short: "amd64",
        number: 62,
    },
    Machine {
        arch: "aarch64",
        short: "arm64",
        number: 183,
    },
];

impl Machine {
    fn triple(&self) -> String {
        format!("{}-unknown-linux-musl", self.arch)
    }
}

/// A program for a kind of machine.
pub(crate) struct Binary<'m> {
    machine: &'m Machine,
    bytes: Vec<u8>,
}

/// What all that is made has in common.
pub(crate) struct Release {
    version: String,
    /// Seconds since 1970: when it was made, as far as anybody is told.
    epoch: u64,
}

pub(crate) fn run() -> Result<()> {
    packages::install(packages::ARM);
    let release = Release {
        version: version()?,
        epoch: epoch()?,
    };
    let mut binaries = Vec::new();
    for machine in &MACHINES {
        binaries.push(binaries::build(machine)?);
    }
    let to = target_directory()?.join("dist");
    if to.exists() {
        std::fs::remove_dir_all(&to)?;
    }
    std::fs::create_dir_all(&to)?;
    let version = &release.version;
    let generated = generated(&binaries)?;
    for binary in &binaries {
        let Machine { arch, short, .. } = binary.machine;
        let name = format!("fathom-{version}-{arch}-linux");
        leave(&to, &name, &binary.bytes)?;
        executable(&to.join(name))?;
        let package = deb::package(&release, binary, &generated)?;
        leave(&to, &format!("fathom_{version}_{short}.deb"), &package)?;
    }
    let image = image::archive(&release, &binaries)?;
    leave(&to, &format!("fathom-{version}.oci.tar"), &image)?;
    leave(
        &to,
        &format!("fathom-{version}.cdx.json"),
        &sbom::of_checkout(&release)?,
    )?;
    leave(&to, "SHA256SUMS", sums(&to)?.as_bytes())?;
    shell::run(
        Command::new("sha256sum")
            .current_dir(&to)
            .args(["--check", "SHA256SUMS"]),
    )
}

fn leave(to: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = to.join(name);
    std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{:>12} bytes  {}", bytes.len(), path.display());
    Ok(())
}

fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(std::fs::set_permissions(path, PermissionsExt::from_mode(0o755))?)
}

fn version() -> Result<String> {
    let metadata = shell::output(&mut shell::cargo(&[
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--locked",
    ]))?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let fathom = packages.iter().find(|package| package["name"] == "fathom");
    let version = fathom.and_then(|package| package["version"].as_str());
    Ok(version.context("no package fathom")?.to_owned())
}

fn epoch() -> Result<u64> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        let seconds = given.trim().parse();
        return seconds.with_context(|| format!("SOURCE_DATE_EPOCH: `{given}` is not a number of seconds"));
    }
    let mut git = Command::new("git");
    git.current_dir(shell::root()).args(["log", "-1", "--format=%ct"]);
    let seconds = shell::output(&mut git)
        .context("without SOURCE_DATE_EPOCH the time is that of the commit, which takes a git checkout")?;
    Ok(String::from_utf8_lossy(&seconds).trim().parse()?)
}

/// Completions and man pages, by their places in a system: what the program of this machine's kind says of itself.
fn generated(binaries: &[Binary<'_>]) -> Result<Vec<Entry>> {
    let own = binaries
        .iter()
        .find(|binary| binary.machine.arch == std::env::consts::ARCH);
    let Some(own) = own else {
        bail!("no program for this machine ({})", std::env::consts::ARCH);
    };
    let directory = tempfile::tempdir()?;
    let program = directory.path().join("fathom");
    std::fs::write(&program, &own.bytes)?;
    executable(&program)?;
    let shells = [
        ("bash", "usr/share/bash-completion/completions/fathom"),
        ("fish", "usr/share/fish/vendor_completions.d/fathom.fish"),
        ("zsh", "usr/share/zsh/vendor-completions/_fathom"),
    ];
    let mut entries = Vec::new();
    for (shell_name, place) in shells {
        let script = shell::output(Command::new(&program).args(["completions", shell_name]))?;
        ensure!(!script.is_empty(), "no completions for {shell_name}");
        entries.push(Entry::file(place, script));
    }
    let pages = directory.path().join("man");
    shell::output(Command::new(&program).arg("man").arg("-o").arg(&pages))?;
    for page in std::fs::read_dir(&pages)? {
        let page = page?;
        let text = archive::gzip(&std::fs::read(page.path())?)?;
        let name = page.file_name().to_string_lossy().into_owned();
        entries.push(Entry::file(&format!("usr/share/man/man1/{name}.gz"), text));
    }
    Ok(entries)
}

/// The digests of all files there, as `sha256sum` writes and checks them.
fn sums(directory: &Path) -> Result<String> {
    let mut lines = Vec::new();
    for file in std::fs::read_dir(directory)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        let digest = archive::sha256(&std::fs::read(file.path())?);
        lines.push((name, digest));
    }
    lines.sort();
    let mut text = String::new();
    for (name, digest) in lines {
        writeln!(text, "{digest}  {name}")?;
    }
    Ok(text)
}
