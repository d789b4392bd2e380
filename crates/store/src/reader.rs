//! Reads run directories: finished, killed and recovered ones.
//!
//! Data in: a directory from anywhere. Data out: the run and its rows, or an error that names the file, what
//! is wrong and what to do. It must not know how to judge or print them.

use crate::document::{self, Document, FileRecord};
use crate::error::{RECOVER, RESTORE};
use crate::records::{RecoveredStream, recover_streams};
use crate::stream::{StreamReader, Tail};
use crate::writer::{convert_series, remove_temporaries};
use crate::{HISTOGRAMS_FILE, HISTOGRAMS_SO_FAR_FILE, SERIES_FILE, SERIES_STREAM_FILE, StoreError};
use crate::{columns, histograms, table};
use fathom_core::record::StreamSummary;
use fathom_core::run::{HistogramRow, Run, SeriesRow, Status};
use fathom_door::own;
use std::fs::{File, TryLockError};
use std::path::Path;

/// A run as read from its directory.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// `run.json`.
    pub run: Run,
    /// All rows of the series, in the order of their making.
    pub series: Vec<SeriesRow>,
    /// Whether the series ends where its writer ended it. `false`: the run was killed or is under way, and up to
    /// a second is missing.
    pub complete: bool,
}

/// What [`recover`] did.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// The run as it is now in `run.json`.
    pub run: Run,
    /// Rows of the series that were kept.
    pub rows: u64,
    /// `false` where there was nothing to recover.
    pub changed: bool,
    /// What could not be kept, in words.
    pub lost: Option<String>,
}

/// Reads `run.json` alone: the summary, without the series.
///
/// # Errors
/// There is no run, it is of a newer schema, or it does not parse.
pub fn read_run(dir: &Path) -> Result<Run, StoreError> {
    Ok(document::read(dir)?.run)
}

/// As [`read_run`], and looks whether the files that it lists are there with the sizes that they were written with. It reads none of
/// them: what else is wrong with one is told by whoever reads it.
///
/// # Errors
/// As [`read_run`], or a file is gone, cut off or something else.
pub fn read_run_of_whole_files(dir: &Path) -> Result<Run, StoreError> {
    let Document { run, files } = document::read(dir)?;
    for file in &files {
        let path = dir.join(&file.name);
        let found =
            std::fs::symlink_metadata(&path).map_err(|source| StoreError::io("look at", &path, source))?;
        if !found.is_file() {
            let detail = "it is no regular file";
            return Err(StoreError::corrupt(&path, detail, RESTORE));
        }
        table::check_size(&path, file, found.len())?;
    }
    Ok(run)
}

/// Reads a run, finished or killed.
///
/// # Errors
/// There is no run, it is of a newer schema, or one of its files is damaged or was changed.
pub fn read(dir: &Path) -> Result<StoredRun, StoreError> {
    let document = document::read(dir)?;
    let mut series = Vec::new();
    let complete = if has_table(dir, &document) {
        let path = dir.join(SERIES_FILE);
        table::read(&path, document.record_of(SERIES_FILE, &path)?, |batch| {
            columns::rows_of(batch, &path, &mut series)
        })?;
        true
    } else {
        read_stream(dir, &mut series)?
    };
    Ok(StoredRun {
        run: document.run,
        series,
        complete,
    })
}

/// Whether the series is to be read from Parquet: it is listed as whole, or there is no stream.
fn has_table(dir: &Path, document: &Document) -> bool {
    document.file(SERIES_FILE).is_some()
        || (!dir.join(SERIES_STREAM_FILE).exists() && dir.join(SERIES_FILE).exists())
}

/// Reads the stream's whole batches; whether it has its end.
fn read_stream(dir: &Path, series: &mut Vec<SeriesRow>) -> Result<bool, StoreError> {
    let path = dir.join(SERIES_STREAM_FILE);
    if !path.exists() {
        // Killed between its first two files: nothing was recorded yet.
        return Ok(false);
    }
    let mut reader = StreamReader::open(&path, &columns::schema())?;
    while let Some(batch) = reader.next()? {
        columns::rows_of(&batch, &path, series)?;
    }
    match reader.tail() {
        Tail::Ended => Ok(true),
        Tail::Torn { .. } => Ok(false),
        Tail::Damaged { detail, .. } => Err(StoreError::corrupt(&path, detail, RECOVER)),
    }
}

/// Reads the histograms of a run; of one that is under way or was killed, as they were when last kept (every ten
/// seconds or so), and none where it had kept none.
///
/// # Errors
/// As [`read`].
pub fn read_histograms(dir: &Path) -> Result<Vec<HistogramRow>, StoreError> {
    let document = document::read(dir)?;
    let mut path = dir.join(HISTOGRAMS_FILE);
    let record = document.record_of(HISTOGRAMS_FILE, &path)?;
    if record.is_none() && !path.exists() {
        path = dir.join(HISTOGRAMS_SO_FAR_FILE);
    }
    let mut rows = Vec::new();
    if record.is_some() || path.exists() {
        table::read(&path, record, |batch| {
            histograms::rows_of(batch, &path, &mut rows)
        })?;
    }
    Ok(rows)
}

