//! What the words of a side stand for: runs, sweeps or columns.
//!
//! Data in: paths as typed. Data out: [`Inputs`] of one kind. It must not read what is in them.

use crate::part::Part;
use crate::stored;
use anyhow::{Context, bail};
use fathom_cluster::prefix::ALONE_RUN;
use fathom_store::{RUN_FILE, is_sweep};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A side, of one kind.
#[derive(Debug)]
pub(super) enum Inputs {
    /// Runs, recordings among them.
    Runs(Vec<RunInput>),
    Sweeps(Vec<PathBuf>),
    Columns(Vec<ColumnFile>),
}

/// A run.
#[derive(Debug)]
pub(super) enum RunInput {
    Directory(PathBuf),
    /// One of many in one place, by what it contributes.
    Stored {
        name: String,
        part: Box<Part>,
    },
}

impl RunInput {
    /// As it is named in a report.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Directory(dir) => dir.display().to_string(),
            Self::Stored { name, .. } => name.clone(),
        }
    }

    fn directory(&self) -> Option<&PathBuf> {
        match self {
            Self::Directory(dir) => Some(dir),
            Self::Stored { .. } => None,
        }
    }
}

/// A file of numbers, and which of its columns.
#[derive(Debug)]
pub(super) struct ColumnFile {
    pub path: PathBuf,
    pub column: Option<String>,
}

/// What a path is.
enum Found {
    Runs(Vec<RunInput>),
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
        twice(runs.iter().filter_map(RunInput::directory).chain(&sweeps))?;
        twice_stored(&runs)?;
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
            Self::Runs(runs) => runs.iter().map(RunInput::name).collect(),
            Self::Sweeps(dirs) => dirs.iter().map(|dir| dir.display().to_string()).collect(),
            Self::Columns(files) => files.iter().map(ColumnFile::name).collect(),
        }
    }

    /// The directories among them: nothing is written there.
    pub(super) fn directories(&self) -> impl Iterator<Item = &Path> {
        let dirs: Vec<&PathBuf> = match self {
            Self::Runs(runs) => runs.iter().filter_map(RunInput::directory).collect(),
            Self::Sweeps(dirs) => dirs.iter().collect(),
            Self::Columns(_) => Vec::new(),
        };
        dirs.into_iter().map(PathBuf::as_path)
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
    if stored::is_prefix(path) {
        return Ok(Found::Runs(stored_in(path)?));
    }
    if path.is_dir() {
        if path.join(RUN_FILE).is_file() {
            return Ok(Found::Runs(vec![RunInput::Directory(path.to_owned())]));
        }
        if is_sweep(path) {
            return Ok(Found::Sweep);
        }
        let runs = within(path)?.into_iter().map(RunInput::Directory);
        return Ok(Found::Runs(runs.collect()));
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

/// The runs of a prefix; what one of many did alone is no repeat of what it did among them.
fn stored_in(prefix: &Path) -> anyhow::Result<Vec<RunInput>> {
    let mut runs = Vec::new();
    stored::each(prefix, |key, part| {
        if !key.run.ends_with(ALONE_RUN) {
            runs.push(RunInput::Stored {
                name: stored::named(key),
                part: Box::new(part),
            });
        }
        Ok(())
    })?;
    Ok(runs)
}

fn twice_stored(runs: &[RunInput]) -> anyhow::Result<()> {
    let mut names = HashSet::new();
    for run in runs {
        if let RunInput::Stored { name, .. } = run
            && !names.insert(name)
        {
            bail!("{name}: it is given twice on one side: a repeat is another run");
        }
    }
    Ok(())
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
