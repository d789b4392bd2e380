//! The points of a sweep as requests.
//!
//! Data in: the plan of a sweep and its target. Data out: a [`Request`] a point, as its options make it. It must not carry
//! anything out.

use super::asked::Asked;
use crate::request;
use crate::target::{self, Target};
use anyhow::Context;
use fathom_core::sweep::{Coordinates, Probe};
use fathom_core::units::Nanos;
use fathom_dialect::Override;
use fathom_session::Request;
use std::path::PathBuf;

/// The one file of a sweep in a directory or on a modelled disk: all threads and all points share it.
const DATA_FILE: &str = "fathom-sweep.data";
/// Writes of the preconditioning: large and in order, as fast as the disk takes them.
const PRECONDITION_BLOCK: &str = "1m";
const PRECONDITION_DEPTH: &str = "8";
/// Passes of the preconditioning over the region: twice, as SNIA's test specification has it
/// (Solid State Storage Performance Test Specification 2.0.1, workload-independent preconditioning).
const PRECONDITION_PASSES: &str = "2";

/// A request for each point, in order; `None` where an option is wrong, which is on stderr.
pub(crate) fn requests(asked: &Asked) -> Option<Vec<Request>> {
    let points = asked.plan.points.iter();
    points
        .map(|point| load(asked, &overrides(asked, point)))
        .collect()
}

/// The preconditioning; `None` as of [`requests`].
pub(crate) fn precondition(asked: &Asked) -> Option<Request> {
    let mut overrides = shared(asked);
    overrides.extend([
        Override::new("name", "precondition"),
        Override::new("rw", "write"),
        Override::new("bs", PRECONDITION_BLOCK),
        Override::new("iodepth", PRECONDITION_DEPTH),
        Override::new("loops", PRECONDITION_PASSES),
    ]);
    resolve(asked, &overrides)
}

/// A load beside the matrix, on the file of its points.
pub(crate) fn probe(asked: &Asked, probe: &Probe) -> anyhow::Result<Request> {
    let mut options = overrides(asked, &probe.at);
    let small_percent = 100 - probe.large_percent;
    // With a map, what of a large block was visited before would be cut off it.
    options.push(Override::new("norandommap", "1"));
    options.push(Override::new(
        "bssplit",
        format!(
            "{}/{small_percent}:{}/{}",
            probe.at.block_size_bytes, probe.large_bytes, probe.large_percent
        ),
    ));
    load(asked, &options).with_context(|| format!("the load {} cannot be made", probe.name()))
}

/// The options of a point, in the order in which they count.
fn overrides(asked: &Asked, point: &Coordinates) -> Vec<Override> {
    let timing = &asked.plan.timing;
    let mut overrides = shared(asked);
    let order = if point.random { "rand" } else { "" };
    let direction = match point.read_percent {
        100 => "read",
        0 => "write",
        _ => "rw",
    };
    let microseconds = |ns: u64| format!("{}us", ns / 1000);
    overrides.extend([
        Override::new("name", point.name()),
        Override::new("rw", format!("{order}{direction}")),
        Override::new("bs", point.block_size_bytes.to_string()),
        Override::new("iodepth", point.iodepth.to_string()),
        Override::new("numjobs", point.threads.to_string()),
        Override::new("group_reporting", "1"),
        Override::new("time_based", "1"),
        Override::new("runtime", microseconds(timing.duration_ns)),
        Override::new("ramp_time", microseconds(timing.warmup_ns)),
        Override::new("startdelay", microseconds(timing.idle_ns)),
    ]);
    if direction == "rw" {
        overrides.push(Override::new("rwmixread", point.read_percent.to_string()));
    }
    overrides
}

fn shared(asked: &Asked) -> Vec<Override> {
    let option = |(name, value): &(String, Option<String>)| Override {
        name: name.clone(),
        value: value.clone(),
    };
    let mut overrides: Vec<Override> = asked.plan.options.iter().map(option).collect();
    if asked.target == Target::Null {
        overrides.push(Override::new("ioengine", "null"));
    }
    overrides
}

/// What is measured, with its cooldown, which no option stands for.
fn load(asked: &Asked, overrides: &[Override]) -> Option<Request> {
    let mut request = resolve(asked, overrides)?;
    for job in &mut request.workload.jobs {
        job.limit.cooldown_time = Nanos(asked.plan.timing.cooldown_ns);
    }
    Some(request)
}

fn resolve(asked: &Asked, overrides: &[Override]) -> Option<Request> {
    let environment = &asked.environment;
    let parsed = request::with_context(environment, &[], |context| {
        fathom_dialect::parse(&[], overrides, context)
    });
    // What is worth a note at each of 200 points is worth none.
    let mut request = request::accept(parsed, environment.clone(), true)?;
    request.machine = asked.machine.clone();
    target::aim(&mut request.workload, &asked.target);
    if matches!(asked.target, Target::Directory(_) | Target::Model(_)) {
        for job in &mut request.workload.jobs {
            job.files.names = vec![PathBuf::from(DATA_FILE)];
        }
    }
    Some(request)
}
