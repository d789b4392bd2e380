//! The worker in virtual time.

mod account;
mod cooldown;
mod errors;
mod pace;
mod stop;
mod verify;
mod walks;

use crate::testing::{Answer, Sim};
use fathom_core::backend::Request;
use fathom_core::units::{MonoTime, Nanos};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const BLOCK: u64 = 4096;

/// An I/O that moves all it should in so many nanoseconds.
fn takes(ns: u64) -> impl FnMut(&Request, MonoTime) -> Answer {
    move |request, _| Answer {
        slat: Nanos(0),
        clat: Nanos(ns),
        outcome: Ok(request.len),
    }
}

/// A disk with a fixed latency under `plan`, to its end.
fn run_with(plan: crate::worker::WorkerPlan, latency_ns: u64) -> crate::testing::Run {
    Sim::new(plan, takes(latency_ns)).run()
}
