//! The directory of a sweep: its plan, a run directory a point, and what came out.
//!
//! Data in: a [`SweepPlan`] before the first point, run directories as points are measured, [`SweepResults`]. Data out: the
//! same read back, and which points are done: exactly those whose directory has its final name. A directory gets that
//! name when its run is complete, so that a kill at any moment leaves each point either done or to be done.
//!
//! | name | what |
//! |---|---|
//! | `sweep.json` | the plan, written once |
//! | `results.json` | what came out so far, replaced whole |
//! | `points/0007-rand-r100-4k-q32-t2-n1` | the run directory of point 7, first pass |
//! | `points/….part` | the same under way, or killed |
//!
//! It must not know how points are measured.

use crate::document::{SIZE_BYTES_MAX, sync_directory};
use crate::error::StoreError;
use crate::open;
use crate::remove::remove_run;
use fathom_core::sweep::{SCHEMA, SweepPlan, SweepResults};
use fathom_door::own;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The plan of a sweep.
pub const SWEEP_FILE: &str = "sweep.json";
/// What came out of it.
pub const RESULTS_FILE: &str = "results.json";
const POINTS: &str = "points";
const RESTORE: &str = "Restore it from a copy; the run directories below `points` do not depend on it";

/// Whether `dir` holds a sweep.
pub fn is_sweep(dir: &Path) -> bool {
    dir.join(SWEEP_FILE).is_file()
}

/// Reads the plan of the sweep in `dir`.
///
/// # Errors
/// There is none, it has a newer schema, or it is damaged.
pub fn read_sweep_plan(dir: &Path) -> Result<SweepPlan, StoreError> {
    read_document(dir)
}

fn read_document<T: DeserializeOwned>(dir: &Path) -> Result<T, StoreError> {
    let path = dir.join(SWEEP_FILE);
    match open::whole(&path, SIZE_BYTES_MAX) {
        Ok(text) => parse(&path, &text),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            Err(StoreError::NotASweep { dir: dir.to_owned() })
        }
        Err(source) => Err(StoreError::io("read", &path, source)),
    }
}

/// Reads what came out of the sweep in `dir` so far.
///
/// # Errors
/// There is nothing yet, it has a newer schema, or it is damaged.
pub fn read_sweep_results(dir: &Path) -> Result<SweepResults, StoreError> {
    let path = dir.join(RESULTS_FILE);
    let text = open::whole(&path, SIZE_BYTES_MAX).map_err(|source| StoreError::io("read", &path, source))?;
    parse(&path, &text)
}

/// One document: its schema first, so that a newer one is told before a field that it lacks.
fn parse<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<T, StoreError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let damaged = |source: serde_json::Error| {
        let detail = format!("{}:{}: {source}", source.line(), source.column());
        StoreError::corrupt(path, detail, RESTORE)
    };
    let head: Head = serde_json::from_slice(text).map_err(damaged)?;
    if head.schema != SCHEMA {
        return Err(StoreError::Schema {
            path: path.to_owned(),
            found: head.schema,
            known: SCHEMA,
        });
    }
    serde_json::from_slice(text).map_err(damaged)
}

/// Where a sweep is carried out, in the words that it was asked for: with it and the plan, it can be taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Origin {
    /// The target as typed; empty: none was.
    pub on: String,
    /// The modelled machine, as a model file; `None`: this machine.
    #[serde(default)]
    pub model_toml: Option<String>,
}

/// `sweep.json` as written.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    plan: &'a SweepPlan,
    origin: &'a Origin,
}

/// The directory of a sweep under way; nobody else can take it meanwhile.
#[derive(Debug)]
pub struct SweepDir {
    dir: PathBuf,
    /// Locked until this is dropped, or the process ends.
    _lock: File,
}

/// The run directory of the measurement of this name below the sweep's in `dir`; `None`: it is not done.
pub fn measured_in(dir: &Path, name: &str) -> Option<PathBuf> {
    let done = dir.join(name);
    done.is_dir().then_some(done)
}

