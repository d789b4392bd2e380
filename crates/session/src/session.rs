//! The way of a measurement, from a request to a finished record, in the order in which each step comes once:
//!
//! 1. [`Planned::new`](crate::Planned::new): the workload on its files, or its parts of a modelled disk ([`Machine`](crate::Machine));
//! 2. [`Machine::check`](crate::Machine::check): what cannot work here is refused with the sum or the option;
//! 3. [`Session::open`]: permission for all that is written to, or all refusals; devices are held from here on;
//! 4. [`crate::reserve_directory`]: an empty directory for the record;
//! 5. [`Session::lay_out`]: files are made and filled; the first step that touches anything;
//! 6. [`Session::measure`]: a look at machine and targets (`conditions`),
//! 7. the record is begun, as of a run under way (`recorder`, `streams`),
//! 8. the load runs (`engine`); its targets are guarded (`guard`), what stops it is noted (`stops`);
//! 9. counters and streams end, marks are renewed;
//! 10. the run is judged (`analysis`) and its record completed (`outcome`).
//!
//! Nothing before step 5 changes anything: an error there is a wrong request. An error behind it says what stays
//! ([`Touched`](crate::Touched)).

use crate::event::{Event, Observer};
use crate::layout;
use crate::permit::{self, Permitted, Refused};
use crate::request::How;
use fathom_engine::plan::Plan;
use fathom_observe::SystemRoot;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Requests that may be carried out, with the permission for what they write to: devices are held until it is dropped.
pub struct Session<'a> {
    pub(crate) system: &'a SystemRoot,
    pub(crate) how: &'a How,
    pub(crate) stop: &'a Arc<AtomicBool>,
    pub(crate) permitted: Permitted,
}

impl<'a> Session<'a> {
    /// Asks for permission for all that `plan` writes to; `stop` ends what is under way.
    ///
    /// # Errors
    /// [`Refused`]: every path that may not be written to, with the reason.
    pub fn open(
        system: &'a SystemRoot,
        how: &'a How,
        stop: &'a Arc<AtomicBool>,
        plan: &Plan,
        observer: &mut dyn Observer,
    ) -> Result<Self, Refused> {
        Ok(Self {
            system,
            how,
            stop,
            permitted: permit::permit(system, plan, how, observer)?,
        })
    }

    /// The refusals that [`Session::open`] would give.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn foresee(system: &SystemRoot, how: &How, plan: &Plan) -> Result<(), Refused> {
        permit::foresee(system, plan, how)
    }

    /// Makes the files of `plan` ready, and drops what of them is in memory. What was laid out, in words; `None`: stopped
    /// by the user.
    ///
    /// # Errors
    /// They cannot be made; [`Touched`](crate::Touched) where something was written.
    pub fn lay_out(
        &self,
        plan: &mut Plan,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Option<Vec<String>>> {
        let laid_out = layout::make_ready(plan, &self.permitted, observer, self.stop)?;
        let unmarked = self.permitted.unmarked();
        if laid_out.is_some() && !unmarked.is_empty() {
            observer.event(Event::Unmarked(&unmarked));
        }
        Ok(laid_out)
    }
}
