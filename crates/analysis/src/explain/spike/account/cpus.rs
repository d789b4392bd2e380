//! Who had a CPU in a span of time.
//!
//! Data in: stays of tasks around slow I/Os, and what each task had of each CPU in hundredths of a second. Data out: the
//! holders of a span, idle included. It must not know who waited.

use crate::explain::answer::Process;
use fathom_core::record::{Comm, CpuShare, SchedSlice};
use std::collections::HashMap;

/// Of a span, stays must cover so much to be all that there was.
const COVERED: f64 = 0.9;

/// Who had a CPU for how long; `None`: nobody, it was idle.
pub(super) type Holders = Vec<(Option<Process>, f64)>;

#[derive(Debug, Default)]
pub(super) struct Cpus<'s> {
    stays: HashMap<u32, Vec<&'s SchedSlice>>,
    shares: HashMap<u32, Vec<&'s CpuShare>>,
}

impl<'s> Cpus<'s> {
    /// Both lists in the order of their ends.
    pub(super) fn new(slices: &'s [SchedSlice], shares: &'s [CpuShare]) -> Self {
        let mut cpus = Self::default();
        for slice in slices {
            cpus.stays.entry(slice.cpu).or_default().push(slice);
        }
        for share in shares {
            cpus.shares.entry(share.cpu).or_default().push(share);
        }
        cpus
    }

    /// Who had a CPU from `from_ns` to `to_ns`, but for `tid`, which waited for it. What was not seen is in nobody's share:
    /// the sum may be less than the span.
    pub(super) fn holders(&self, cpu: u32, tid: u32, from_ns: u64, to_ns: u64) -> Holders {
        let exact = self.by_stays(cpu, tid, from_ns, to_ns);
        let seen: f64 = exact.iter().map(|(_, ns)| ns).sum();
        if seen >= (to_ns - from_ns) as f64 * COVERED {
            return exact;
        }
        let by_shares = self.by_shares(cpu, tid, from_ns, to_ns);
        let all: f64 = by_shares.iter().map(|(_, ns)| ns).sum();
        if all > seen { by_shares } else { exact }
    }

    fn by_stays(&self, cpu: u32, tid: u32, from_ns: u64, to_ns: u64) -> Holders {
        let stays = self.stays.get(&cpu).map_or(&[][..], Vec::as_slice);
        let first = stays.partition_point(|stay| stay.end_ns <= from_ns);
        let there = stays[first..].iter().take_while(|stay| stay.start_ns < to_ns);
        let others = there.filter(|stay| stay.tid != tid);
        others
            .map(|stay| {
                let ns = stay.end_ns.min(to_ns) - stay.start_ns.max(from_ns);
                let process = Process {
                    pid: stay.tid,
                    comm: stay.comm,
                };
                (Some(process), ns as f64)
            })
            .collect()
    }

    /// The waiting task had none of it: what of a hundredth of a second lies in the span is divided among the others.
    fn by_shares(&self, cpu: u32, tid: u32, from_ns: u64, to_ns: u64) -> Holders {
        let shares = self.shares.get(&cpu).map_or(&[][..], Vec::as_slice);
        let first = shares.partition_point(|share| share.end_ns <= from_ns);
        let mut holders = Holders::new();
        let mut rest = &shares[first..];
        while let Some(share) = rest.first() {
            let start_ns = share.end_ns - share.duration_ns.min(share.end_ns);
            if start_ns >= to_ns {
                break;
            }
            let slot = rest.partition_point(|other| other.end_ns <= share.end_ns);
            let common = (share.end_ns.min(to_ns) - start_ns.max(from_ns)) as f64;
            let others = rest[..slot].iter().filter(|share| share.tid != tid);
            let all: f64 = others.clone().map(|share| share.ran_ns as f64).sum();
            holders.extend(others.map(|share| {
                let process = match share.tid {
                    CpuShare::OTHERS => Process {
                        pid: 0,
                        comm: Comm::from("others"),
                    },
                    pid => Process {
                        pid,
                        comm: share.comm,
                    },
                };
                let part = common * share.ran_ns as f64 / all.max(1.0);
                ((share.tid != 0).then_some(process), part)
            }));
            rest = &rest[slot..];
        }
        holders
    }
}

#[cfg(test)]
mod tests;
