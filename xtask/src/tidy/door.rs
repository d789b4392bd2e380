//! Nothing writes but through `crates/door`.
//!
//! Data in: a source file of the product. Data out: a breach for each call that makes, opens for writing, cuts, renames onto
//! or removes. Tests, tools and chores may: they are not what users run.

use std::path::Path;

/// What writes, as it is spelled in code.
const CALLS: [&str; 49] = [
    "File::create",
    "File::options",
    "OpenOptions",
    "create_new(",
    "fs::write(",
    "fs::rename(",
    "fs::copy(",
    "fs::hard_link(",
    "fs::remove_",
    "fs::create_dir",
    "fs::set_permissions(",
    "DirBuilder",
    "set_len(",
    "set_modified(",
    "set_times(",
    "fs::symlink(",
    "renameat",
    "rename_with",
    "unlinkat(",
    "unlink(path",
    "linkat(",
    "mkdirat(",
    "mknodat(",
    "ftruncate(",
    "fs::fallocate(",
    "copy_file_range(",
    "sendfile(",
    "setxattr(",
    "removexattr(",
    "OFlags::RDWR",
    "OFlags::WRONLY",
    "OFlags::CREATE",
    "OFlags::TRUNC",
    "O_RDWR",
    "O_WRONLY",
    "O_CREAT",
    "O_TRUNC",
    "BLKDISCARD",
    "BLKSECDISCARD",
    "BLKZEROOUT",
    "BLKRESETZONE:",
    "BLKFINISHZONE:",
    "UnixListener::bind",
    "UnixDatagram::bind",
    "bind_addr(",
    "SocketAddrUnix",
    "SockAddr::unix(",
    "remove_dir_all",
    "Permits::unasked",
];

/// Where else which of them may stand, and why.
const EXCEPT: [(&str, &str, &str); 5] = [
    // A trim of the load's, on a handle that the door gave.
    (
        "crates/sys/src/sync_io.rs",
        "fs::fallocate(",
        "punches holes as a load's trim",
    ),
    (
        "crates/sys/src/file.rs",
        "BLKDISCARD",
        "discards as a load's trim",
    ),
    (
        "crates/sys/src/zoned.rs",
        "BLKRESETZONE:",
        "empties zones as a load's reset",
    ),
    (
        "crates/sys/src/zoned.rs",
        "BLKFINISHZONE:",
        "fills zones as a load's finish",
    ),
    // What cargo builds with, not what users run.
    ("crates/report/build.rs", "fs::write(", "a build script"),
];

/// Notes what breaks the rule.
pub(super) fn check(file: &Path, text: &str, breaches: &mut Vec<String>) {
    let shown = file.display().to_string();
    let product = shown.starts_with("crates/")
        && !shown.starts_with("crates/door/")
        // Users never run it: tidy refuses it as a dependency of what they run.
        && !shown.starts_with("crates/testkit/");
    if !product || is_test(file) {
        return;
    }
    for (number, line) in product_lines(text) {
        let code = line.split("//").next().unwrap_or_default();
        for call in CALLS.iter().filter(|call| code.contains(**call)) {
            let excepted = EXCEPT
                .iter()
                .any(|(path, what, _)| *path == shown && what == call);
            if !excepted {
                breaches.push(format!("{shown}:{number}: `{call}`: only crates/door writes"));
            }
        }
    }
}

/// The lines that users run, with their numbers: all but items for tests. rustfmt ends an item at the column where it began.
fn product_lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = (1..).zip(text.lines());
    let mut product = Vec::new();
    while let Some((number, line)) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            product.push((number, line));
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        if lines.next().is_some_and(|(_, item)| item.ends_with('{')) {
            lines.by_ref().find(|(_, line)| *line == end);
        }
    }
    product
}

/// Tests and what they share.
fn is_test(file: &Path) -> bool {
    let part = |name: &str| file.components().any(|part| part.as_os_str() == name);
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    part("tests")
        || part("examples")
        || part("testing")
        || matches!(&*stem, "tests" | "testing" | "fixture" | "fixtures")
        || file.ends_with("observe/src/trace/real.rs")
}

#[cfg(test)]
mod tests;
