//! When CPUs, and the machine as a whole, did not run.
//!
//! Data in: what the timers of each CPU told. Data out: times. It must not know who was held up.

use crate::explain::spike::served::Busy;
use fathom_core::record::{KernelSpan, SpanKind};
use std::collections::{BTreeSet, HashMap};

/// When the machine did not run.
#[derive(Debug, Default)]
pub(super) struct Still {
    cpus: HashMap<u32, Busy>,
    /// All of them at once.
    pub whole: Busy,
}

impl Still {
    /// Of what the kernel's timers told. `cpus` are those that the machine has: where one of them is not known to have stood
    /// still, the machine did not.
    pub(super) fn of(kernel: &[KernelSpan], cpus: &BTreeSet<u32>) -> Self {
        let mut spans: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
        for span in kernel.iter().filter(|span| span.kind == SpanKind::Standstill) {
            if let Ok(cpu) = u32::try_from(span.about) {
                spans.entry(cpu).or_default().push((span.start_ns, span.end_ns));
            }
        }
        let stood: HashMap<u32, Busy> = spans
            .into_iter()
            .map(|(cpu, spans)| (cpu, Busy::of(spans)))
            .collect();
        let none = Busy::default();
        let mut each = cpus.iter().map(|cpu| stood.get(cpu).unwrap_or(&none));
        let whole = each.next().cloned().unwrap_or_default();
        let whole = each.fold(whole, |both, cpu| both.common(cpu));
        Self { cpus: stood, whole }
    }

    /// Those of one CPU within a time, cut to it.
    pub(super) fn of_cpu(&self, cpu: u32, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let spans = self.cpus.get(&cpu).into_iter();
        spans.flat_map(move |busy| busy.spans(from, to))
    }
}

#[cfg(test)]
mod tests;
