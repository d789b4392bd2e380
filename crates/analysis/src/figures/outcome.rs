//! What a run left, as far as figures are taken from it; and which outcomes and jobs a figure means.
//!
//! Data in: results of the engine and the model, a figure's column `run`. Data out: selections. It must not know
//! measures.

use crate::latencies::histogram;
use fathom_core::histogram::Histogram;
use fathom_core::run::{DiskSummary, HistogramRow, JobSummary, ModelSummary, SeriesRow};

/// What one run left.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub name: String,
    pub jobs: Vec<JobSummary>,
    /// I/Os in flight of each job, over all its workers.
    pub depths: Vec<u64>,
    pub histograms: Vec<HistogramRow>,
    /// Its seconds.
    pub series: Vec<SeriesRow>,
    /// The counters of its disks.
    pub disks: Vec<DiskSummary>,
    /// What the machine told.
    pub model: ModelSummary,
}

/// Some jobs of an outcome.
#[derive(Debug, Clone)]
pub(crate) struct Selection<'a> {
    pub(crate) outcome: &'a Outcome,
    /// Their numbers, ascending.
    pub(crate) jobs: Vec<u32>,
}

impl<'a> Selection<'a> {
    /// What `text` (`NAME`, `NAME@SECTION`, with `*`) means, in the order of the outcomes.
    pub(crate) fn find(text: &str, outcomes: &'a [Outcome]) -> Vec<Self> {
        let (name, section) = text.split_once('@').unwrap_or((text, "*"));
        let chosen = outcomes.iter().filter(|outcome| matches(name, &outcome.name));
        let selection = |outcome: &'a Outcome| {
            let jobs = (0..).zip(&outcome.jobs);
            let jobs = jobs.filter(|(_, job)| matches(section, &job.name));
            Self {
                outcome,
                jobs: jobs.map(|(number, _)| number).collect(),
            }
        };
        chosen
            .map(selection)
            .filter(|found| !found.jobs.is_empty())
            .collect()
    }

    pub(crate) fn summaries(&self) -> impl Iterator<Item = &'a JobSummary> + '_ {
        self.jobs.iter().map(|&job| &self.outcome.jobs[job as usize])
    }

    /// How long it ran: the sum over its reporting groups, which run one after another, of the longest job of each.
    pub(crate) fn runtime_ns(&self) -> u64 {
        let mut groups: Vec<(u32, u64)> = Vec::new();
        for job in self.summaries() {
            match groups.iter_mut().find(|(group, _)| *group == job.group) {
                Some((_, longest)) => *longest = job.runtime_ns.max(*longest),
                None => groups.push((job.group, job.runtime_ns)),
            }
        }
        groups.iter().map(|(_, longest)| longest).sum()
    }

    /// Its I/Os in flight.
    pub(crate) fn depth(&self) -> u64 {
        let depths = self
            .jobs
            .iter()
            .filter_map(|&job| self.outcome.depths.get(job as usize));
        depths.sum()
    }

    /// The merged histogram of one latency; its buckets stand for their middles.
    pub(crate) fn histogram(&self, wanted: impl Fn(&HistogramRow) -> bool) -> Histogram {
        let rows = self.outcome.histograms.iter();
        histogram(rows.filter(|row| self.jobs.contains(&row.job) && wanted(row)))
    }
}

/// Whether `name` is of the form `pattern`, in which a `*` stands for any letters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).any(|at| name.get(at..).is_some_and(|tail| matches(rest, tail)))
        }),
    }
}

#[cfg(test)]
mod tests;
