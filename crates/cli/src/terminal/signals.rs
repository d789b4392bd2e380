//! Ctrl-C: the first ends the run with the results so far, the second ends the program.
//!
//! Data out: a flag that the engine looks at, a bell for those who sleep, which signal it was for those who pass it on. It must not know what is under way.

use crate::exit::Exit;
use anyhow::Context;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Installs the handlers; the flag is set by the first SIGINT, SIGTERM or SIGHUP.
pub(crate) fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let install = || -> std::io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            // Actions run in the order of their registration: this one first, so that it sees the flag as the signals
            // before left it.
            flag::register_conditional_shutdown(
                signal,
                i32::from(Exit::Interrupted.code()),
                Arc::clone(&stop),
            )?;
            flag::register(signal, Arc::clone(&stop))?;
        }
        // A connection that is lost says so more than once: the shell does, and the kernel when the shell has ended.
        if !hangup_is_ignored() {
            flag::register(SIGHUP, Arc::clone(&stop))?;
        }
        Ok(())
    };
    install().context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

/// The number of the last SIGINT or SIGTERM; 0: none came. Install [`stop_flag`] first.
///
/// # Errors
/// No handler can be installed.
pub(crate) fn caught() -> anyhow::Result<Arc<AtomicUsize>> {
    let caught = Arc::new(AtomicUsize::new(0));
    for signal in [SIGINT, SIGTERM] {
        flag::register_usize(signal, Arc::clone(&caught), signal.unsigned_abs() as usize)
            .context("cannot listen for Ctrl-C")?;
    }
    Ok(caught)
}

/// Set by SIGUSR1, which asks for a report in between.
///
/// # Errors
/// No handler can be installed.
pub(crate) fn report_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&asked)).context("cannot listen for SIGUSR1")?;
    Ok(asked)
}

/// Wakes who waits for nothing but the time and Ctrl-C: looking for a flag ten times a second costs more than it seems.
#[derive(Debug)]
pub(crate) struct Bell(UnixStream);

/// Tells those who wait for a child that it may have ended, and which signal came.
#[derive(Debug)]
pub(crate) struct Watchman {
    bell: Bell,
    caught: Arc<AtomicUsize>,
}

impl Watchman {
    /// Installs it. Install [`stop_flag`] first.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let install = || -> std::io::Result<Self> {
            let caught = Arc::new(AtomicUsize::new(0));
            let hangup = (!hangup_is_ignored()).then_some(SIGHUP);
            for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
                // The numbers of signals are small and positive.
                flag::register_usize(signal, Arc::clone(&caught), signal.unsigned_abs() as usize)?;
            }
            let (hears, rings) = UnixStream::pair()?;
            for signal in [SIGCHLD, SIGINT, SIGTERM].into_iter().chain(hangup) {
                pipe::register(signal, rings.try_clone()?)?;
            }
            Ok(Self {
                bell: Bell(hears),
                caught,
            })
        };
        install().context("cannot listen for Ctrl-C")
    }

    /// Sleeps for `time` (not zero), or until a child ended or a signal came; the signal, once.
    ///
    /// # Errors
    /// The system does not wait.
    pub(crate) fn sleep(&mut self, time: Duration) -> std::io::Result<Option<i32>> {
        self.bell.sleep(time)?;
        let caught = self.caught.swap(0, Ordering::Relaxed);
        Ok((caught != 0).then_some(caught as i32))
    }
}

/// Installs the bell; it rings at each signal that ends a run. Install [`stop_flag`] first, so that the flag is set by then.
pub(crate) fn bell() -> anyhow::Result<Bell> {
    let ring = || -> std::io::Result<Bell> {
        let (hears, rings) = UnixStream::pair()?;
        let hangup = (!hangup_is_ignored()).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            pipe::register(signal, rings.try_clone()?)?;
        }
        Ok(Bell(hears))
    };
    ring().context("cannot listen for Ctrl-C")
}

/// Whether the program was started so that it outlives its connection: under `nohup`.
fn hangup_is_ignored() -> bool {
    // Asked once: afterwards there is a handler.
    static IGNORED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IGNORED.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        ignores(&status, SIGHUP)
    })
}

/// What the status of a process says: bit `n` − 1 of the line `SigIgn` is signal `n`.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

impl Bell {
    /// Sleeps for `time` (not zero), or until it rings.
    ///
    /// # Errors
    /// The system does not wait.
    pub(crate) fn sleep(&mut self, time: Duration) -> std::io::Result<()> {
        self.0.set_read_timeout(Some(time))?;
        match self.0.read_exact(&mut [0]) {
            Ok(()) => Ok(()),
            Err(error) => match error.kind() {
                // The time is over.
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(()),
                _ => Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests;
