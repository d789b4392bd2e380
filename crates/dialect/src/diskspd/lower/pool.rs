//! A pool of threads (`-F` with `-O`): each I/O of a thread goes to a target drawn at random.
//!
//! Data in: a time span. Data out: one job a thread, on all its targets, counted by file. It must not know jobs of one
//! target. What a job cannot say is refused: targets that differ, and weights that do.

use super::{Builder, RowSource, Share};
use crate::diagnostic::Fault;
use crate::diskspd::profile::Target;
use fathom_core::workload::{FileChoice, Region};

impl Builder<'_> {
    pub(super) fn pool(&mut self) {
        let span = self.span;
        let Some(first) = span.targets.first() else { return };
        if span.targets.iter().any(|target| !alike(first, target)) {
            let fault = Fault::new("the targets of a pool (-O) differ in more than their paths");
            let remedy =
                "give them the same settings, or each its own depth in place of a RequestCount for all";
            self.findings.error(None, fault.remedy(remedy));
            return;
        }
        for thread in 0..span.thread_count {
            let used: Vec<(&Target, u32)> = span
                .targets
                .iter()
                .filter_map(|target| Some((target, weight(target, thread)?)))
                .collect();
            let Some(&(_, weight)) = used.first() else {
                continue;
            };
            if used.iter().any(|&(_, other)| other != weight) {
                let fault =
                    Fault::new("the targets of a pool have different weights, which is not carried out");
                self.findings
                    .error(None, fault.remedy("give them equal weights, or none"));
                return;
            }
            self.thread(thread, &used);
        }
    }

    fn thread(&mut self, thread: u32, used: &[(&Target, u32)]) {
        let share = Share {
            thread,
            within: thread,
            of: self.span.thread_count,
        };
        let mut template = used[0].0.clone();
        template.request_count = self.span.request_count;
        let Some(mut job) = self.job(&template, share) else {
            return;
        };
        job.name = format!("thread {thread}");
        job.files.names = used
            .iter()
            .map(|(target, _)| target.path.clone().into())
            .collect();
        job.files.choice = FileChoice::Random;
        job.count_files = true;
        job.region = Region::default();
        let smallest = used
            .iter()
            .map(|(target, _)| (self.lowering.look)(&target.path))
            .min()
            .flatten();
        if self
            .region(&mut job, &template, (template.base_offset, smallest))
            .is_none()
        {
            return;
        }
        for (file, (target, _)) in (0..).zip(used) {
            self.rows.push(RowSource {
                thread,
                job: self.jobs.len() as u32,
                file: Some(file),
                path: target.path.clone(),
                file_size_bytes: target.file_size,
            });
        }
        self.jobs.push(job);
    }
}

/// Whether one job can do what both ask for.
fn alike(one: &Target, other: &Target) -> bool {
    let settings = |target: &Target| Target {
        path: String::new(),
        weight: 1,
        thread_targets: Vec::new(),
        ..target.clone()
    };
    settings(one) == settings(other)
}

/// The weight of a target for a thread; `None`: the thread does not use it.
fn weight(target: &Target, thread: u32) -> Option<u32> {
    if target.thread_targets.is_empty() {
        return Some(target.weight);
    }
    let found = target.thread_targets.iter().find(|at| at.thread == thread)?;
    Some(if found.weight == 0 {
        target.weight
    } else {
        found.weight
    })
}
