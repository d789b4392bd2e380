//! Ctrl-C: the first ends the run with the results so far, the second ends the program.
//!
//! Data out: a flag that the engine looks at. It must not know what is under way.

use crate::exit::Exit;
use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Installs the handlers; the flag is set by the first SIGINT or SIGTERM.
pub(crate) fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Actions run in the order of their registration: this one first, so that it sees the flag as the signals
        // before left it.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("cannot listen for Ctrl-C")?;
    }
    Ok(stop)
}