impl SweepDir {
    /// Begins a sweep in `dir`, which exists and is empty.
    ///
    /// # Errors
    /// It cannot be written to.
    pub fn create(dir: &Path, plan: &SweepPlan, origin: &Origin) -> Result<Self, StoreError> {
        let points = dir.join(POINTS);
        own::make_directory(&points).map_err(|source| StoreError::io("make", &points, source))?;
        let text = serde_json::to_vec_pretty(&Written { plan, origin }).map_err(io::Error::from);
        put(dir, SWEEP_FILE, text)?;
        Self::lock(dir)
    }

    /// Takes the sweep in `dir` up again.
    ///
    /// # Errors
    /// It is not one, it is damaged, or somebody else is at it.
    pub fn open(dir: &Path) -> Result<(Self, SweepPlan, Origin), StoreError> {
        #[derive(Deserialize)]
        struct Tail {
            origin: Origin,
        }
        let plan = read_sweep_plan(dir)?;
        let Tail { origin } = read_document(dir)?;
        let taken = Self::lock(dir)?;
        let points = dir.join(POINTS);
        own::make_directories(&points).map_err(|source| StoreError::io("make", &points, source))?;
        Ok((taken, plan, origin))
    }

    fn lock(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(SWEEP_FILE);
        let file = File::open(&path).map_err(|source| StoreError::io("open", &path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self {
                dir: dir.to_owned(),
                _lock: file,
            }),
            Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::SweepUnderWay { dir: dir.to_owned() }),
            Err(std::fs::TryLockError::Error(source)) => Err(StoreError::io("lock", &path, source)),
        }
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The run directory of a point's measurement, below the sweep's, when it is done: `points/0007-NAME-n1`.
    pub fn name_of(point: u32, name: &str, pass: u32) -> String {
        format!("{POINTS}/{point:04}-{name}-n{}", pass + 1)
    }

    /// An empty directory for the measurement of this name; what an earlier try left is removed.
    ///
    /// # Errors
    /// The system refuses.
    pub fn begin(&self, name: &str) -> Result<PathBuf, StoreError> {
        let part = self.part(name);
        remove_run(&part)?;
        own::make_directory(&part).map_err(|source| StoreError::io("make", &part, source))?;
        Ok(part)
    }

    /// The measurement is complete: from here on it is done.
    ///
    /// # Errors
    /// The system refuses.
    pub fn complete(&self, name: &str) -> Result<PathBuf, StoreError> {
        let done = self.dir.join(name);
        let renamed = own::rename(&self.part(name), &done);
        renamed
            .and_then(|()| sync_directory(&self.dir.join(POINTS)))
            .map_err(|source| StoreError::io("complete", &done, source))?;
        Ok(done)
    }

    /// Removes what a measurement that came to nothing has left.
    ///
    /// # Errors
    /// The system refuses.
    pub fn abandon(&self, name: &str) -> Result<(), StoreError> {
        remove_run(&self.part(name))
    }

    /// Writes what came out so far in place of what was there.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write_results(&self, results: &SweepResults) -> Result<(), StoreError> {
        // For programs, and long: a line is enough.
        let text = serde_json::to_vec(results).map_err(io::Error::from);
        put(&self.dir, RESULTS_FILE, text)
    }

    fn part(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.part"))
    }
}

/// Writes a document beside the old one and puts it in its place.
fn put(dir: &Path, name: &str, text: io::Result<Vec<u8>>) -> Result<(), StoreError> {
    let path = dir.join(name);
    let temporary = dir.join(format!(".{name}.tmp"));
    let written = || -> io::Result<()> {
        let mut text = text?;
        text.push(b'\n');
        let mut file = own::create_temporary(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        own::rename(&temporary, &path)?;
        sync_directory(dir)
    };
    written().map_err(|source| StoreError::io("write", &path, source))
}

#[cfg(test)]
mod tests;
