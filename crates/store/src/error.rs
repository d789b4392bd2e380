//! What can go wrong with a run directory: which file, what is wrong, what to do.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// An error of the store. Each message ends with the next step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    #[error("cannot {doing} {path}: {source}{}", io_remedy(source))]
    Io {
        /// What was being done: `write`, `open`, …
        doing: &'static str,
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The directory holds a run already.
    #[error(
        "{dir} already holds a run; nothing was changed. Choose another directory with -o, or remove this one"
    )]
    RunExists {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory holds other files.
    #[error(
        "{dir} is not empty and not a run directory; nothing was changed. Choose a new or empty directory with -o"
    )]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
    /// A run directory that is to be removed has something else in it.
    #[error(
        "{dir} is not a directory of fathom's alone: it is a link, or holds other files, which were left alone. Move it elsewhere, then try again"
    )]
    NotOurs {
        /// The directory.
        dir: PathBuf,
    },
    #[error("{dir} is not a run directory: it has no run.json. Give the directory that `fathom run -o` made")]
    NotARun {
        /// The directory.
        dir: PathBuf,
    },
    #[error(
        "{dir} is the directory of a sweep, not of one run: give one of the runs in {dir}/points, or the whole to `fathom \
         show`, `fathom report` or `fathom sweep --resume`"
    )]
    IsASweep {
        /// The directory.
        dir: PathBuf,
    },
    #[error(
        "{dir} is not the directory of a sweep: it has no sweep.json. Give the directory that `fathom sweep -o` made"
    )]
    NotASweep {
        /// The directory.
        dir: PathBuf,
    },
    /// Another process is at this sweep.
    #[error(
        "the sweep in {dir} is under way. Wait for it to end, or stop it with Ctrl-C (what it measured is kept)"
    )]
    SweepUnderWay {
        /// The directory.
        dir: PathBuf,
    },
    /// The run has no such stream.
    #[error("the run in {dir} has no record of `{stream}`. Record one with `--record={stream}`")]
    NoStream {
        /// The directory.
        dir: PathBuf,
        /// Its name.
        stream: &'static str,
    },
    /// The process that makes this run is alive.
    #[error(
        "the run in {dir} is still under way. Wait for it to end, or stop it with Ctrl-C (its results are kept)"
    )]
    StillRunning {
        /// The directory.
        dir: PathBuf,
    },
    /// A later program wrote it.
    #[error(
        "{path} has the schema `{found}`, this fathom reads `{known}`. Use the version of fathom that made it, or a newer one"
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
        /// What is understood.
        known: &'static str,
    },
    /// `run.json` does not parse.
    #[error("{path}:{}:{}: not a run record: {source}. Restore the file from a copy; the series beside it can be read with any Parquet or Arrow tool", source.line(), source.column())]
    Document {
        /// The file.
        path: PathBuf,
        source: serde_json::Error,
    },
    /// A column is missing or of another type, or holds a value that cannot be.
    #[error(
        "{path}: column `{column}` {problem}. The file was not made by this version of fathom, or was changed: restore it from a copy"
    )]
    Column {
        /// The file.
        path: PathBuf,
        column: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file is damaged.
    #[error("{path} is damaged: {detail}. {remedy}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
        /// What to do.
        remedy: &'static str,
    },
}

/// The next step for a damaged Parquet file.
pub(crate) const RESTORE: &str =
    "Restore the file from a copy; the summary in run.json does not depend on it";
/// The next step for a damaged stream.
pub(crate) const RECOVER: &str =
    "Run `fathom recover` on the directory to keep the seconds before the damage";

/// A hint for the errors that have a usual cause.
fn io_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ". Make room, or choose a directory on another disk with -o"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ". Choose a directory that you may write to with -o, or change its permissions"
        }
        io::ErrorKind::NotFound => ". Check the path",
        io::ErrorKind::NotADirectory => ". A run is a directory: choose another path",
        _ => "",
    }
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { doing, path, source }
    }
    pub(crate) fn corrupt(path: &Path, detail: impl Into<String>, remedy: &'static str) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            detail: detail.into(),
            remedy,
        }
    }
    pub(crate) fn column(path: &Path, column: &str, problem: impl Into<String>) -> Self {
        Self::Column {
            path: path.to_owned(),
            column: column.to_owned(),
            problem: problem.into(),
        }
    }
}

thread_local! {
    /// Whether a panic of this thread is an answer, not an accident to tell of.
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// Catches a panic, and keeps the message that every panic prints away from standard error, of this thread alone.
fn quietly<T>(decode: impl FnOnce() -> T) -> std::thread::Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A thread that is coming to its end has nothing to decode any more.
            if !DECODES.try_with(Cell::get).unwrap_or(false) {
                before(panic);
            }
        }));
    });
    let outer = DECODES.replace(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode));
    DECODES.set(outer);
    result
}

/// Runs a decoder of outside bytes. A panic inside it becomes an error: the arrow and parquet crates check
/// their input well but not everywhere, and a run directory may come from anyone.
pub(crate) fn guarded<T>(
    path: &Path,
    remedy: &'static str,
    decode: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    quietly(decode).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        Err(StoreError::corrupt(
            path,
            format!("the decoder gave up ({said})"),
            remedy,
        ))
    })
}
