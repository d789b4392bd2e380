//! The line of runs under way on several servers: theirs together, as fio's client draws it.
//!
//! Data in: what servers say of how far they are. Data out: one line, drawn over the last one. It must not print.

use crate::commands::fio::live::shows_eta;
use crate::commands::fio::out::Out;
use crate::commands::fio::settings::Outputs;
use fathom_core::units::Nanos;
use fathom_remote::Progress;
use fathom_report::fio::eta::{Eta, Standing};

/// How far all servers are.
#[derive(Debug)]
pub(super) struct Together {
    wanted: bool,
    interval: Nanos,
    /// By their numbers; `None`: it has said nothing yet, or has ended.
    heard: Vec<Option<Progress>>,
    next: Nanos,
    /// The length of what was drawn last; 0: nothing is.
    drawn: usize,
}

impl Together {
    /// Of so many servers.
    pub(super) fn new(outputs: &Outputs, out: &Out, servers: usize) -> Self {
        Self::drawn_every(outputs.eta_interval, shows_eta(outputs, out), servers)
    }

    fn drawn_every(interval: Nanos, wanted: bool, servers: usize) -> Self {
        Self {
            wanted,
            interval,
            heard: vec![None; servers],
            next: Nanos::ZERO,
            drawn: 0,
        }
    }

    /// A server has said how far it is. What is to be drawn, if anything.
    pub(super) fn take(&mut self, server: usize, progress: &Progress) -> Option<String> {
        if let Some(place) = self.heard.get_mut(server) {
            *place = Some(progress.clone());
        }
        let elapsed = Nanos(progress.elapsed_ns);
        if !self.wanted || elapsed < self.next {
            return None;
        }
        self.next = elapsed + self.interval;
        let line = self.eta().line();
        // Blanks hide what the last line had more.
        let padded = format!("{line:<width$}\r", width = self.drawn);
        self.drawn = line.len();
        Some(padded)
    }

    /// A server has ended.
    pub(super) fn ended(&mut self, server: usize) {
        if let Some(place) = self.heard.get_mut(server) {
            *place = None;
        }
    }

    /// What ends a line that was drawn; empty: none was.
    pub(super) fn end_drawn(&mut self) -> &'static str {
        if std::mem::take(&mut self.drawn) > 0 {
            "\n"
        } else {
            ""
        }
    }

    fn eta(&self) -> Eta {
        let mut all = Eta::default();
        let mut fractions = Vec::new();
        for progress in self.heard.iter().flatten() {
            all.add(&eta_of(progress));
            fractions.push(progress.fraction);
        }
        let known: Option<Vec<f64>> = fractions.into_iter().collect();
        all.fraction = known.map(|all| all.iter().sum::<f64>() / all.len().max(1) as f64);
        all
    }
}

fn eta_of(progress: &Progress) -> Eta {
    let left = |fraction: f64| (progress.elapsed_ns as f64 / 1e9 * (1.0 / fraction - 1.0)) as u64;
    Eta {
        standing: progress.letters.chars().map(Standing::of_letter).collect(),
        running: progress.running,
        files: progress.files,
        elapsed_s: progress.elapsed_ns / 1_000_000_000,
        fraction: progress.fraction,
        left_s: progress.fraction.filter(|&fraction| fraction > 0.0).map(left),
        bytes: progress.bytes,
        ios: progress.ios,
    }
}

#[cfg(test)]
mod tests;
