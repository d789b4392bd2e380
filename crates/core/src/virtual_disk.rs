//! What carries an I/O out in virtual time: the contract between the virtual loop and a modelled disk.
//!
//! Data in: I/Os at the moment of their creation, in the order of time. Data out: when each is complete. The model
//! implements it and the engine drives it; neither knows the other. It must not know how the model arrives at
//! its answers.

use crate::backend::Request;
use crate::record::{BlockRequest, CounterRow};
use crate::run::Counted;
use crate::units::{MonoTime, Nanos};

/// What a modelled machine has to know of one worker before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitter {
    /// Whether its I/O bypasses the page cache.
    pub direct: bool,
    /// Whether each write is on the medium before it is complete (`O_SYNC`, `O_DSYNC`).
    pub sync_writes: bool,
    /// Where each of its files begins on the volume, in bytes.
    pub file_base_bytes: Vec<u64>,
}

/// The answer to a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// When the system has it, which is also when the worker can go on.
    pub submitted: MonoTime,
    /// When it is complete; [`MonoTime::NEVER`]: not known yet, [`VirtualDisk::advance`] will say.
    pub completed: MonoTime,
}

/// What of its doings a modelled machine is to keep, beside its sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trace {
    /// Each request that the guest sends to its disk, for [`VirtualDisk::take_requests`].
    pub requests: bool,
    /// Counters as they stand at any moment, for [`VirtualDisk::counters`].
    pub counters: bool,
}

/// A burst credit, and what is left of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CreditLeft {
    /// Whose limit it lifts: `disk IOPS`, `VM uncached MB/s`, …
    pub limit: &'static str,
    /// In what it is counted: of a limit on IOPS I/O units, else bytes.
    pub counts: Counted,
    pub left: f64,
    /// What it holds when full.
    pub full: f64,
}

/// A disk and its machine in virtual time. Time only moves on: no call is about an earlier moment than one before.
pub trait VirtualDisk {
    /// The size of the volume, in bytes.
    fn capacity_bytes(&self) -> u64;

    /// How long a submission takes its worker, where it does not wait for the I/O itself.
    fn submission(&self) -> Nanos;

    /// Takes a worker in; its number is what [`Self::submit`] names. Workers are numbered from 0 in this order.
    fn attach(&mut self, submitter: Submitter);

    /// Takes one I/O of `worker` at `now`. `ticket` names it until it is complete.
    fn submit(&mut self, worker: u32, ticket: u32, request: &Request, now: MonoTime) -> Accepted;

    /// Whether, with the workers that it knows, it never does anything of itself: [`Self::next_event`] stays at never.
    fn is_passive(&self) -> bool {
        false
    }

    /// When the machine next does something of itself ([`MonoTime::NEVER`]: it has nothing to do).
    fn next_event(&self) -> MonoTime;

    /// Lets the machine do what it has to do up to `now`. Tickets whose end has become known are reported to
    /// `done(ticket, completed)`; `completed` is `now` or later.
    fn advance(&mut self, now: MonoTime, done: &mut dyn FnMut(u32, MonoTime));

    /// What it is to keep; said before the first I/O, or it keeps nothing.
    fn trace(&mut self, what: Trace) {
        let _ = what;
    }

    /// Moves to `out` the requests that were complete at `now` and were not taken before, in the order of their ends.
    /// `now` does not go back from call to call, nor from those of [`Self::counters`].
    fn take_requests(&mut self, now: MonoTime, out: &mut Vec<BlockRequest>) {
        let _ = (now, out);
    }

    /// Appends to `out` how the counters of its disk and of its page cache stood at `now`, under the names of Prometheus'
    /// node exporter.
    fn counters(&mut self, now: MonoTime, out: &mut Vec<CounterRow>) {
        let _ = (now, out);
    }
    /// Appends to `out` what was left of its burst credits at `now`.
    fn credit(&self, now: MonoTime, out: &mut Vec<CreditLeft>) {
        let _ = (now, out);
    }
}
