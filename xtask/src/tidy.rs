//! The project's own rules on its source: directions between crates, module docs, lengths, words.

mod circles;
mod door;

use crate::shell;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Which crates a crate may use. What is not listed is refused.
const ALLOWED: [(&str, &[&str]); 18] = [
    ("core", &[]),
    ("dialect", &["core"]),
    ("model", &["core"]),
    ("sys", &["core"]),
    ("door", &[]),
    ("store", &["core", "door"]),
    ("engine", &["core", "door", "sys"]),
    ("observe", &["core", "door", "sys"]),
    ("analysis", &["core"]),
    ("plan", &["core", "model"]),
    ("identify", &["core", "model"]),
    ("remote", &["core"]),
    ("report", &["core", "analysis", "identify", "plan", "store"]),
    ("disk", &["core", "door", "model", "store", "sys"]),
    (
        "web",
        &[
            "core", "analysis", "dialect", "engine", "report", "session", "store",
        ],
    ),
    ("cluster", &["door"]),
    ("testkit", &["core"]),
    (
        "session",
        &[
            "core", "analysis", "door", "engine", "identify", "model", "observe", "store", "sys",
        ],
    ),
];

/// Crates whose modules must not import one another in a circle: those through which every request goes.
const WITHOUT_CIRCLES: [&str; 2] = ["cli", "session"];

/// What each tool may use: they are the tests' peers, and must not have what they are to check.
const TOOLS_ALLOWED: &[&str] = &["core"];

/// From these lengths on, in lines, a file and a function are pointed out: whether to split them is for judgement.
const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;
/// The longest ARCHITECTURE.md.
const ARCHITECTURE_LINES: usize = 200;

/// What may lie in the root.
const ROOT: [&str; 19] = [
    ".cargo",
    ".ci",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "crates",
    "deny.toml",
    "docs",
    "experiments",
    "fuzz",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "tools",
    "xtask",
];

/// Words that must not appear, and what to do instead. Written in two halves, so that this file may hold them.
const BANNED: [(&str, &str, &str); 7] = [
    ("FIX", "ME", "fix it, or say in docs/ what is left"),
    ("TO", "DO", "do it, or say in docs/ what is left"),
    ("/wor", "k/", "the project knows no machine's paths"),
    ("../sha", "red", "what the project needs is in the project"),
    ("white", "list", "say allow-list"),
    ("black", "list", "say deny-list"),
    ("crates.io-", "index", "no registry host belongs here"),
];

/// Checks all rules; lists every breach, and points out what is long.
pub(crate) fn run() -> Result<()> {
    let root = shell::root();
    let (mut breaches, mut long) = (Vec::new(), Vec::new());
    check_directions(&root, &mut breaches)?;
    let files = files(&root)?;
    for name in WITHOUT_CIRCLES {
        circles::check(&root, &files, name, &mut breaches);
    }
    for file in files {
        let Ok(text) = std::fs::read_to_string(root.join(&file)) else {
            continue;
        };
        check_words(&file, &text, &mut breaches);
        if file.extension().is_some_and(|extension| extension == "rs") {
            check_source(&file, &text, &mut breaches);
            lengths(&file, &text, &mut long);
        }
        check_place(&file, &mut breaches);
    }
    for signal in &long {
        eprintln!("note: {signal}");
    }
    check_documents(&root, &mut breaches);
    if breaches.is_empty() {
        return Ok(());
    }
    bail!("tidy:\n{}", breaches.join("\n"))
}

/// The files that git knows or would add.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let list = |args: &[&str]| -> Result<Vec<PathBuf>> {
        let output = std::process::Command::new("git")
            .current_dir(root)
            .args(args)
            .output()?;
        if !output.status.success() {
            bail!("git {} failed: tidy needs a git checkout", args.join(" "));
        }
        Ok(String::from_utf8_lossy(&output.stdout)
            .split('\0')
            .filter(|n| !n.is_empty())
            .map(Into::into)
            .collect())
    };
    list(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
}

