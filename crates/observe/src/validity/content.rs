//! Whether reads would reach the disk: unwritten extents and holes, and the page cache.

use super::{Findings, IoFacts, in_memory};
use fathom_core::run::{TargetFile, TargetKind, Warning};
use fathom_sys::file::{Extent, fiemap, page_cache_resident};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::ops::Range;

/// A file with more extents than this is judged by the part that was seen: each costs 56 bytes and some time.
const EXTENTS_MAX: usize = 1 << 20;

/// How many pieces are followed with `SEEK_HOLE` before the rest is left unseen.
const PIECES_MAX: usize = 1 << 16;

/// How much of a range has data on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    /// Bytes looked at.
    seen_bytes: u64,
    /// Of these, bytes with data.
    data_bytes: u64,
}

impl Written {
    fn missing_percent(self) -> f64 {
        (self.seen_bytes - self.data_bytes) as f64 / self.seen_bytes as f64 * 100.0
    }
}

/// The requirement `written_extents`: a read of a hole or an unwritten extent is answered by the file system,
/// at the speed of memory.
pub(super) fn written(file: &File, target: &TargetFile, facts: &IoFacts, found: &mut Findings) {
    let path = &target.path;
    if in_memory(target) {
        return;
    }
    if target.kind == TargetKind::BlockDevice {
        let detail = format!(
            "{path}: a device does not tell which of its blocks were ever written; new cloud disks and SSDs answer \
             the others without looking"
        );
        return found.requirement("written_extents", None, detail);
    }
    let region = match region(file, facts) {
        Ok(region) => region,
        Err(error) => {
            return found.requirement("written_extents", None, format!("{path}: {error}"));
        }
    };
    if region.is_empty() {
        return found.requirement(
            "written_extents",
            None,
            format!("{path} has no data in the region of the load"),
        );
    }
    match by_extents(file, &region) {
        Ok(written) => {
            let all_seen = written.seen_bytes == region.end - region.start;
            report(path, "FIEMAP", written, all_seen.then_some(true), found);
        }
        Err(first) => match by_seeking(file, &region) {
            // No hole seen is no proof: a file system may answer "all data" for lack of knowledge (lseek(2)).
            Ok(written) => report(path, "SEEK_HOLE", written, None, found),
            Err(second) => found.requirement(
                "written_extents",
                None,
                format!("{path}: not known: FIEMAP: {first}; SEEK_HOLE: {second}"),
            ),
        },
    }
}

/// Turns a share into the requirement, and a warning where anything is missing. `complete`: what it means if
/// nothing is.
fn report(path: &str, method: &str, written: Written, complete: Option<bool>, found: &mut Findings) {
    let share_percent = written.missing_percent();
    if written.data_bytes == written.seen_bytes {
        let detail = format!("{path}: no unwritten extents or holes seen ({method})");
        return found.requirement("written_extents", complete, detail);
    }
    let detail = format!("{path}: {share_percent:.1} % of the region has no data on the disk ({method})");
    found.requirement("written_extents", Some(false), detail);
    let path = path.to_owned();
    found
        .warnings
        .push(Warning::UnwrittenExtents { path, share_percent });
}

/// The part of the region that the file has: reads beyond its end fail or are short, which is another matter.
fn region(file: &File, facts: &IoFacts) -> io::Result<Range<u64>> {
    let size = file.metadata()?.len();
    Ok(facts.region.start.min(size)..facts.region.end.min(size))
}

/// By `FS_IOC_FIEMAP`. Data that only the page cache has lies in extents that are delayed, or still unwritten
/// until it is flushed: where there are such extents the file is flushed, and asked again.
fn by_extents(file: &File, region: &Range<u64>) -> io::Result<Written> {
    let length = region.end - region.start;
    let mut extents = fiemap(file, region.start, length, EXTENTS_MAX)?;
    if extents
        .iter()
        .any(|extent| extent.is_delalloc() || extent.is_unwritten())
    {
        file.sync_data()?;
        extents = fiemap(file, region.start, length, EXTENTS_MAX)?;
    }
    Ok(share(&extents, region, extents.len() < EXTENTS_MAX))
}

/// `complete`: the extents are all that there are, and not the first ones.
fn share(extents: &[Extent], region: &Range<u64>, complete: bool) -> Written {
    let end_of = |extent: &Extent| extent.logical_bytes.saturating_add(extent.length_bytes);
    let seen_end = match extents.last() {
        Some(last) if !complete => end_of(last).min(region.end),
        _ => region.end,
    };
    let data = extents.iter().filter(|extent| !extent.is_unwritten());
    let clipped = data.map(|extent| {
        let start = extent.logical_bytes.max(region.start);
        end_of(extent).min(seen_end).saturating_sub(start)
    });
    let seen_bytes = seen_end.saturating_sub(region.start).max(1);
    Written {
        seen_bytes,
        data_bytes: clipped.sum::<u64>().min(seen_bytes),
    }
}

/// By `SEEK_DATA` and `SEEK_HOLE`. Unwritten extents count as holes where the file system knows them.
fn by_seeking(file: &File, region: &Range<u64>) -> io::Result<Written> {
    let mut data_bytes = 0;
    let mut at = region.start;
    for _ in 0..PIECES_MAX {
        if at >= region.end {
            break;
        }
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start.min(region.end),
            // No data from here to the end of the file.
            Err(Errno::NXIO) => region.end,
            Err(error) => return Err(error.into()),
        };
        if start == region.end {
            at = region.end;
            break;
        }
        let end = seek(file, SeekFrom::Hole(start))?.min(region.end);
        data_bytes += end - start;
        at = end;
    }
    Ok(Written {
        seen_bytes: at - region.start,
        data_bytes,
    })
}

/// The requirement `cold_cache`, and the warning that a buffered load measures memory too.
pub(super) fn cached(file: &File, target: &TargetFile, facts: &IoFacts, found: &mut Findings) {
    if in_memory(target) {
        return;
    }
    let path = &target.path;
    let region = if target.kind == TargetKind::BlockDevice {
        Ok(facts.region.start..facts.region.end.min(target.size_bytes))
    } else {
        region(file, facts)
    };
    let resident = region.and_then(|region| {
        let length = region.end.saturating_sub(region.start);
        Ok((page_cache_resident(file, region.start, length)?, length))
    });
    match resident {
        Ok((bytes, length)) => {
            let resident_percent = if length == 0 {
                0.0
            } else {
                (bytes as f64 / length as f64 * 100.0).min(100.0)
            };
            let detail = format!("{path}: {resident_percent:.1} % of the region is in the page cache");
            found.requirement("cold_cache", Some(bytes == 0), detail);
            let path = path.clone();
            found.warnings.push(Warning::PageCache {
                path,
                resident_percent,
            });
        }
        Err(error) => found.requirement(
            "cold_cache",
            None,
            format!("{path}: how much of it is in the page cache is not known: {error}"),
        ),
    }
}

#[cfg(test)]
mod tests;
