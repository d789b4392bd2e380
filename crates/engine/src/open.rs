//! Opens a worker's files as the job asks, and prepares the page cache.

use crate::plan::{Kind, WorkerFiles};
use crate::thread::{Opened, StartFailure};
use fathom_core::run::StartStep;
use fathom_core::workload::{Advised, EngineKind, Job, SyncMode};
use fathom_door::{Permits, Writer};
use rustix::fs::{Advice, Mode, OFlags, open};
use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens all files of one worker; `None` where `stop` was set meanwhile. `writers` are to be dropped behind the files.
pub(crate) fn open_all(
    job: &Job,
    files: &WorkerFiles,
    permits: &Permits,
    writers: &mut Vec<Writer>,
    stop: &AtomicBool,
) -> Result<Option<Opened>, StartFailure> {
    let mut opened = Vec::with_capacity(files.files.len());
    if job.engine.kind.needs_no_file() || job.engine.kind.is_about_names() {
        return Ok(Some(opened));
    }
    for file in &files.files {
        if job.engine.kind.always_changes() || job.files.begins_empty {
            // What the load itself makes of it is not somebody else's doing.
            if let Ok(permit) = permits.of(&file.path) {
                permit.grows_to(file.span.start.saturating_add(file.span.bytes));
            }
        }
        opened.push(open_one(job, &file.path, file.kind, permits, writers)?);
        if job.files.pre_read && file.kind != Kind::Commands && !pre_read(&file.path, stop)? {
            return Ok(None);
        }
    }
    Ok(Some(opened))
}

/// Removes all files of one worker, as far as they are fathom's, and opens new ones in their place.
pub(crate) fn open_anew(
    job: &Job,
    files: &WorkerFiles,
    permits: &Permits,
    writers: &mut Vec<Writer>,
) -> std::io::Result<Vec<OwnedFd>> {
    // Nobody writes to those that go.
    writers.clear();
    let mut opened = Vec::with_capacity(files.files.len());
    for file in &files.files {
        let permit = permits.of(&file.path)?;
        if !permit.remove_own()? {
            return Err(std::io::Error::other(format!(
                "{}: fathom did not make it, and does not remove it",
                file.path.display()
            )));
        }
        permit.grows_to(file.span.start.saturating_add(file.span.bytes));
        drop(permit.create()?);
        let file = open_one(job, &file.path, file.kind, permits, writers);
        opened.push(file.map_err(|failure| failure.source)?.into());
    }
    Ok(opened)
}

fn open_one(
    job: &Job,
    path: &Path,
    kind: Kind,
    permits: &Permits,
    writers: &mut Vec<Writer>,
) -> Result<File, StartFailure> {
    let failure = |what| {
        move |source| StartFailure {
            what,
            path: Some(path.to_owned()),
            source,
        }
    };
    if kind == Kind::Commands {
        return open_for_commands(job, path, permits, writers).map_err(failure(StartStep::Open));
    }
    let mut flags = OFlags::empty();
    if job.direct {
        flags |= OFlags::DIRECT;
    }
    flags |= match job.sync.mode {
        SyncMode::None => OFlags::empty(),
        SyncMode::Sync => OFlags::SYNC,
        SyncMode::DataSync => OFlags::DSYNC,
    };
    let what = if job.direct {
        StartStep::OpenDirect
    } else {
        StartStep::Open
    };
    let opened = if job.writes() {
        let opened = permits.of(path).and_then(|permit| permit.open_for_load(flags));
        opened.map(|(file, writer)| {
            writers.push(writer);
            file
        })
    } else {
        let read = flags | OFlags::RDONLY | OFlags::CLOEXEC;
        open(path, read, Mode::empty())
            .map(File::from)
            .map_err(Into::into)
    };
    let file = opened.map_err(failure(what))?;
    if let Some(life) = job.files.write_life.filter(|_| job.writes()) {
        let number = 2 + life as u64;
        fathom_sys::file::set_write_life(&file, number).map_err(failure(StartStep::SetWriteLife))?;
    }
    if job.files.invalidate && !job.files.pre_read && !job.direct {
        // Advice: where the file system has no cache to drop (tmpfs), nothing is lost.
        let _advice = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
        if kind == Kind::Block {
            drop(fathom_sys::file::blk_flush_buffers(&file));
        }
    }
    if job.files.advise && !job.direct {
        let advice = match job.files.advised {
            Advised::Random => Advice::Random,
            Advised::AsIs if job.pattern.random => Advice::Random,
            Advised::AsIs | Advised::Sequential => Advice::Sequential,
        };
        let _advice = rustix::fs::fadvise(&file, 0, None::<NonZero<u64>>, advice);
    }
    Ok(file)
}

/// Opens a generic device: it knows neither `O_DIRECT` nor `O_SYNC`, and has no pages in the cache.
fn open_for_commands(
    job: &Job,
    path: &Path,
    permits: &Permits,
    writers: &mut Vec<Writer>,
) -> std::io::Result<File> {
    if job.writes() {
        let (file, writer) = permits.of(path)?.open_for_load(OFlags::empty())?;
        writers.push(writer);
        Ok(file)
    } else if job.engine.kind == EngineKind::Sg {
        fathom_door::target::open_to_ask(path)
    } else {
        File::open(path)
    }
}

/// Reads a whole file, to have it in the page cache; `false` where `stop` was set meanwhile.
fn pre_read(path: &Path, stop: &AtomicBool) -> Result<bool, StartFailure> {
    let failure = |what| {
        move |source| StartFailure {
            what,
            path: Some(path.to_owned()),
            source,
        }
    };
    let mut file = File::open(path).map_err(failure(StartStep::Open))?;
    let mut buffer = vec![0; 1 << 20];
    while !stop.load(Ordering::Relaxed) {
        if file.read(&mut buffer).map_err(failure(StartStep::PreRead))? == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
