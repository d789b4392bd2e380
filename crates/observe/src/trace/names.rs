//! The names of tasks that events give only by number.
//!
//! Duty: look a task's name up. Data in: `/proc/TID/comm`; of a task that has ended, what the kernel's tracer kept of it
//! (`saved_cmdlines`, Documentation/trace/ftrace.rst). Data out: [`Comm`]. It must not know whose names are asked for. A name
//! is looked up again after some seconds: tasks rename themselves, and numbers are used again.

use super::tids::TidMap;
use crate::root::SystemRoot;
use fathom_core::record::Comm;
use std::path::PathBuf;

const KEPT: usize = 4096;
const FRESH_NS: u64 = 5_000_000_000;

/// Names that were looked up.
#[derive(Debug)]
pub(super) struct Names {
    root: SystemRoot,
    /// Lines of `TID NAME`, for the tasks that wrote events last.
    saved: PathBuf,
    known: TidMap<(Comm, u64)>,
}

impl Names {
    pub(super) fn new(root: &SystemRoot, saved: PathBuf) -> Self {
        Self {
            root: root.clone(),
            saved,
            known: TidMap::default(),
        }
    }

    /// The name; that which it had last where it has ended, none where it was never seen.
    pub(super) fn of(&mut self, tid: u32, now_ns: u64) -> Comm {
        if tid == 0 {
            return Comm::NONE;
        }
        let known = self.known.get(&tid).copied();
        if let Some((comm, _)) = known.filter(|known| now_ns < known.1.saturating_add(FRESH_NS)) {
            return comm;
        }
        let text = self.root.read(format!("/proc/{tid}/comm"));
        let comm = match (text, known) {
            (Ok(text), _) => Comm::new(text.trim_ascii_end()),
            (Err(_), Some((comm, _))) => comm,
            (Err(_), None) => self.of_ended(tid),
        };
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        self.known.insert(tid, (comm, now_ns));
        comm
    }

    fn of_ended(&self, tid: u32) -> Comm {
        let text = std::fs::read(&self.saved).unwrap_or_default();
        let mut lines = text.split(|byte| *byte == b'\n');
        let name = lines.find_map(|line| {
            let (number, name) = line.split_at(line.iter().position(|byte| *byte == b' ')?);
            (std::str::from_utf8(number).ok()?.parse() == Ok(tid)).then(|| Comm::new(&name[1..]))
        });
        name.unwrap_or(Comm::NONE)
    }
}

#[cfg(test)]
mod tests;
