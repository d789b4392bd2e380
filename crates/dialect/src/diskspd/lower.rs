//! A profile as workloads: one a time span, to be run one after the other.
//!
//! Data in: a checked profile, the processors, the sizes of targets. Data out: [`Workload`]s, and which row of the results
//! each job fills. It must not know how a workload is carried out.
//!
//! **Threads are jobs.** Each thread on each target is a job of one worker, so that the results have what diskspd's have:
//! bytes, I/Os, latency and deviation of each. Two cases are different: threads that share a pointer (`-si`) are workers
//! of one job, since the pointer belongs to a job; and a thread of a pool (`-F` with `-O`) is one job on all its targets,
//! counted by file.
//!
//! **Interfaces.** Past the page cache: Linux native AIO, which then submits without waiting, and one I/O at a time is
//! `pread`. Through the page cache: `io_uring`, because native AIO waits in its submission there, so that never more than
//! one I/O would be in flight.

mod job;
mod pool;

use super::Look;
use super::profile::{Profile, Target, TimeSpan};
use crate::diagnostic::{Diagnostic, Fault, Findings};
use fathom_core::workload::{Job, Workload};
use std::fmt;

/// The first bytes of a file, at most so many; the error is a text for people.
pub type ReadBytes<'a> = &'a dyn Fn(&str, u64) -> Result<Vec<u8>, String>;

/// What workloads depend on beside the profile.
#[derive(Clone, Copy)]
pub struct Lowering<'a> {
    /// The processors that this process may use, ascending; empty: leave threads to the scheduler.
    pub cpus: &'a [u32],
    /// Sizes of files and devices.
    pub look: Look<'a>,
    /// Reads the file that write buffers are filled from.
    pub read_bytes: ReadBytes<'a>,
}

impl fmt::Debug for Lowering<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lowering")
            .field("cpus", &self.cpus)
            .finish_non_exhaustive()
    }
}

/// One time span.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// What is run.
    pub workload: Workload,
    /// The rows of the result, in diskspd's order: by thread, then by target.
    pub rows: Vec<RowSource>,
}

/// Where a row of the results comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSource {
    /// The thread, from 0; of threads that share a pointer the first.
    pub thread: u32,
    /// Which job of the workload.
    pub job: u32,
    /// Which of its files; `None`: its only one.
    pub file: Option<u32>,
    /// The target, as named.
    pub path: String,
    /// The size that `-c` gives it.
    pub file_size_bytes: Option<u64>,
}

/// The workloads of a profile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoweredProfile {
    /// One a time span; empty if there is an error.
    pub spans: Vec<Lowered>,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
}

/// The most jobs of a time span.
const JOBS_MAX: u64 = 4096;

/// Turns each time span into a workload.
pub fn lower(profile: &Profile, lowering: &Lowering<'_>) -> LoweredProfile {
    let mut findings = Findings::default();
    let mut spans = Vec::new();
    for span in &profile.time_spans {
        let mut builder = Builder {
            profile,
            span,
            lowering,
            findings: &mut findings,
            jobs: Vec::new(),
            rows: Vec::new(),
        };
        builder.build();
        let (jobs, rows) = (builder.jobs, builder.rows);
        spans.push(Lowered {
            workload: Workload { jobs },
            rows,
        });
    }
    if findings.has_errors() {
        spans.clear();
    }
    LoweredProfile {
        spans,
        diagnostics: findings.into_list(),
    }
}

/// Jobs and rows while they are made.
struct Builder<'a> {
    profile: &'a Profile,
    span: &'a TimeSpan,
    lowering: &'a Lowering<'a>,
    findings: &'a mut Findings,
    jobs: Vec<Job>,
    rows: Vec<RowSource>,
}

/// One thread on one target.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// The first thread, counted over the whole time span.
    thread: u32,
    /// Its number among those of the target: `-T` counts from there.
    within: u32,
    /// How many threads the target has.
    of: u32,
}

impl Builder<'_> {
    fn build(&mut self) {
        let span = self.span;
        let targets = span.targets.len() as u64;
        let jobs = if span.thread_count > 0 {
            u64::from(span.thread_count) * targets
        } else {
            span.targets
                .iter()
                .map(|target| u64::from(target.threads_per_file))
                .sum()
        };
        if jobs > JOBS_MAX {
            let fault = Fault::new(format!("{jobs} threads on targets are more than {JOBS_MAX}"));
            self.findings.error(
                None,
                fault.remedy("use fewer threads (-t, -F) and more depth (-o)"),
            );
            return;
        }
        if span.is_pool() {
            self.pool();
        } else if span.thread_count > 0 {
            self.every_thread_on_every_target();
        } else {
            self.threads_of_targets();
        }
    }

    /// `-t`: each target has threads of its own.
    fn threads_of_targets(&mut self) {
        let mut first = 0;
        for target in &self.span.targets {
            let of = target.threads_per_file;
            for within in 0..of {
                let thread = first + within;
                self.add(target, Share { thread, within, of });
            }
            first += of;
        }
    }

    /// `-F` without `-O`: each thread keeps `-o` in flight on each target.
    fn every_thread_on_every_target(&mut self) {
        let span = self.span;
        for thread in 0..span.thread_count {
            for target in &span.targets {
                let share = Share {
                    thread,
                    within: thread,
                    of: span.thread_count,
                };
                self.add(target, share);
            }
        }
    }

    fn add(&mut self, target: &Target, share: Share) {
        let Some(job) = self.job(target, share) else {
            return;
        };
        self.rows.push(RowSource {
            thread: share.thread,
            job: self.jobs.len() as u32,
            file: None,
            path: target.path.clone(),
            file_size_bytes: target.file_size,
        });
        self.jobs.push(job);
    }
}
