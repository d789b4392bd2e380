//! A real Kubernetes cluster of two nodes on this machine, for the tests of `fathom k8s`.
//!
//! `xtask/cluster` has what it is made of: Kubernetes itself, built as one program from the Go module proxy (four to eight minutes,
//! once: kept in the user's cache), a small CSI driver, images made by hand, and the scripts that start and stop all of it on
//! loopback addresses.

use crate::ci::{Counts, TESTED, counted, target_directory};
use crate::{packages, shell};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the cluster itself runs on.
const NEEDED: &[packages::Need] = &[
    ("containerd", "containerd"),
    ("runc", "runc"),
    ("/usr/lib/cni/bridge", "containernetworking-plugins"),
    ("openssl", "openssl"),
    ("curl", "curl"),
    ("gcc", "gcc"),
    ("python3", "python3"),
];
/// Where its image is called so in the cluster.
const IMAGE: &str = "e2e.local/fathom:1";
/// Somebody's own image there.
const TOOLS: &str = "e2e.local/tools:1";

/// `cargo xtask cluster`: builds it where it is not yet, starts it, runs the tests that need it, takes it down.
pub(crate) fn run() -> Result<()> {
    packages::install(NEEDED);
    if let Some(missing) = missing() {
        bail!("tests on Kubernetes: this machine lacks {missing}");
    }
    let dir = prepare()?;
    let begun = Command::new("bash").arg("build.sh").current_dir(&dir).status()?;
    if !begun.success() {
        bail!("the cluster's programs could not be built: {}", dir.display());
    }
    test(&dir)?.tell();
    Ok(())
}

/// What tests say that are skipped where there is no cluster.
pub(crate) const SKIPPED: &str = "a cluster (cargo xtask cluster)";

/// The same as a part of all tests; skipped by name where it is not built yet, or the machine cannot have it.
pub(crate) fn test_if_built() -> Result<Counts> {
    if !programs().is_ok_and(|programs| programs.join("hyperkube").exists()) {
        return Ok(Counts::of_skipped(
            "tests on Kubernetes: a cluster (cargo xtask cluster builds one)",
        ));
    }
    if let Some(missing) = missing() {
        return Ok(Counts::of_skipped(&format!("tests on Kubernetes: {missing}")));
    }
    let dir = prepare()?;
    // Whether a cluster runs here at all (control groups, bridges, overlays, free ports) shows when it is started.
    let tried = [
        "-c",
        "bash build.sh && timeout --kill-after=60 180 bash e2e.sh true",
    ];
    let (starts, said) = shell::tee(Command::new("bash").args(tried).current_dir(&dir))?;
    if !starts {
        // Behind what went wrong stands how it was taken down.
        let is_telling = |line: &&str| !line.trim().is_empty() && !line.starts_with(['[', 'd']);
        let last = said.lines().rfind(is_telling).unwrap_or("it says nothing");
        return Ok(Counts::of_skipped(&format!(
            "tests on Kubernetes: a cluster that starts here: {last}"
        )));
    }
    test(&dir)
}

/// Where the cluster lives while it runs.
fn dir() -> Result<PathBuf> {
    Ok(target_directory()?.join("cluster"))
}

/// Where its programs are kept, for all checkouts.
fn programs() -> Result<PathBuf> {
    let given = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = given
        .or_else(usual)
        .context("HOME is not set: there is nowhere to keep what is built once")?;
    Ok(cache.join("fathom/cluster"))
}

/// Links `dir/bin` to where the programs are kept.
fn link_programs(dir: &Path) -> Result<()> {
    let (programs, bin) = (programs()?, dir.join("bin"));
    fs::create_dir_all(&programs).with_context(|| format!("cannot make {}", programs.display()))?;
    if !bin.exists() {
        std::os::unix::fs::symlink(&programs, &bin)
            .with_context(|| format!("cannot make {}", bin.display()))?;
    }
    Ok(())
}

/// Its scripts, its programs as far as they are built, and the image of this program.
fn prepare() -> Result<PathBuf> {
    let dir = dir()?;
    copy(&shell::root().join("xtask/cluster"), &dir)?;
    link_programs(&dir)?;
    shell::run(shell::cargo(&["build"]).args(TESTED).env_remove("RUSTFLAGS"))?;
    fs::create_dir_all(dir.join("images"))?;
    image(&dir)?;
    tools(&dir)?;
    Ok(dir)
}

