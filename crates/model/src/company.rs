//! How I/Os in service slow each other down: not at all, by crowding, or because one thing handles them all.
//!
//! Data in: services, in the order of their beginnings. Data out: when each ends. It must not know limits: what waits for them is
//! not in service.

use crate::crowd::Crowd;
use crate::spec::{DiskSpec, HandlingSpec};
use fathom_core::backend::Op;

/// Those in service together.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "one a disk, and on the way of each modelled I/O: no pointer to follow"
)]
pub(crate) enum Company {
    /// They know nothing of each other.
    None,
    Crowd(Crowd),
    /// Beside what may crowd them.
    Handled(Box<Handled>),
}

/// I/Os that are handled one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Handled {
    spec: HandlingSpec,
    free_ns: u64,
    crowd: Option<Crowd>,
}

impl Company {
    pub(crate) fn new(spec: &DiskSpec) -> Self {
        let crowd = spec.crowding.map(Crowd::new);
        match (spec.handling, crowd) {
            (Some(spec), crowd) => Self::Handled(Box::new(Handled {
                spec,
                free_ns: 0,
                crowd,
            })),
            (None, Some(crowd)) => Self::Crowd(crowd),
            (None, None) => Self::None,
        }
    }

    /// When a service of `time_ns`, if it were alone, ends that may begin at `start_ns`.
    #[inline]
    pub(crate) fn end_ns(&mut self, start_ns: u64, (op, len): (Op, u32), time_ns: u64) -> u64 {
        match self {
            Self::None => start_ns + time_ns,
            Self::Crowd(crowd) => among(crowd, start_ns, time_ns),
            Self::Handled(handled) => handled.end_ns(start_ns, (op, len), time_ns),
        }
    }
}

#[inline]
fn among(crowd: &mut Crowd, start_ns: u64, time_ns: u64) -> u64 {
    let end_ns = start_ns + time_ns + crowd.extra_ns(start_ns);
    crowd.enter(end_ns);
    end_ns
}

impl Handled {
    #[inline(never)]
    fn end_ns(&mut self, start_ns: u64, (op, len): (Op, u32), time_ns: u64) -> u64 {
        let spec = &self.spec;
        let (each_ns, ns_per_kib) = if op == Op::Read {
            (spec.read_ns, spec.read_ns_per_kib)
        } else {
            (spec.write_ns, spec.write_ns_per_kib)
        };
        // A trim and a flush move nothing.
        let bytes = if op.index() < 2 { u64::from(len) } else { 0 };
        let start_ns = start_ns.max(self.free_ns);
        self.free_ns = start_ns + each_ns + bytes * ns_per_kib / 1024;
        match &mut self.crowd {
            None => start_ns + time_ns,
            Some(crowd) => among(crowd, start_ns, time_ns),
        }
    }
}
