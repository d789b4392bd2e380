//! Guards what is written to while a load runs.
//!
//! Data in: the permits of a run, ten times a second. Data out: marks that stay true, the end of a run whose target somebody
//! else began to use, and warnings of what is not as it was to be left. It must not decide what may be written to.

use crate::permit::Permitted;
use fathom_core::run::Warning;
use fathom_door::Permits;
use fathom_engine::run::Results;
use fathom_observe::SystemRoot;
use fathom_observe::safety::{Refusal, Watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Guards the targets of one run.
pub(crate) struct Guard {
    permits: Arc<Permits>,
    watch: Watch,
    stop: Arc<AtomicBool>,
    /// What was set up on a target, and ended the run.
    taken: Option<Refusal>,
}

impl Guard {
    /// Of what was permitted; `stop` ends the run.
    pub(crate) fn new(permitted: &Permitted, system: &SystemRoot, stop: &Arc<AtomicBool>) -> Self {
        Self {
            permits: Arc::clone(&permitted.permits),
            watch: permitted.watch(system),
            stop: Arc::clone(stop),
            taken: None,
        }
    }

    /// Looks, where it is time to: once a second.
    pub(crate) fn look(&mut self) {
        self.permits.prolong();
        if self.taken.is_none()
            && let Some(taken) = self.watch.look()
        {
            self.stop.store(true, Ordering::Relaxed);
            self.taken = Some(taken);
        }
    }

    /// The load has ended: marks what was written to as it is now, and says what ended it, and what is not as it was to
    /// be left.
    pub(crate) fn end(self, results: &Results) -> Vec<Warning> {
        let unsealed = self.permits.seal().into_iter().map(|(path, error)| {
            let path = path.display();
            format!(
                "{path} could not be marked as it is now: the next run that writes to it needs --allow-overwrite {path}: \
                 {error}"
            )
        });
        let unremoved = results.unremoved.iter().map(|error| format!("unlink: {error}"));
        let left = unsealed.chain(unremoved).map(|detail| Warning::Left { detail });
        let taken = self.taken.map(|refusal| Warning::TargetTaken {
            detail: refusal.to_string(),
        });
        left.chain(taken).collect()
    }
}
