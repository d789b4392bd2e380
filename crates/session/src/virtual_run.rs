//! A run on a modelled disk, in virtual time.
//!
//! Data in: a machine's specification, a workload. Data out: the engine's results, the counters of the disks, what
//! the machine tells of itself. It must not print or store.

use fathom_core::run::{DiskSummary, ModelSummary};
use fathom_core::virtual_disk::{Trace, VirtualDisk};
use fathom_engine::plan::Plan;
use fathom_engine::run::{Hooks, Options, Results, run_virtual};
use fathom_model::{Machine, Spec};

/// What a run on a modelled disk leaves.
#[derive(Debug)]
pub struct Modelled {
    /// As of a real run.
    pub results: Results,
    /// Counters of each disk from the start to the end of the last job.
    pub disks: Vec<DiskSummary>,
    /// What the machine tells.
    pub model: ModelSummary,
}

/// Carries out `plan`, which was made for the size of this machine's volume. `traced`: what the
/// machine keeps for `hooks`.
///
/// # Errors
/// The specification cannot be put into words.
pub fn carry_out(
    spec: &Spec,
    plan: &Plan,
    options: &Options,
    traced: Trace,
    hooks: &mut dyn Hooks,
) -> anyhow::Result<Modelled> {
    let mut machine = Machine::new(spec);
    machine.trace(traced);
    let results = run_virtual(plan, &mut machine, options, hooks);
    // Virtual time begins at 0, so that this is also how long it took.
    let end = results.end;
    let disks = machine.disks(end.0);
    let account = machine.account();
    let drained = machine.settle(end);
    let model = ModelSummary {
        name: spec.name.clone(),
        seed: spec.seed,
        spec_toml: fathom_model::file::to_toml(spec)?,
        not_known: spec.not_known(),
        drain_ns: drained.since(end).0,
        ..account
    };
    Ok(Modelled {
        results,
        disks,
        model,
    })
}
