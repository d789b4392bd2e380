//! Finishes the streams of a run that was killed.
//!
//! Data in: a run directory of which the writer is gone. Data out: Parquet files, their records, and what could not be
//! kept. Killed while it does so, it can be done again. It must not know what the rows mean.

use super::folder::{Folder, Forms};
use super::rows::{self, StreamRow};
use super::segment::{listed, properties, remove};
use crate::StoreError;
use crate::document::{FileRecord, sync_directory};
use crate::error::{RESTORE, guarded};
use crate::open;
use crate::reader::{lock, lost};
use crate::stream::{StreamReader, Tail};
use crate::table::{self, TableWriter, temporary_name};
use fathom_core::record::{
    BlockRequest, CounterRow, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice, StreamKind,
};
use fathom_door::own;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::io;
use std::path::Path;

/// A stream as it is after recovery.
#[derive(Debug)]
pub(crate) struct RecoveredStream {
    pub(crate) kind: StreamKind,
    /// Rows that it has, in all its segments.
    pub(crate) rows: u64,
    /// Whether any file was changed or newly listed.
    pub(crate) changed: bool,
    /// What could not be kept, in words.
    pub(crate) lost: Vec<String>,
}

/// A segment that was an Arrow stream.
pub(crate) struct Converted {
    pub(crate) record: FileRecord,
    pub(crate) rows: u64,
    pub(crate) tail: Tail,
}

/// Makes Parquet of a segment's Arrow stream, which is removed once all of it is on the disk.
pub(crate) fn convert<R: StreamRow>(folder: &Folder, number: u32) -> Result<Converted, StoreError> {
    let path = folder.arrows(number);
    let failed = |what: &'static str, error: String| StoreError::io(what, &path, io::Error::other(error));
    let schema = rows::schema::<R>();
    let mut reader = StreamReader::open(&path, &schema)?;
    let properties = properties(R::table().0).map_err(|error| failed("convert", error.to_string()))?;
    let name = Folder::parquet_name(number);
    let mut table = TableWriter::create(&folder.path, &name, &schema, properties)?;
    let (mut rows, mut kept) = (Vec::new(), 0);
    while let Some(batch) = reader.next()? {
        // By way of rows: a stream of another version may have its columns in another order.
        rows.clear();
        R::rows_of(&batch, &path, &mut rows)?;
        let batch = rows::batch_of(&schema, &rows).map_err(|error| failed("convert", error.to_string()))?;
        table.write(&batch)?;
        kept += rows.len() as u64;
    }
    let record = listed(folder, number, table.finish()?);
    sync_directory(&folder.path).map_err(|source| StoreError::io("sync", &folder.path, source))?;
    remove(&path)?;
    Ok(Converted {
        record,
        rows: kept,
        tail: reader.tail(),
    })
}

/// Finishes all streams of the run directory `dir` and adds their files to `files`.
///
/// # Errors
/// The run is under way, or the system refused; nothing that was recorded is removed then.
pub(crate) fn recover_streams(
    dir: &Path,
    files: &mut Vec<FileRecord>,
) -> Result<Vec<RecoveredStream>, StoreError> {
    super::stored_streams(dir)
        .into_iter()
        .map(|kind| match kind {
            StreamKind::Io => recover::<IoRecord>(dir, files),
            StreamKind::Block => recover::<BlockRequest>(dir, files),
            StreamKind::Counters => recover::<CounterRow>(dir, files),
            StreamKind::Processes => recover::<ProcessRow>(dir, files),
            StreamKind::Sched => recover::<SchedSlice>(dir, files),
            StreamKind::Cpus => recover::<CpuShare>(dir, files),
            StreamKind::Kernel => recover::<KernelSpan>(dir, files),
        })
        .collect()
}

fn recover<R: StreamRow>(dir: &Path, files: &mut Vec<FileRecord>) -> Result<RecoveredStream, StoreError> {
    let folder = Folder::new(dir, R::KIND);
    let is_link = std::fs::symlink_metadata(&folder.path).is_ok_and(|found| found.is_symlink());
    if is_link {
        return Err(StoreError::NotOurs { dir: folder.path });
    }
    let segments = folder.segments(files)?;
    let mut locks = Vec::new();
    for (&number, forms) in &segments {
        if forms.arrows {
            locks.push(lock(dir, &folder.arrows(number))?);
        }
    }
    let mut stream = RecoveredStream {
        kind: R::KIND,
        rows: 0,
        changed: remove_half_written(&folder)?,
        lost: Vec::new(),
    };
    for (number, forms) in segments {
        recover_segment::<R>(&folder, number, forms, files, &mut stream)?;
    }
    Ok(stream)
}

fn recover_segment<R: StreamRow>(
    folder: &Folder,
    number: u32,
    forms: Forms,
    files: &mut Vec<FileRecord>,
    stream: &mut RecoveredStream,
) -> Result<(), StoreError> {
    let path = folder.parquet(number);
    let is_listed = files.iter().any(|file| file.name == folder.listed_name(number));
    stream.changed |= !is_listed || forms.arrows;
    let rows = if forms.parquet { rows_of(&path) } else { Ok(0) };
    match rows {
        Ok(rows) if forms.parquet => {
            stream.rows += rows;
            if !is_listed {
                files.push(listed(folder, number, table::record_of(&path, &path)?));
            }
            // It was killed between the new name and the removal.
            return remove(&folder.arrows(number));
        }
        // A file that is listed was whole: to change it here would hide its damage.
        Err(_) if is_listed => return Ok(()),
        Err(error) if forms.parquet => {
            // After a loss of power it may not be whole; or it is somebody else's.
            let aside = path.with_extension("parquet.damaged");
            own::set_aside(&path, &aside).map_err(|source| StoreError::io("rename", &path, source))?;
            if !forms.arrows {
                let name = folder.listed_name(number);
                stream
                    .lost
                    .push(format!("all of {name}, now {}: {error}", aside.display()));
                return Ok(());
            }
        }
        _ => {}
    }
    let converted = convert::<R>(folder, number)?;
    stream.rows += converted.rows;
    stream
        .lost
        .extend(lost(&converted.tail).map(|lost| format!("{}: {lost}", R::KIND.name())));
    files.push(converted.record);
    Ok(())
}

/// The rows of a Parquet file, by its footer.
fn rows_of(path: &Path) -> Result<u64, StoreError> {
    let file = open::regular(path).map_err(|source| StoreError::io("open", path, source))?;
    guarded(path, RESTORE, || {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| StoreError::corrupt(path, error.to_string(), RESTORE))?;
        Ok(u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0))
    })
}

/// Removes the tables that were being written; whether there were any.
fn remove_half_written(folder: &Folder) -> Result<bool, StoreError> {
    let mut any = false;
    for name in folder.names()? {
        let table = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp"));
        if table.is_some_and(|table| table.ends_with(".parquet") && temporary_name(table) == name) {
            remove(&folder.path.join(&name))?;
            any = true;
        }
    }
    Ok(any)
}

#[cfg(test)]
mod tests;