/// An image of somebody's own, as commands are run in: a shell, and a few programs of this machine.
fn tools(dir: &Path) -> Result<()> {
    let programs = ["sh", "cat", "head", "sleep", "dd", "rm", "sync"]
        .into_iter()
        .filter_map(packages::find);
    let programs: Vec<PathBuf> = programs.collect();
    // Fathom itself is copied into such a pod, and is no static program in a debug build.
    let mut files = libraries(&target_directory()?.join("debug/fathom"))?;
    for program in &programs {
        // Links of the system (as sh to dash) become files under their own names.
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        files.push(format!("{}=/bin/{name}", program.display()));
        files.extend(libraries(program)?);
    }
    files.sort();
    files.dedup();
    shell::run(
        Command::new("python3")
            .arg("mkimage.py")
            .arg("images/tools.tar")
            .args([TOOLS, "/bin/sh"])
            .args(files)
            .current_dir(dir),
    )
}

/// The libraries that a program asks for, each as `PATH=PATH`.
fn libraries(program: &Path) -> Result<Vec<String>> {
    let libraries = shell::output(Command::new("ldd").arg(program))?;
    let libraries = String::from_utf8(libraries).context("ldd prints text")?;
    let paths = libraries.lines().filter_map(|line| {
        let path = line.split_whitespace().find(|word| word.starts_with('/'))?;
        Some(format!("{path}={path}"))
    });
    Ok(paths.collect())
}

/// Carries one test out on the cluster with more in its environment, as a soak does.
pub(crate) fn soak(test: &str, vars: &[(&str, String)]) -> Result<()> {
    packages::install(NEEDED);
    if let Some(missing) = missing() {
        bail!("soak on Kubernetes: this machine lacks {missing}");
    }
    let dir = prepare()?;
    let built = Command::new("bash").arg("build.sh").current_dir(&dir).status()?;
    if !built.success() {
        bail!("the cluster's programs could not be built: {}", dir.display());
    }
    let mut command = tests(&dir, test);
    shell::run(
        command
            .arg("--nocapture")
            .envs(vars.iter().map(|(key, value)| (key, value))),
    )
}

fn test(dir: &Path) -> Result<Counts> {
    counted(tests(dir, "k8s::").arg("--show-output"))
}

/// The tests of that name, on a cluster that is started for them.
fn tests(dir: &Path, name: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .arg("e2e.sh")
        .arg(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .arg("test")
        .args(TESTED)
        .arg("--manifest-path")
        .arg(shell::root().join("Cargo.toml"))
        .args(["--", "--test-threads", "1", name])
        .env("FATHOM_TEST_CLUSTER", IMAGE)
        .env("FATHOM_TEST_CLUSTER_TOOLS", TOOLS)
        .env("FATHOM_TEST_CLUSTER_DIR", dir)
        .current_dir(dir);
    command
}

/// Why this machine cannot have a cluster.
fn missing() -> Option<String> {
    if !is_root() {
        return Some(String::from("root"));
    }
    let absent = NEEDED
        .iter()
        .find(|(program, _)| packages::find(program).is_none());
    if let Some((program, package)) = absent {
        return Some(format!("{program} ({package})"));
    }
    packages::find("go").is_none().then(|| String::from("go"))
}

fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        uid.is_some_and(|uid| uid.split_whitespace().nth(1) == Some("0"))
    })
}

/// All of a directory over another one: what is there and not in it stays.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let at = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &at)?;
        } else {
            fs::copy(entry.path(), &at).with_context(|| format!("cannot write {}", at.display()))?;
        }
    }
    Ok(())
}

/// An image of the program with the libraries that it asks for.
fn image(dir: &Path) -> Result<()> {
    let program = target_directory()?.join("debug/fathom");
    let stripped = dir.join("images/fathom");
    shell::run(
        Command::new("strip")
            .args(["--strip-debug", "-o"])
            .arg(&stripped)
            .arg(&program),
    )?;
    let paths = libraries(&program)?;
    let program = format!("{}=/fathom", stripped.display());
    shell::run(
        Command::new("python3")
            .arg("mkimage.py")
            .arg("images/fathom.tar")
            .args([IMAGE, "/fathom", &program])
            .args(paths)
            .current_dir(dir),
    )
}
