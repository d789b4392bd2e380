//! One warning for many files with the same trouble.
//!
//! Data in: warnings, a few for each file. Data out: fewer. It must not judge.

use fathom_core::run::Warning;
use std::collections::HashSet;

/// So many files are named one by one.
const NAMED_MAX: usize = 2;

/// Merges warnings of the same kind about many files into one, about the first and so many more, with the
/// largest share. What `analysis` says of the whole record (unknown devices) is left to it.
pub(crate) fn merge(warnings: Vec<Warning>) -> Vec<Warning> {
    let mut kinds: Vec<Vec<Warning>> = Vec::new();
    // What differs in nothing is said once. Warnings hold fractions: their words are compared.
    let mut known = HashSet::new();
    for warning in warnings {
        if matches!(warning, Warning::DeviceUnknown { .. }) {
            continue;
        }
        if !known.insert(format!("{warning:?}")) {
            continue;
        }
        match kinds.iter_mut().find(|kind| alike(&kind[0], &warning)) {
            Some(kind) => kind.push(warning),
            None => kinds.push(vec![warning]),
        }
    }
    kinds.into_iter().flat_map(shorten).collect()
}

/// Whether two warnings differ in their file, and in numbers, only.
fn alike(a: &Warning, b: &Warning) -> bool {
    use Warning::{
        DirectRefused, DirectUnaligned, MemoryFilesystem, PageCache, SizeClipped, StackedFilesystem,
        UnwrittenExtents,
    };
    match (a, b) {
        (UnwrittenExtents { .. }, UnwrittenExtents { .. }) | (PageCache { .. }, PageCache { .. }) => true,
        (MemoryFilesystem { filesystem: a, .. }, MemoryFilesystem { filesystem: b, .. })
        | (StackedFilesystem { filesystem: a, .. }, StackedFilesystem { filesystem: b, .. })
        | (DirectRefused { reason: a, .. }, DirectRefused { reason: b, .. }) => a == b,
        (
            DirectUnaligned {
                block_bytes: a,
                need_bytes: c,
                ..
            },
            DirectUnaligned {
                block_bytes: b,
                need_bytes: d,
                ..
            },
        )
        | (
            SizeClipped {
                path_bytes: a,
                used_bytes: c,
                ..
            },
            SizeClipped {
                path_bytes: b,
                used_bytes: d,
                ..
            },
        ) => (a, c) == (b, d),
        _ => a == b,
    }
}

fn shorten(kind: Vec<Warning>) -> Vec<Warning> {
    if kind.len() <= NAMED_MAX {
        return kind;
    }
    let more = kind.len() - 1;
    let share = kind.iter().map(share_of).fold(0.0, f64::max);
    let mut first = kind.into_iter().next();
    if let Some(
        Warning::UnwrittenExtents {
            path,
            share_percent: percent,
        }
        | Warning::PageCache {
            path,
            resident_percent: percent,
        },
    ) = &mut first
    {
        *path = format!("{path} and {more} more files");
        *percent = share;
    } else if let Some(
        Warning::MemoryFilesystem { path, .. }
        | Warning::StackedFilesystem { path, .. }
        | Warning::DirectRefused { path, .. }
        | Warning::DirectUnaligned { path, .. }
        | Warning::SizeClipped { path, .. },
    ) = &mut first
    {
        *path = format!("{path} and {more} more files");
    }
    first.into_iter().collect()
}

fn share_of(warning: &Warning) -> f64 {
    match warning {
        Warning::UnwrittenExtents {
            share_percent: percent,
            ..
        }
        | Warning::PageCache {
            resident_percent: percent,
            ..
        } => *percent,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests;
