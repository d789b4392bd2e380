//! What the words of a side stand for: runs, sweeps or columns.
//!
//! Data in: paths as typed. Data out: [`Inputs`] of one kind. It must not read what is in them.

use anyhow::{Context, bail};
use fathom_store::{RUN_FILE, is_sweep};
use std::path::{Path, PathBuf};

/// A side, of one kind.
#[derive(Debug)]
pub(super) enum Inputs {
    /// Run directories, recordings among them.
    Runs(Vec<PathBuf>),
    Sweeps(Vec<PathBuf>),
    Columns(Vec<ColumnFile>),
}

/// A file of numbers, and which of its columns.
#[derive(Debug)]
pub(super) struct ColumnFile {
    pub path: PathBuf,
    pub column: Option<String>,
}

/// What a path is.
enum Found {
    Runs(Vec<PathBuf>),
    Sweep,
    Column(ColumnFile),
}

impl Inputs {
    /// The paths of one side.
    pub(super) fn of(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let (mut runs, mut sweeps, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for path in paths {
            match found(path)? {
                Found::Runs(some) => runs.extend(some),
                Found::Sweep => sweeps.push(path.clone()),
                Found::Column(column) => columns.push(column),
            }
        }
        twice(runs.iter().chain(&sweeps))?;
        match (runs.is_empty(), sweeps.is_empty(), columns.is_empty()) {
            (false, true, true) => Ok(Self::Runs(runs)),
            (true, false, true) => Ok(Self::Sweeps(sweeps)),
            (true, true, false) => Ok(Self::Columns(columns)),
            _ => bail!("a side is of runs, of sweeps or of files of numbers: give one kind, not several"),
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Runs(_) => "of runs",
            Self::Sweeps(_) => "of sweeps",
            Self::Columns(_) => "of files of numbers",
        }
    }

    /// As they are named in a report.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Runs(dirs) | Self::Sweeps(dirs) => {
                dirs.iter().map(|dir| dir.display().to_string()).collect()
            }
            Self::Columns(files) => files.iter().map(ColumnFile::name).collect(),
        }
    }

    /// The directories among them: nothing is written there.
    pub(super) fn directories(&self) -> impl Iterator<Item = &Path> {
        let dirs = match self {
            Self::Runs(dirs) | Self::Sweeps(dirs) => dirs.as_slice(),
            Self::Columns(_) => &[],
        };
        dirs.iter().map(PathBuf::as_path)
    }
}

impl ColumnFile {
    pub(super) fn name(&self) -> String {
        match &self.column {
            None => self.path.display().to_string(),
            Some(column) => format!("{}:{column}", self.path.display()),
        }
    }
}

fn found(path: &Path) -> anyhow::Result<Found> {
    if path.is_dir() {
        if path.join(RUN_FILE).is_file() {
            return Ok(Found::Runs(vec![path.to_owned()]));
        }
        if is_sweep(path) {
            return Ok(Found::Sweep);
        }
        return Ok(Found::Runs(within(path)?));
    }
    if path.exists() {
        return Ok(Found::Column(ColumnFile {
            path: path.to_owned(),
            column: None,
        }));
    }
    let text = path.to_string_lossy();
    match text.rsplit_once(':') {
        Some((file, column)) if Path::new(file).is_file() && !column.is_empty() => {
            Ok(Found::Column(ColumnFile {
                path: PathBuf::from(file),
                column: Some(column.to_owned()),
            }))
        }
        _ => bail!(
            "{text}: there is no such file or directory: give directories of runs or sweeps, or files of numbers (FILE or \
             FILE:COLUMN)"
        ),
    }
}

/// The runs in a directory, by name.
fn within(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut runs = Vec::new();
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot read {}", dir.display()))?
            .path();
        if path.join(RUN_FILE).is_file() {
            runs.push(path);
        }
    }
    if runs.is_empty() {
        bail!(
            "{}: neither a run nor a sweep, and there is no run in it: give directories that fathom run or fathom sweep made",
            dir.display()
        );
    }
    runs.sort();
    Ok(runs)
}

/// The same run twice is no repeat.
fn twice<'a>(dirs: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let mut known: Vec<PathBuf> = Vec::new();
    for dir in dirs {
        let real = dir
            .canonicalize()
            .with_context(|| format!("cannot read {}", dir.display()))?;
        if known.contains(&real) {
            bail!(
                "{}: it is given twice on one side: a repeat is another run",
                dir.display()
            );
        }
        known.push(real);
    }
    Ok(())
}
