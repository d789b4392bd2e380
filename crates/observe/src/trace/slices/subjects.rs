//! Whose stays are given throughout.
//!
//! Duty: tell by name and number whether a task is one of them. Data in: names, numbers, who made whom. Data out: yes or no.
//! Memory is bounded: beyond [`SUBJECTS_MAX`] no more are taken.

use super::super::sched::Load;
use super::super::tids::Tids;
use fathom_core::record::Comm;

/// More threads than this are not followed throughout.
const SUBJECTS_MAX: usize = 4096;
/// What the kernel calls the workers of a task's `io_uring`, before that task's number.
const RING_WORKER: &[u8] = b"iou-wrk-";

/// The tasks whose stays are given throughout.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    prefixes: Vec<Vec<u8>>,
    tids: Tids,
    /// Those that are asked for by number because their name does not say it.
    unnamed: Vec<u32>,
}

impl Subjects {
    pub(super) fn new(load: &Load) -> Self {
        let mut subjects = Self {
            prefixes: load
                .comm_prefixes
                .iter()
                // No name at all would be everybody's.
                .filter(|prefix| !prefix.is_empty())
                .map(|prefix| prefix.as_bytes().to_vec())
                .collect(),
            ..Self::default()
        };
        subjects.prefixes.sort();
        subjects.prefixes.dedup();
        for &tid in &load.tids {
            subjects.add(tid);
        }
        subjects
    }

    /// One more, by its number.
    pub(super) fn add(&mut self, tid: u32) {
        if tid != 0 && self.tids.len() < SUBJECTS_MAX && self.tids.insert(tid) {
            self.unnamed.push(tid);
        }
    }

    /// A task of that name was seen.
    #[inline]
    pub(super) fn is(&mut self, tid: u32, comm: &Comm) -> bool {
        self.tids.contains(&tid) || self.by_name(tid, comm)
    }

    /// Whether it is known as one by now.
    #[inline]
    pub(super) fn knows(&self, tid: u32) -> bool {
        self.tids.contains(&tid)
    }

    fn by_name(&mut self, tid: u32, comm: &Comm) -> bool {
        let name = comm.as_bytes();
        let named = self.prefixes.iter().any(|prefix| name.starts_with(prefix));
        if named && self.tids.len() < SUBJECTS_MAX {
            self.tids.insert(tid);
            return true;
        }
        if let Some(owner) = name.strip_prefix(RING_WORKER) {
            let owner = std::str::from_utf8(owner)
                .ok()
                .and_then(|owner| owner.parse().ok());
            if owner.is_some_and(|owner| self.tids.contains(&owner)) {
                self.add(tid);
            }
        }
        self.tids.contains(&tid)
    }

    /// Made by one of them, it is one.
    pub(super) fn made(&mut self, parent: u32, child: u32) {
        if self.tids.contains(&parent) {
            self.add(child);
        }
    }

    /// It has ended: another task may get its number.
    pub(super) fn ended(&mut self, tid: u32) {
        if self.tids.remove(&tid) {
            self.unnamed.retain(|&other| other != tid);
        }
    }

    pub(super) fn unnamed(&self) -> &[u32] {
        &self.unnamed
    }
}
