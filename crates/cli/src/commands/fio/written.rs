//! A job's options as fio tells them: one name each, values as typed, those for all jobs apart.
//!
//! Data in: what was written. Data out: lists for the outputs. It must not know what an option means.

use super::help::canonical;
use fathom_core::workload::{Written, WrittenSection};
use fathom_report::fio::WrittenOption;

/// The options of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Options {
    pub global: Vec<WrittenOption>,
    /// Of each job section, in order.
    pub jobs: Vec<Vec<WrittenOption>>,
    /// Whether each asks for threads in place of processes.
    pub threads: Vec<bool>,
}

impl Options {
    pub(crate) fn new(written: &Written) -> Self {
        let mut options = Self::default();
        let mut global_thread = false;
        for section in &written.sections {
            let list = canonical_options(section);
            let thread = list.iter().rev().find(|(name, _)| name == "thread");
            let thread = thread.map(|(_, value)| value.as_deref() != Some("0"));
            if section.name.starts_with("global") {
                global_thread = thread.unwrap_or(global_thread);
                options.global.extend(list);
            } else {
                options.jobs.push(list);
                options.threads.push(thread.unwrap_or(global_thread));
            }
        }
        options
    }
}

fn canonical_options(section: &WrittenSection) -> Vec<WrittenOption> {
    let option = |(name, value): &(String, Option<String>)| (canonical(name).to_owned(), value.clone());
    section.options.iter().map(option).collect()
}

#[cfg(test)]
mod tests;
