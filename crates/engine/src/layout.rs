//! Makes the files that a plan needs: created, extended, filled with data, as the plan says.
//!
//! Data in: permitted [`FileAction`]s. Data out: files of the right size on the disk. It must not decide what
//! may be touched.

use crate::plan::{FileAction, Kind};
use fathom_core::rng::Rng;
use fathom_core::workload::Fallocate;
use rustix::fs::FallocateFlags;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;

/// Files are filled in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;
/// Contents differ from each sector to the next.
const SECTOR_BYTES: usize = 512;

/// How far a layout is: told after each piece. `Err` stops it.
pub type OnPiece<'a> = dyn FnMut(u64, u64) -> Result<()> + 'a;

/// Makes one file ready. `made` is called with a file that was newly created.
///
/// # Errors
/// What the system said: no space, no permission, …; or the file is not as the plan found it. What was made
/// for nothing is undone: a new file is removed, a longer one cut back.
pub fn lay_out(
    action: &FileAction,
    made: &mut dyn FnMut(&File) -> Result<()>,
    on_piece: &mut OnPiece<'_>,
) -> Result<()> {
    if action.kind != Kind::Regular || !(action.changes_size() || action.fill) {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    if action.size_now.is_none() {
        // It was not there when the plan was made; whoever made it since keeps it.
        options.create_new(true);
    }
    let file = options.open(&action.path)?;
    if let Some(planned) = action.size_now {
        // Setting a length could otherwise cut off what someone else appended since.
        let now = file.metadata()?.len();
        if now != planned {
            let changed =
                format!("it had {planned} bytes when the run was planned and has {now} now: run again");
            return Err(Error::other(changed));
        }
    }
    fill_file(&file, action, made, on_piece).map_err(|error| {
        let undone = match action.size_now {
            None => std::fs::remove_file(&action.path),
            Some(size) if size < action.size_needed => file.set_len(size),
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

fn fill_file(
    file: &File,
    action: &FileAction,
    made: &mut dyn FnMut(&File) -> Result<()>,
    on_piece: &mut OnPiece<'_>,
) -> Result<()> {
    if action.size_now.is_none() {
        made(file)?;
    }
    let now = action.size_now.unwrap_or(0);
    let needed = action.size_needed.max(now);
    if action.fill {
        let from = if action.size_now.is_some_and(|now| now >= action.size_needed) {
            0
        } else {
            now
        };
        write_pieces(file, from, needed, on_piece)?;
    } else {
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
        Fallocate::None | Fallocate::Truncate => return file.set_len(bytes),
        Fallocate::Native | Fallocate::Posix => FallocateFlags::empty(),
        Fallocate::Keep => FallocateFlags::KEEP_SIZE,
    };
    match rustix::fs::fallocate(file, flags, 0, bytes) {
        // No fallocate here: a reservation is all that is lost.
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => file.set_len(bytes),
        Err(error) => Err(error.into()),
    }
}

/// Writes random data over `from..to`.
fn write_pieces(file: &File, from: u64, to: u64, on_piece: &mut OnPiece<'_>) -> Result<()> {
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
        on_piece(at - from, to - from)?;
    }
    Ok(())
}

/// The error of a layout that was stopped from outside.
pub fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "stopped")
}

#[cfg(test)]
mod tests;
