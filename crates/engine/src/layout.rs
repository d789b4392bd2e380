//! Makes the files that a plan needs: created, extended, filled with data, as the plan says; and out of the page
//! cache.
//!
//! Data in: a permitted [`Plan`]. Data out: files of the right size on the disk, and the same plan with nothing
//! left to be done. A step of its own before the run, so that the conditions (which extents were written, what is
//! in the page cache) can be looked at between the two. It must not decide what may be touched.

use crate::plan::{FileAction, Kind, Plan};
use fathom_core::rng::Rng;
use fathom_core::workload::Fallocate;
use fathom_door::{Permit, Permits, target};
use rustix::fs::{Advice, FallocateFlags, OFlags};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Files are filled in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;
/// Contents differ from each sector to the next.
const SECTOR_BYTES: usize = 512;

/// So many files are laid out at once, where that is asked for, and looked at so often.
const AT_ONCE: usize = 16;
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(5);

/// What is synced is synced after so much, so that a stop never waits for more.
const SYNC_BYTES: u64 = 64 << 20;

/// How far a layout is: told after each piece. `Err` stops it.
type OnPiece<'a> = dyn FnMut(u64, u64) -> Result<()> + 'a;

/// What the caller takes part in.
pub trait Watch {
    /// A file is being filled: so many bytes of so many are written.
    fn laying_out(&mut self, action: &FileAction, done_bytes: u64, total_bytes: u64) {
        let _ = (action, done_bytes, total_bytes);
    }
    /// Work on a file has ended, well or not.
    fn laid_out(&mut self, action: &FileAction) {
        let _ = action;
    }
}

/// Nobody watches.
impl Watch for () {}

/// Why files could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// `stop` was set. The file under way is as it was before.
    #[error("stopped while files were laid out")]
    Stopped,
    /// A file could not be laid out.
    #[error("cannot make {path} ready: {source}")]
    Failed {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: Error,
    },
}

