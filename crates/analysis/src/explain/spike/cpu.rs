//! Whether the load waited for a CPU, and who had it.
//!
//! Data in: stays on CPUs, slow I/Os. Data out: how much of the slow I/Os' time the load's threads stood ready to run and
//! did not, and which task had the CPU that they next ran on.

use super::super::answer::Process;
use super::super::evidence::Window;
use super::scene::{Scene, SlowIo};
use fathom_core::record::{SchedSlice, TaskState};
use std::collections::HashMap;

/// What is known of the load's waiting for a CPU.
#[derive(Debug, Clone, Default)]
pub(super) struct CpuWait {
    /// Whether stays of the load on CPUs were recorded around the spike at all.
    pub seen: bool,
    /// The share of the slow I/Os' time that their threads stood ready without a CPU.
    pub share: f64,
    /// The share of it that their threads had a CPU.
    pub running: f64,
    /// Who had the CPU meanwhile, as shares of that waiting, the most first. The load's own threads are among them.
    pub holders: Vec<(Process, f64)>,
}

/// A time in which a thread stood ready, or had a CPU.
#[derive(Debug, Clone, Copy)]
struct Span {
    cpu: u32,
    from_ns: u64,
    to_ns: u64,
}

/// One thread of the load: each list in the order of time, without overlaps.
#[derive(Debug, Clone, Default)]
struct Thread {
    waits: Vec<Span>,
    stays: Vec<Span>,
}

/// Those of `spans` that overlap a window.
fn overlapping(spans: &[Span], window: Window) -> impl Iterator<Item = &Span> {
    let first = spans.partition_point(|span| span.to_ns <= window.start_ns);
    spans[first..]
        .iter()
        .take_while(move |span| span.from_ns < window.end_ns)
}

fn overlap_ns(spans: &[Span], windows: &[Window]) -> f64 {
    let each = windows.iter().flat_map(|window| {
        overlapping(spans, *window).map(|span| window.overlap_ns(span.from_ns, span.to_ns))
    });
    each.sum::<u64>() as f64
}

/// What the slow I/Os' threads waited for CPUs.
pub(super) fn wait(scene: &Scene<'_>, slow: &[SlowIo]) -> CpuWait {
    let threads = threads(scene);
    if threads.is_empty() || slow.is_empty() {
        return CpuWait::default();
    }
    let by_cpu = by_cpu(scene.slices);
    let all: Vec<u32> = threads.keys().copied().collect();
    let (mut total_ns, mut waited_ns, mut running_ns) = (0.0, 0.0, 0.0);
    let mut held: HashMap<Process, f64> = HashMap::new();
    for io in slow {
        let io_ns = io.total_ns() as f64;
        total_ns += io_ns;
        let spans = host_spans(io);
        let known: Vec<u32> = io
            .worker
            .into_iter()
            .flat_map(|worker| scene.tasks_of(worker))
            .collect();
        let may_be = if known.is_empty() { &all } else { &known };
        // Of several threads that may be the one, that which waited longest.
        let waits = may_be.iter().filter_map(|tid| {
            let thread = threads.get(tid)?;
            Some((*tid, thread, overlap_ns(&thread.waits, &spans)))
        });
        let Some((tid, thread, ns)) = waits.max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.cmp(&a.0))) else {
            continue;
        };
        waited_ns += ns.min(io_ns);
        running_ns += overlap_ns(&thread.stays, &spans).min(io_ns);
        for span in &spans {
            for wait in overlapping(&thread.waits, *span) {
                let window = Window {
                    start_ns: wait.from_ns.max(span.start_ns),
                    end_ns: wait.to_ns.min(span.end_ns),
                };
                hold(&by_cpu, (tid, wait.cpu), window, &mut held);
            }
        }
    }
    let holders = by_name(held).into_iter();
    CpuWait {
        seen: true,
        share: waited_ns / f64::max(total_ns, 1.0),
        running: running_ns / f64::max(total_ns, 1.0),
        holders: holders
            .map(|(process, ns)| (process, ns / waited_ns.max(1.0)))
            .collect(),
    }
}

/// The times of an I/O in which its thread has something to do: before the device had it and after. Where no request is
/// known, all of it.
fn host_spans(io: &SlowIo) -> Vec<Window> {
    let span = |start_ns, end_ns| Window { start_ns, end_ns };
    match io.at_device {
        Some((_, done)) => {
            let queued = io.created_ns + io.parts[1];
            vec![span(io.due_ns, queued), span(done, io.completed_ns)]
        }
        None => vec![span(io.due_ns, io.completed_ns)],
    }
}

/// The load's threads that had a CPU around the spike.
fn threads(scene: &Scene<'_>) -> HashMap<u32, Thread> {
    let mut threads: HashMap<u32, Thread> = HashMap::new();
    let mut preempted: HashMap<u32, u64> = HashMap::new();
    let own = scene
        .slices
        .iter()
        .filter(|slice| scene.is_own(slice.tid, &slice.comm));
    for slice in own {
        let thread = threads.entry(slice.tid).or_default();
        // One that was made to leave stands ready from then on.
        let made_to_leave = preempted.remove(&slice.tid);
        if slice.state == TaskState::Preempted {
            preempted.insert(slice.tid, slice.end_ns);
        }
        let from_ns = slice.ready_ns.or(made_to_leave).unwrap_or(slice.start_ns);
        if from_ns < slice.start_ns {
            thread.waits.push(Span {
                cpu: slice.cpu,
                from_ns,
                to_ns: slice.start_ns,
            });
        }
        thread.stays.push(Span {
            cpu: slice.cpu,
            from_ns: slice.start_ns,
            to_ns: slice.end_ns,
        });
    }
    threads
}

/// The stays on each CPU, in the order of their ends.
fn by_cpu(slices: &[SchedSlice]) -> HashMap<u32, Vec<&SchedSlice>> {
    let mut by_cpu: HashMap<u32, Vec<&SchedSlice>> = HashMap::new();
    for slice in slices {
        by_cpu.entry(slice.cpu).or_default().push(slice);
    }
    by_cpu
}

/// Adds who had the CPU that a thread waited for.
fn hold(
    by_cpu: &HashMap<u32, Vec<&SchedSlice>>,
    (tid, cpu): (u32, u32),
    window: Window,
    held: &mut HashMap<Process, f64>,
) {
    let Some(slices) = by_cpu.get(&cpu) else { return };
    let first = slices.partition_point(|slice| slice.end_ns <= window.start_ns);
    let there = slices[first..]
        .iter()
        .take_while(|slice| slice.start_ns < window.end_ns);
    for slice in there.filter(|slice| slice.tid != tid) {
        let process = Process {
            pid: slice.tid,
            comm: slice.comm,
        };
        *held.entry(process).or_default() += window.overlap_ns(slice.start_ns, slice.end_ns) as f64;
    }
}

/// Threads of one name together, under the number of the one that had most; the most first.
fn by_name(held: HashMap<Process, f64>) -> Vec<(Process, f64)> {
    let order = |a: &(Process, f64), b: &(Process, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let mut all: Vec<(Process, f64)> = held.into_iter().filter(|(_, ns)| *ns > 0.0).collect();
    all.sort_by(order);
    let mut names: Vec<(Process, f64)> = Vec::new();
    for (process, ns) in all {
        match names.iter_mut().find(|(known, _)| known.comm == process.comm) {
            Some((_, sum)) => *sum += ns,
            None => names.push((process, ns)),
        }
    }
    names.sort_by(order);
    names
}