/// Turns a killed run into a finished one: the series becomes Parquet, the status `interrupted`. What was
/// damaged is left out and told.
///
/// # Errors
/// The run is under way, there is none, or the system refused; nothing is removed then.
pub fn recover(dir: &Path) -> Result<Recovered, StoreError> {
    recover_with(dir, |_, _| {})
}

/// As [`recover`]; `amend` may complete the run from the rows that were kept (its summary, of which a killed
/// run has none) before it is written.
///
/// # Errors
/// As [`recover`].
pub fn recover_with(dir: &Path, amend: impl FnOnce(&mut Run, &[SeriesRow])) -> Result<Recovered, StoreError> {
    let stream = dir.join(SERIES_STREAM_FILE);
    // Before `run.json` is read: a run that ends meanwhile must not be taken for a killed one.
    let _lock = if stream.exists() {
        Some(lock(dir, &stream)?)
    } else {
        None
    };
    let Document { mut run, mut files } = document::read(dir)?;
    let listed = files.iter().any(|file| file.name == SERIES_FILE);
    let mut recovered = Recovered {
        run: run.clone(),
        rows: 0,
        changed: false,
        lost: None,
    };
    if !listed && stream.exists() {
        let (record, converted) = convert_series(dir)?;
        files.push(record);
        recovered.rows = converted.rows;
        recovered.lost = lost(&converted.tail);
        recovered.lost = recovered.lost.or(keep_histograms(dir, run.status, &mut files)?);
        recovered.changed = true;
    }
    let streams = recover_streams(dir, &mut files)?;
    for stream in &streams {
        recovered.changed |= stream.changed;
        for lost in &stream.lost {
            let and_before = recovered.lost.take().map(|before| before + "; ");
            recovered.lost = Some(and_before.unwrap_or_default() + lost);
        }
    }
    if run.status == Status::Running {
        let mut series = Vec::new();
        let path = dir.join(SERIES_FILE);
        if path.exists() {
            table::read(
                &path,
                files.iter().find(|file| file.name == SERIES_FILE),
                |batch| columns::rows_of(batch, &path, &mut series),
            )?;
        }
        run.status = Status::Interrupted;
        recovered.rows = series.len() as u64;
        recovered.changed = true;
        amend(&mut run, &series);
        summarise(&mut run, &streams);
    }
    if recovered.changed {
        document::write(dir, &run, &files)?;
    }
    if stream.exists() {
        recovered.changed = true;
        remove_temporaries(dir)?;
    }
    recovered.run = run;
    Ok(recovered)
}

/// Says of each stream of a killed run what there is of it.
fn summarise(run: &mut Run, streams: &[RecoveredStream]) {
    for stream in streams {
        if run.summary.streams.iter().all(|known| known.kind != stream.kind) {
            let mut missing = vec![String::from(
                "the run was killed: what was dropped until then is not known",
            )];
            missing.extend_from_slice(&stream.lost);
            run.summary.streams.push(StreamSummary {
                kind: stream.kind,
                rows: stream.rows,
                dropped: 0,
                missing,
            });
        }
    }
}

/// Makes the histograms that there are those of the run, and lists them; what of them is lost, in words.
fn keep_histograms(
    dir: &Path,
    status: Status,
    files: &mut Vec<FileRecord>,
) -> Result<Option<String>, StoreError> {
    let (path, so_far) = (dir.join(HISTOGRAMS_FILE), dir.join(HISTOGRAMS_SO_FAR_FILE));
    // Where both are there, it was killed while it finished.
    let whole = path.exists();
    if !whole && so_far.exists() {
        own::rename(&so_far, &path).map_err(|source| StoreError::io("rename", &so_far, source))?;
    }
    if path.exists() {
        files.push(table::record_of(&path, &path)?);
    }
    Ok(match (whole, path.exists()) {
        (true, _) => None,
        (false, true) => Some(String::from("the histograms lack its last ten seconds or so")),
        // It may have had nothing to keep yet.
        (false, false) if status == Status::Running => None,
        (false, false) => Some(String::from("the histograms were not yet written")),
    })
}

/// The writer holds this lock as long as it lives, however it dies.
pub(crate) fn lock(dir: &Path, stream: &Path) -> Result<File, StoreError> {
    let file = File::open(stream).map_err(|source| StoreError::io("open", stream, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::StillRunning { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(StoreError::io("lock", stream, source)),
    }
}

/// What a stream's end means, in words.
pub(crate) fn lost(tail: &Tail) -> Option<String> {
    match tail {
        Tail::Ended | Tail::Torn { left_over_bytes: 0 } => None,
        Tail::Torn { left_over_bytes } => Some(format!(
            "the last second was being written: {left_over_bytes} bytes of it were dropped"
        )),
        Tail::Damaged { at_bytes, detail } => Some(format!(
            "all after byte {at_bytes} of the series was dropped: {detail}"
        )),
    }
}

#[cfg(test)]
mod tests;
