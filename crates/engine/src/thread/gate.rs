//! What the workers of a job wait at, so that all of them begin at once.

use fathom_core::units::MonoTime;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

/// Lets all workers of a job go at once, or sends them home.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
enum GateState {
    #[default]
    Shut,
    /// The run's epoch and the job's start.
    Open(MonoTime, MonoTime),
    /// The job will not start.
    Abandoned,
}

impl Gate {
    /// Opens it: the run's epoch and this phase's start.
    pub(crate) fn open(&self, epoch: MonoTime, start: MonoTime) {
        self.set(GateState::Open(epoch, start));
    }

    /// Sends home all who wait.
    pub(crate) fn abandon(&self) {
        self.set(GateState::Abandoned);
    }

    fn set(&self, state: GateState) {
        *self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = state;
        self.changed.notify_all();
    }

    /// Waits until it is open; who sets `stop` [abandons](Gate::abandon) it, too. `None` when the run was stopped or the job given up before.
    pub(super) fn wait(&self, stop: &AtomicBool) -> Option<(MonoTime, MonoTime)> {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        loop {
            match *state {
                GateState::Open(epoch, start) => return Some((epoch, start)),
                GateState::Abandoned => return None,
                GateState::Shut if stop.load(Ordering::Relaxed) => return None,
                GateState::Shut => {}
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}
