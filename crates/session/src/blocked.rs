//! `io_uring` where the kernel lets nobody have it: libaio in its place, if that was asked for.
//!
//! Data in: a request. Data out: the same with other engines, and a warning that says so: it is part of the record. It must not
//! decide that this is wanted.

use crate::machine::Machine;
use crate::request::Request;
use fathom_core::run::Warning;
use fathom_core::workload::{Engine, EngineKind};
use fathom_observe::SystemRoot;
use fathom_observe::limits::{Advice, io_uring_blocked};
use fathom_sys::arena::{Arena, PageKind};
use fathom_sys::uring::{Uring, UringConfig};
use std::io;

/// Has jobs with `io_uring` use libaio where this kernel refuses a ring to anybody like us.
pub fn libaio_where_blocked(system: &SystemRoot, request: &mut Request) {
    let is_real = matches!(request.machine, Machine::This);
    if !is_real || !request.workload.jobs.iter().any(|job| is_ring(&job.engine)) {
        return;
    }
    if let Some(advice) = refusal().and_then(|error| io_uring_blocked(system, &error)) {
        replace(request, &advice);
    }
}

const fn is_ring(engine: &Engine) -> bool {
    matches!(engine.kind, EngineKind::IoUring)
}

/// Why a ring of one entry is not to be had; `None`: it is, or for other reasons than permission, which the load meets itself.
fn refusal() -> Option<io::Error> {
    let arena = Arena::new(1, 4096, PageKind::Normal).ok()?;
    let error = Uring::new(UringConfig::new(1), Vec::new(), arena).err()?;
    let blocks = matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported
    );
    blocks.then_some(error)
}

/// What is about a ring and no other engine goes with it.
fn replace(request: &mut Request, advice: &Advice) {
    let mut jobs = Vec::new();
    for job in &mut request.workload.jobs {
        if !is_ring(&job.engine) {
            continue;
        }
        job.engine = Engine {
            kind: EngineKind::Libaio,
            poll: false,
            fixed_buffers: false,
            registered_files: false,
            submission_thread: false,
            submission_thread_cpu: None,
            kernel_threads_every: 0,
            ..job.engine.clone()
        };
        jobs.push(job.name.clone());
    }
    request.warnings.push(Warning::EngineBlocked {
        jobs,
        why: advice.what.clone(),
    });
}

#[cfg(test)]
mod tests;
