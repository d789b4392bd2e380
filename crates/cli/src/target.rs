//! What the paths of the command line are: job files or the target, and how the target replaces the files of
//! a workload.
//!
//! Data in: paths, the first bytes of what is there. Data out: a [`Target`], and the workload aimed at it. It must
//! not know how job files are read.

use anyhow::bail;
use fathom_core::workload::Workload;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// How much of a file is looked at to see whether it is a job file.
const LOOK_BYTES: u64 = 4096;
/// No job file is larger; test files are.
const JOB_FILE_BYTES_MAX: u64 = 1 << 20;

/// What is to be measured, where the command line says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file or device, made where it is missing.
    File(PathBuf),
    /// A directory to make files in.
    Directory(PathBuf),
    /// Nothing: the null engine.
    Null,
    /// A modelled disk, in the words after `model:`.
    Model(String),
}

/// The paths of a command line, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    /// Job files, in the order given; `-` is stdin.
    pub job_files: Vec<PathBuf>,
    /// What is not a job file.
    pub target: Option<PathBuf>,
}

/// Sorts paths into job files and the target.
pub(crate) fn sort(paths: &[PathBuf]) -> anyhow::Result<Sorted> {
    let mut sorted = Sorted::default();
    for path in paths {
        if is_job_file(path) {
            sorted.job_files.push(path.clone());
        } else if let Some(first) = &sorted.target {
            let why = "neither is named *.fio, *.ini or *.job, or begins with a [section]";
            bail!(two_targets(
                first.display(),
                format_args!("{} ({why})", path.display())
            ));
        } else {
            sorted.target = Some(path.clone());
        }
    }
    Ok(sorted)
}

/// By its name, or by its contents where there are any. A name without a file is a job file that is missing, if
/// it is named like one, and else a target to be made.
fn is_job_file(path: &Path) -> bool {
    let named = path
        .extension()
        .and_then(OsStr::to_str)
        .is_some_and(|extension| matches!(extension, "fio" | "ini" | "job"));
    named || path == Path::new("-") || begins_like_one(path)
}

/// Whether it is a small file of text whose first line that is no comment is a `[section]`.
fn begins_like_one(path: &Path) -> bool {
    let small = std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && (1..=JOB_FILE_BYTES_MAX).contains(&metadata.len()));
    if !small {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LOOK_BYTES).read_to_end(&mut head));
    if read.is_err() || head.contains(&0) {
        return false;
    }
    let head = String::from_utf8_lossy(&head);
    let telling = head
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with([';', '#']));
    telling.is_some_and(|line| line.starts_with('[') && line.contains(']'))
}

/// What is said where two targets were typed, each as it was.
pub(crate) fn two_targets(first: impl Display, second: impl Display) -> String {
    format!("two targets: {first} and {second}: give one")
}

/// The target that was typed: behind `--on`, or as a path.
pub(crate) fn typed<'a>(on: Option<&'a OsStr>, path: Option<&'a Path>) -> anyhow::Result<Option<&'a OsStr>> {
    match (on, path) {
        (Some(on), Some(path)) => {
            bail!(two_targets(format_args!("--on {}", on.display()), path.display()))
        }
        _ => Ok(on.or(path.map(Path::as_os_str))),
    }
}

/// What a target given in words is.
pub(crate) fn resolve(words: &OsStr) -> anyhow::Result<Target> {
    if words == "null:" {
        return Ok(Target::Null);
    }
    if let Some(model) = words.to_str().and_then(|text| text.strip_prefix("model:")) {
        return Ok(Target::Model(model.to_owned()));
    }
    let path = PathBuf::from(words);
    if path.as_os_str().is_empty() {
        bail!("--on is empty: give a file, a directory, a device, null: or model:NAME");
    }
    let kind = std::fs::metadata(&path).map(|metadata| metadata.file_type());
    Ok(match kind {
        Ok(kind) if kind.is_dir() => Target::Directory(path),
        Ok(kind) if kind.is_fifo() || kind.is_socket() => {
            bail!(
                "{} is a pipe or a socket: give a file, a directory or a device",
                path.display()
            )
        }
        // Whoever ends a name with a slash means a directory.
        Err(_) if words.as_encoded_bytes().ends_with(b"/") => {
            bail!(
                "the directory {} does not exist: make it, or give another one",
                path.display()
            )
        }
        _ => Target::File(path),
    })
}

/// Aims all jobs at `target`, in place of the files that they name. (The null engine is chosen by an override,
/// since it bears on other options.)
pub(crate) fn aim(workload: &mut Workload, target: &Target) {
    for job in &mut workload.jobs {
        match target {
            Target::File(path) => {
                job.files.names = vec![path.clone()];
                job.files.directories.clear();
            }
            Target::Directory(path) => {
                job.files.names.clear();
                job.files.directories = vec![path.clone()];
            }
            Target::Null | Target::Model(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