fn check_directions(root: &Path, breaches: &mut Vec<String>) -> Result<()> {
    for (name, allowed) in ALLOWED {
        check_manifest(root, &format!("crates/{name}"), allowed, breaches)?;
    }
    for entry in std::fs::read_dir(root.join("tools"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        check_manifest(root, &format!("tools/{name}"), TOOLS_ALLOWED, breaches)?;
    }
    for entry in std::fs::read_dir(root.join("crates"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "cli" && !ALLOWED.iter().any(|(known, _)| *known == name) {
            breaches.push(format!("crates/{name}: say in xtask/src/tidy.rs what it may use"));
        }
    }
    Ok(())
}

/// The crates of the workspace that a crate's manifest names.
fn check_manifest(root: &Path, directory: &str, allowed: &[&str], breaches: &mut Vec<String>) -> Result<()> {
    let manifest = std::fs::read_to_string(root.join(format!("{directory}/Cargo.toml")))?;
    let mut section = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            line.clone_into(&mut section);
        }
        let Some(used) = line.strip_prefix("fathom-") else {
            continue;
        };
        let used = used.split(['.', ' ', '=']).next().unwrap_or_default();
        // Tests may look further than the code.
        if section == "[dependencies]" && !allowed.contains(&used) {
            breaches.push(format!("{directory}/Cargo.toml: it may not use {used}"));
        }
    }
    Ok(())
}

fn check_words(file: &Path, text: &str, breaches: &mut Vec<String>) {
    if file.ends_with("Cargo.lock") {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        for (first, second, remedy) in BANNED {
            let word = format!("{first}{second}");
            if line.contains(&word) {
                breaches.push(format!("{}:{}: `{word}`: {remedy}", file.display(), number + 1));
            }
        }
    }
}

fn check_source(file: &Path, text: &str, breaches: &mut Vec<String>) {
    let shown = file.display();
    // Test files speak by the names of their tests.
    let is_test = file.components().any(|part| part.as_os_str() == "tests") || file.ends_with("tests.rs");
    if !text.starts_with("//!") && !is_test {
        breaches.push(format!("{shown}:1: no `//!`: say the module's duty"));
    }
    if text.lines().any(|line| line.starts_with("mod tests {")) {
        breaches.push(format!("{shown}: tests belong into a sibling file"));
    }
    if !file.starts_with("crates/sys") && text.lines().any(is_unsafe) {
        breaches.push(format!("{shown}: `unsafe` belongs into crates/sys"));
    }
    for number in examples(text) {
        breaches.push(format!(
            "{shown}:{number}: checks do not run examples in comments: name the block's language (```text), and write a test"
        ));
    }
    door::check(file, text, breaches);
}

/// The lines at which a doc comment begins a block that rustdoc would take for a test.
fn examples(text: &str) -> Vec<usize> {
    let mut inside = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        let Some(language) = comment.trim().strip_prefix("```") else {
            continue;
        };
        inside = !inside;
        if inside && matches!(language, "" | "rust") {
            found.push(index + 1);
        }
    }
    found
}

fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["unsafe {", "unsafe fn", "unsafe impl"]
        .iter()
        .any(|word| code.contains(word))
        && !code.contains('"')
}

fn check_place(file: &Path, breaches: &mut Vec<String>) {
    let top = file
        .components()
        .next()
        .map(|part| part.as_os_str().to_string_lossy());
    if let Some(top) = top.filter(|top| !ROOT.contains(&top.as_ref())) {
        breaches.push(format!(
            "{top}: does not belong in the root: put it where its like is, or add it to the list in xtask/src/tidy.rs"
        ));
    }
}

/// What is long; of functions by indentation: rustfmt ends a function at the column where it began.
fn lengths(file: &Path, text: &str, signals: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > FILE_LINES {
        signals.push(format!("{}: {lines} lines: is it one thing?", file.display()));
    }
    let lines: Vec<&str> = text.lines().collect();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let is_function = [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "const fn ",
            "pub const fn ",
        ]
        .iter()
        .any(|word| line.trim_start().starts_with(word));
        if !is_function || line.ends_with(';') || line.ends_with('}') {
            continue;
        }
        let end = format!("{}}}", " ".repeat(indent));
        let Some(length) = lines[start..].iter().position(|line| *line == end) else {
            continue;
        };
        if length > FUNCTION_LINES {
            let shown = file.display();
            signals.push(format!(
                "{shown}:{}: a function of {length} lines: is it one thing?",
                start + 1
            ));
        }
    }
}

fn check_documents(root: &Path, breaches: &mut Vec<String>) {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let architecture = read("ARCHITECTURE.md").lines().count();
    if architecture == 0 || architecture > ARCHITECTURE_LINES {
        breaches.push(format!(
            "ARCHITECTURE.md: {architecture} lines: 1 to {ARCHITECTURE_LINES}"
        ));
    }
    if !read("CHANGELOG.md").contains("## Unreleased") {
        breaches.push(String::from(
            "CHANGELOG.md: no open section `## Unreleased` at the top",
        ));
    }
    let readme = read("README.md");
    for command in [
        "cargo run --release -- run experiments/quick.fio",
        "cargo xtask ci",
    ] {
        if !readme.contains(command) {
            breaches.push(format!("README.md: does not name `{command}`"));
        }
    }
}

#[cfg(test)]
mod tests;
