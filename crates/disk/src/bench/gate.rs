//! What goes on on a disk that the model knows nothing of: faults.
//!
//! Data in: faults at their times. Data out: whether the disk is there, what fails, what is slower. It must not know who asks.

use crate::fault::{ErrorRule, Fault};
use fathom_core::backend::Op;
use fathom_core::rng::split_mix;
use fathom_core::units::Nanos;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state of a disk. Who holds it shared moves data and answers; who changes it holds it alone.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) attached: bool,
    /// Raised when the disk goes: what was under way then fails.
    pub(super) epoch: u64,
    /// Nothing is completed before.
    pub(super) stall_until_ns: u64,
    /// Thousandths of its time that an I/O takes, and until when.
    slow: Option<(u64, u64)>,
    /// Until when, and how many were drawn.
    errors: Vec<(ErrorRule, u64, AtomicU64)>,
    ignore_flushes_until_ns: u64,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            attached: true,
            epoch: 0,
            stall_until_ns: 0,
            slow: None,
            errors: Vec::new(),
            ignore_flushes_until_ns: 0,
        }
    }
}

impl Gate {
    /// The disk goes.
    pub(super) fn detach(&mut self) {
        self.attached = false;
        self.epoch += 1;
    }

    /// Whether an I/O fails.
    pub(super) fn fails(&self, now_ns: u64, op: Op, offset_bytes: u64, len_bytes: u64) -> bool {
        let fails = |(rule, until_ns, drawn): &(ErrorRule, u64, AtomicU64)| {
            if now_ns >= *until_ns || !rule.matches(op, offset_bytes, len_bytes) {
                return false;
            }
            let draw = split_mix(rule.seed ^ split_mix(drawn.fetch_add(1, Ordering::Relaxed)));
            draw % 1_000_000 < u64::from(rule.per_million)
        };
        self.errors.iter().any(fails)
    }

    /// When an I/O is complete that the model has complete at `due_ns`.
    pub(super) fn slowed(&self, arrived_ns: u64, due_ns: u64) -> u64 {
        match self.slow {
            Some((permille, until_ns)) if arrived_ns < until_ns => {
                let took = u128::from(due_ns.saturating_sub(arrived_ns)) * u128::from(permille) / 1000;
                arrived_ns.saturating_add(u64::try_from(took).unwrap_or(u64::MAX))
            }
            _ => due_ns.max(arrived_ns),
        }
    }

    pub(super) fn ignores_flushes(&self, now_ns: u64) -> bool {
        now_ns < self.ignore_flushes_until_ns
    }

    /// Applies a fault that does not change the data; what it does in words.
    pub(super) fn apply(&mut self, now_ns: u64, fault: &Fault) -> String {
        let until = |time: Option<u64>| time.map_or(u64::MAX, |time| now_ns.saturating_add(time));
        match fault {
            Fault::Stall { for_ns } => {
                self.stall_until_ns = self.stall_until_ns.max(now_ns.saturating_add(*for_ns));
            }
            Fault::Slow { permille, for_ns } => self.slow = Some((*permille, until(*for_ns))),
            Fault::Errors { rule, for_ns } => {
                self.errors.retain(|(_, until_ns, _)| *until_ns > now_ns);
                self.errors.push((*rule, until(*for_ns), AtomicU64::new(0)));
            }
            Fault::IgnoreFlushes { for_ns } => self.ignore_flushes_until_ns = until(*for_ns),
            Fault::Detach | Fault::PowerCut { .. } => self.detach(),
            Fault::Attach => self.attached = true,
            Fault::Heal => {
                self.stall_until_ns = 0;
                self.slow = None;
                self.errors.clear();
                self.ignore_flushes_until_ns = 0;
            }
        }
        let going_on = self.in_words(now_ns);
        match (self.attached, going_on.is_empty()) {
            (false, _) => String::from("detached"),
            (true, true) => String::from("attached, nothing is wrong with it"),
            (true, false) => going_on.join(", "),
        }
    }

    /// What goes on for a time.
    pub(super) fn in_words(&self, now_ns: u64) -> Vec<String> {
        let left = |until_ns: u64| match until_ns {
            u64::MAX => String::from(" until it is healed"),
            _ => format!(" for {} more", Nanos(until_ns - now_ns)),
        };
        let mut words = Vec::new();
        if self.stall_until_ns > now_ns {
            words.push(format!("stalled{}", left(self.stall_until_ns)));
        }
        if let Some((permille, until_ns)) = self.slow.filter(|(_, until_ns)| *until_ns > now_ns) {
            words.push(format!(
                "slower by {}{}",
                permille as f64 / 1000.0,
                left(until_ns)
            ));
        }
        for (rule, until_ns, _) in self.errors.iter().filter(|(_, until_ns, _)| *until_ns > now_ns) {
            let share = f64::from(rule.per_million) / 1e4;
            let what = rule.op.map_or("I/Os", |op| match op {
                Op::Read => "reads",
                Op::Write => "writes",
                Op::Trim => "trims",
                Op::Sync | Op::DataSync => "flushes",
            });
            let place = rule
                .range_bytes
                .map_or(String::new(), |(from, len)| format!(" at {from}+{len}"));
            words.push(format!("{share} % of {what}{place} fail{}", left(*until_ns)));
        }
        if self.ignores_flushes(now_ns) {
            words.push(format!(
                "flushes are ignored{}",
                left(self.ignore_flushes_until_ns)
            ));
        }
        words
    }
}
