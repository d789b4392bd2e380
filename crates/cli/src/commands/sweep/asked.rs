//! What is asked of a sweep, whoever asks.

use crate::args::Settings;
use crate::target::Target;
use fathom_core::run::Environment;
use fathom_core::sweep::SweepPlan;
use fathom_session::Machine;
use fathom_store::Origin;
/// A sweep that is to be carried out: what, on what, and how.
pub(crate) struct Asked {
    pub plan: SweepPlan,
    /// The target in words.
    pub origin: Origin,
    pub target: Target,
    /// Where it runs.
    pub machine: Machine,
    /// This machine.
    pub environment: Environment,
    pub settings: Settings,
}
