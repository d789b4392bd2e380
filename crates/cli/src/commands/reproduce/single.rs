//! One run of an experiment.
//!
//! Data in: a run as its experiment describes it. Data out: what figures are taken from. It must not know figures.

use super::experiment::{Experiment, RunAbout};
use crate::model_target::is_model_file;
use anyhow::{Context, bail};
use fathom_analysis::figures::Outcome;
use fathom_core::run::{HistogramRow, SeriesRow, Status};
use fathom_core::virtual_disk::Trace;
use fathom_core::workload::Workload;
use fathom_dialect::{Override, Source};
use fathom_engine::plan::Plan;
use fathom_engine::run::{Hooks, Options};
use fathom_model::{Catalog, Spec, file, target};
use fathom_session::virtual_run::{self, Modelled};
use fathom_sys::clock::HostClock;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a job file may ask about the machine: these, on all machines, so that a run gives the same results on all.
const PAGE_BYTES: u64 = 4096;
const MEMORY_MIB: u64 = 28 << 10;
const CPUS: u64 = 4;
/// Of jobs that do not want to repeat themselves.
const SEED: u64 = 1;

/// A run that is ready to be carried out.
#[derive(Debug)]
pub(super) struct Single {
    /// What its outcome is called.
    name: String,
    /// Whether each section has an outcome of its own.
    by_section: bool,
    spec: Spec,
    plan: Plan,
}

/// All runs of an experiment.
pub(super) fn prepare(experiment: &Experiment) -> anyhow::Result<Vec<Single>> {
    let catalog = Catalog::azure();
    let runs = experiment.about.runs.iter();
    runs.map(|run| of_run(experiment, run, catalog).with_context(|| run.name.clone()))
        .collect()
}

fn of_run(experiment: &Experiment, run: &RunAbout, catalog: &Catalog) -> anyhow::Result<Single> {
    let spec = spec(experiment, run, catalog)?;
    let workload = workload(experiment, run)?;
    Ok(Single {
        name: run.name.clone(),
        by_section: run.each_section,
        plan: Plan::modelled(&workload, spec.volume_bytes())?,
        spec,
    })
}

fn spec(experiment: &Experiment, run: &RunAbout, catalog: &Catalog) -> anyhow::Result<Spec> {
    if !is_model_file(&run.model) {
        return Ok(target::parse(&run.model, catalog)?);
    }
    let text = experiment.files.get(&run.model).map_or("", String::as_str);
    let name = format!("{}/{}", experiment.name, run.model);
    Ok(file::parse(&name, text, catalog)?)
}

fn workload(experiment: &Experiment, run: &RunAbout) -> anyhow::Result<Workload> {
    let files: Vec<(String, &str)> = run
        .before
        .iter()
        .chain([&run.job])
        .map(|file| {
            let text = experiment.files.get(file).map_or("", String::as_str);
            (format!("{}/{file}", experiment.name), text)
        })
        .collect();
    let sources: Vec<Source<'_>> = files.iter().map(|(name, text)| Source { name, text }).collect();
    let overrides: Vec<Override> = run
        .options
        .iter()
        .map(|(name, value)| Override::new(name, value))
        .collect();
    let include = |path: &Path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let found = experiment.files.get(name).cloned();
        found.ok_or_else(|| format!("there is no {} in this experiment", path.display()))
    };
    let context = fathom_dialect::Context {
        include: &include,
        env: &|_| None,
        pagesize: PAGE_BYTES,
        memory_mib: MEMORY_MIB,
        ncpus: CPUS,
        seed: SEED,
        sections: &run.sections,
    };
    let parsed = fathom_dialect::parse(&sources, &overrides, &context);
    let Some(workload) = parsed.workload else {
        let errors: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
        bail!("{}", errors.join("\n"));
    };
    Ok(workload)
}

/// Keeps the rows.
#[derive(Default)]
struct Rows(Vec<SeriesRow>);

impl Hooks for Rows {
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.0.extend_from_slice(rows);
    }
}

/// What a run left: outcomes, and how long it took in virtual time.
#[derive(Debug)]
pub(super) struct Left {
    /// One, or one a section.
    pub outcomes: Vec<Outcome>,
    /// From its start to the end of its last job.
    pub virtual_ns: u64,
}

impl Single {
    /// What its outcomes are called.
    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<String> {
        let jobs = self.plan.jobs.iter();
        let names = jobs.map(|job| self.name_of(&job.job.name));
        if self.by_section {
            names.collect()
        } else {
            vec![self.name.clone()]
        }
    }

    fn name_of(&self, section: &str) -> String {
        format!("{}/{section}", self.name)
    }

    pub(super) fn carry_out(&self) -> anyhow::Result<Left> {
        let options = Options::new(Arc::new(AtomicBool::new(false)), HostClock::new());
        let mut rows = Rows::default();
        let Modelled {
            results,
            disks,
            model,
        } = virtual_run::carry_out(&self.spec, &self.plan, &options, Trace::default(), &mut rows)
            .with_context(|| self.name.clone())?;
        if results.status != Status::Complete {
            bail!("{}: the run did not come to its end", self.name);
        }
        let virtual_ns = results.end.0;
        let outcome = Outcome {
            name: self.name.clone(),
            jobs: results.jobs,
            depths: self.plan.jobs.iter().map(|job| job.job.total_depth()).collect(),
            histograms: results.histograms,
            series: rows.0,
            disks,
            model,
        };
        let outcomes = if self.by_section {
            self.sections(outcome)
        } else {
            vec![outcome]
        };
        Ok(Left { outcomes, virtual_ns })
    }

    /// An outcome for each section; what is counted of the machine alone is of all of them, and so of none.
    fn sections(&self, whole: Outcome) -> Vec<Outcome> {
        let mut each: Vec<Outcome> = Vec::with_capacity(whole.jobs.len());
        for (job, depth) in whole.jobs.into_iter().zip(whole.depths) {
            each.push(Outcome {
                name: self.name_of(&job.name),
                jobs: vec![job],
                depths: vec![depth],
                ..Outcome::default()
            });
        }
        for row in whole.histograms {
            each[row.job as usize]
                .histograms
                .push(HistogramRow { job: 0, ..row });
        }
        for row in whole.series {
            each[row.job as usize].series.push(SeriesRow { job: 0, ..row });
        }
        each
    }
}
