//! What a thread of the load did, moment by moment.
//!
//! Data in: its stays on CPUs. Data out: a line of spans without gaps: it ran, stood ready, or waited for something. It must
//! not know why that matters.

use fathom_core::record::{BlockedOn, Comm, SchedSlice, TaskState};
use std::collections::HashMap;

/// What a thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Running {
        cpu: u32,
    },
    /// It stood ready for a CPU and had none.
    Ready {
        cpu: u32,
    },
    /// It waited, having left `cpu`, until `waker` let it go on; `None`: an interrupt, or that was not seen.
    Waiting {
        cpu: u32,
        on: BlockedOn,
        waker: Option<(u32, Comm)>,
    },
}

/// A span of one thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub from_ns: u64,
    pub to_ns: u64,
    pub doing: Doing,
}

/// The lines of all threads of interest, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Threads(HashMap<u32, Vec<Span>>);

impl Threads {
    /// Of stays (in the order of their ends) of the tasks for which `is_own` says so. `first_sign` gives the first moment
    /// between two at which a task was seen to do something: where a stay began is not always known.
    pub(super) fn new(
        slices: &[SchedSlice],
        is_own: impl Fn(&SchedSlice) -> bool,
        first_sign: impl Fn(u32, u64, u64) -> Option<u64>,
    ) -> Self {
        let mut stays: HashMap<u32, Vec<&SchedSlice>> = HashMap::new();
        for slice in slices.iter().filter(|slice| is_own(slice)) {
            stays.entry(slice.tid).or_default().push(slice);
        }
        let lines = stays.into_iter().map(|(tid, mut stays)| {
            stays.sort_by_key(|stay| stay.start_ns);
            let sign = |from_ns, to_ns| first_sign(tid, from_ns, to_ns);
            (tid, line(&stays, sign))
        });
        Self(lines.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn tids(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    /// What a thread did in a span of time, cut to it; nothing of what was not seen.
    pub(super) fn within(&self, tid: u32, from_ns: u64, to_ns: u64) -> impl Iterator<Item = Span> {
        let line = self.0.get(&tid).map_or(&[][..], Vec::as_slice);
        let first = line.partition_point(|span| span.to_ns <= from_ns);
        line[first..]
            .iter()
            .take_while(move |span| span.from_ns < to_ns)
            .map(move |span| Span {
                from_ns: span.from_ns.max(from_ns),
                to_ns: span.to_ns.min(to_ns),
                ..*span
            })
            .filter(|span| span.from_ns < span.to_ns)
    }
}

fn line(stays: &[&SchedSlice], first_sign: impl Fn(u64, u64) -> Option<u64>) -> Vec<Span> {
    let mut line: Vec<Span> = Vec::with_capacity(stays.len() * 2);
    let mut push = |from_ns: u64, to_ns: u64, doing: Doing| {
        let from_ns = line.last().map_or(from_ns, |last| from_ns.max(last.to_ns));
        if from_ns < to_ns {
            line.push(Span {
                from_ns,
                to_ns,
                doing,
            });
        }
    };
    let mut left: Option<&SchedSlice> = None;
    for stay in stays {
        let left_ns = left.map(|left| left.end_ns);
        let sign_ns = left_ns.filter(|_| begin_unknown(stay));
        let sign_ns = sign_ns.and_then(|left_ns| first_sign(left_ns + 1, stay.end_ns));
        let start_ns = sign_ns.unwrap_or(stay.start_ns);
        let preempted = left.is_some_and(|left| left.state == TaskState::Preempted);
        let ready_ns = stay.ready_ns.or(left_ns.filter(|_| preempted));
        let ready_ns = ready_ns.unwrap_or(start_ns).min(start_ns);
        if let Some(left) = left {
            let on = waits_for(left);
            let waker = (stay.waker_tid != 0).then_some((stay.waker_tid, stay.waker_comm));
            // A quota leaves its tasks ready by name: none of that is a wait for a CPU.
            let until_ns = if on == BlockedOn::Quota {
                start_ns
            } else {
                ready_ns
            };
            let cpu = left.cpu;
            push(
                left.end_ns,
                until_ns.max(left.end_ns),
                Doing::Waiting { cpu, on, waker },
            );
        }
        push(ready_ns, start_ns, Doing::Ready { cpu: stay.cpu });
        push(start_ns, stay.end_ns, Doing::Running { cpu: stay.cpu });
        left = Some(stay);
    }
    line
}

/// One of which only the end is known has no length.
pub(super) fn begin_unknown(stay: &SchedSlice) -> bool {
    stay.start_ns == stay.end_ns && stay.ready_ns.is_none()
}

/// What a task waits for after a stay.
fn waits_for(left: &SchedSlice) -> BlockedOn {
    match (left.blocked_on, left.state) {
        (BlockedOn::Unknown, TaskState::Stopped) => BlockedOn::Stopped,
        (on, _) => on,
    }
}

#[cfg(test)]
mod tests;