/// Lays out what is missing. Each file that was finished is taken off the plan's list of work. Then drops the
/// cached pages of all files that their jobs would drop anyway (`invalidate`, fio's default), so that what is
/// seen of the cache from here on is what the first I/O finds.
///
/// # Errors
/// See [`LayoutError`]; the files finished before are kept.
pub fn make_ready(
    plan: &mut Plan,
    permits: &Permits,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> std::result::Result<(), LayoutError> {
    lay_out_at_once(plan, permits, stop, watch)?;
    for action in plan.files.iter_mut().filter(|action| needs_work(action)) {
        let mut on_piece = |done, total| {
            permits.prolong();
            watch.laying_out(action, done, total);
            if stop.load(Ordering::Relaxed) {
                Err(Error::new(ErrorKind::Interrupted, "stopped"))
            } else {
                Ok(())
            }
        };
        let permit = permits.of(&action.path);
        let result = permit.and_then(|permit| lay_out(action, permit, &mut on_piece));
        watch.laid_out(action);
        settle(action, result, stop)?;
    }
    drop_caches(plan);
    Ok(())
}

/// Takes a file that is laid out off the list of work.
fn settle(
    action: &mut FileAction,
    result: Result<()>,
    stop: &AtomicBool,
) -> std::result::Result<(), LayoutError> {
    result.map_err(|source| {
        if source.kind() == ErrorKind::Interrupted && stop.load(Ordering::Relaxed) {
            LayoutError::Stopped
        } else {
            let path = action.path.clone();
            LayoutError::Failed { path, source }
        }
    })?;
    action.size_now = Some(action.size_now.unwrap_or(0).max(action.size_needed));
    action.fill = false;
    Ok(())
}

/// Lays out the files that need not wait for each other (`create_serialize=0`), some at a time.
fn lay_out_at_once(
    plan: &mut Plan,
    permits: &Permits,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> std::result::Result<(), LayoutError> {
    let wanted = |action: &&mut FileAction| action.at_once && needs_work(action);
    let mut actions: Vec<&mut FileAction> = plan.files.iter_mut().filter(wanted).collect();
    for together in actions.chunks_mut(AT_ONCE) {
        let done = AtomicU64::new(0);
        let total = together.iter().map(|action| action.size_needed).sum();
        let lay_out_one = |action: &FileAction| {
            let mut before = 0;
            let mut on_piece = |now: u64, _| {
                done.fetch_add(now - std::mem::replace(&mut before, now), Ordering::Relaxed);
                if stop.load(Ordering::Relaxed) {
                    Err(Error::new(ErrorKind::Interrupted, "stopped"))
                } else {
                    Ok(())
                }
            };
            let permit = permits.of(&action.path);
            permit.and_then(|permit| lay_out(action, permit, &mut on_piece))
        };
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let threads: Vec<_> = together
                .iter()
                .map(|action| {
                    let action: &FileAction = action;
                    scope.spawn(|| lay_out_one(action))
                })
                .collect();
            while !threads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                permits.prolong();
                if let Some(action) = together.first() {
                    watch.laying_out(action, done.load(Ordering::Relaxed), total);
                }
                std::thread::sleep(LOOK_AGAIN);
            }
            let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined
                .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut failed = Ok(());
        for (action, result) in together.iter_mut().zip(results) {
            watch.laid_out(action);
            failed = failed.and(settle(action, result, stop));
        }
        failed?;
    }
    Ok(())
}

fn needs_work(action: &FileAction) -> bool {
    action.kind == Kind::Regular && (action.changes_size() || action.fill)
}

fn drop_caches(plan: &Plan) {
    for job in &plan.jobs {
        let files = &job.job.files;
        if !files.invalidate || files.pre_read || job.job.engine.kind.needs_no_file() {
            continue;
        }
        for file in job.workers.iter().flat_map(|worker| &worker.files) {
            // Advice: where it cannot be followed, a look at the cache will tell.
            if let Ok(open) = File::open(&file.path) {
                let _followed = rustix::fs::fadvise(&open, 0, None, Advice::DontNeed);
            }
        }
    }
}

/// Makes one file ready.
///
/// # Errors
/// What the system said: no space, no permission, …; or the file is not as the plan found it. What was made
/// for nothing is undone: a new file is removed, a longer one cut back.
fn lay_out(action: &FileAction, permit: &Permit, on_piece: &mut OnPiece<'_>) -> Result<()> {
    if !needs_work(action) {
        return Ok(());
    }
    permit.grows_to(action.size_needed);
    let file = match action.size_now {
        // It was not there when the plan was made; whoever made it since keeps it.
        None => permit.create()?,
        Some(_) => permit.open(OFlags::empty())?,
    };
    if let Some(planned) = action.size_now {
        // Setting a length could otherwise cut off what someone else appended since.
        let now = file.metadata()?.len();
        if now != planned {
            let changed =
                format!("it had {planned} bytes when the run was planned and has {now} now: run again");
            return Err(Error::other(changed));
        }
    }
    let filled = fill_file(&file, action, on_piece).and_then(|()| permit.laid_out());
    filled.map_err(|error| {
        let undone = match action.size_now {
            None => permit.remove_created().map(drop),
            Some(size) if size < action.size_needed => target::resize(&file, size),
            Some(_) => Ok(()),
        };
        match undone {
            Ok(()) => error,
            Err(also) => Error::new(
                error.kind(),
                format!("{error}; and it could not be undone: {also}"),
            ),
        }
    })
}

fn fill_file(file: &File, action: &FileAction, on_piece: &mut OnPiece<'_>) -> Result<()> {
    let now = action.size_now.unwrap_or(0);
    let needed = action.size_needed.max(now);
    if action.fill {
        let from = if action.size_now.is_some_and(|now| now >= action.size_needed) {
            0
        } else {
            now
        };
        let sync_bytes = if action.fsync { SYNC_BYTES } else { u64::MAX };
        write_pieces(file, from, needed, sync_bytes, on_piece)?;
    } else if needed > now {
        reserve(file, action.fallocate, needed)?;
    }
    if action.fsync {
        file.sync_all()?;
    }
    Ok(())
}

/// Reserves space as asked; the size is right afterwards in any case.
fn reserve(file: &File, how: Fallocate, bytes: u64) -> Result<()> {
    let flags = match how {
        Fallocate::None | Fallocate::Truncate => return target::resize(file, bytes),
        Fallocate::Native | Fallocate::Posix => FallocateFlags::empty(),
        Fallocate::Keep => FallocateFlags::KEEP_SIZE,
    };
    match target::reserve(file, flags, bytes) {
        // No fallocate here: a reservation is all that is lost.
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => target::resize(file, bytes),
        Err(error) => Err(error.into()),
    }
}

/// Writes random data over `from..to`, on the disk after each `sync_bytes`.
fn write_pieces(file: &File, from: u64, to: u64, sync_bytes: u64, on_piece: &mut OnPiece<'_>) -> Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    Rng::new(from ^ to).fill(&mut piece);
    let mut at = from;
    while at < to {
        let len = (to - at).min(PIECE_BYTES as u64) as usize;
        // No two sectors are equal, or a disk that removes duplicates would store one.
        for (sector, bytes) in (at..)
            .step_by(SECTOR_BYTES)
            .zip(piece.chunks_exact_mut(SECTOR_BYTES))
        {
            bytes[..8].copy_from_slice(&sector.to_le_bytes());
        }
        file.write_all_at(&piece[..len], at)?;
        at += len as u64;
        if (at - from).is_multiple_of(sync_bytes) {
            file.sync_data()?;
        }
        on_piece(at - from, to - from)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
