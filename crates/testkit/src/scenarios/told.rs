//! What the recorder would have told of CPUs: the load's stays throughout, others' around slow I/Os, and who had each CPU a
//! hundredth of a second at a time.
//!
//! Data in: all stays. Data out: rows. It must not know what was done to the machine.

use super::Window;
use super::load::RING_BEFORE_NS;
use super::machine::MS;
use fathom_core::record::{BlockedOn, Comm, CpuShare, IoRecord, SchedSlice, TaskState};
use fathom_core::rng::Rng;
use std::collections::HashMap;

/// How long a slot of the shares is, up to which those that one task had are joined, and how many tasks are named.
const SLOT_NS: u64 = 10 * MS;
const JOINED_NS: u64 = 1_000 * MS;
const NAMED: usize = 8;
/// A task that is woken is on its way to an idle CPU for as long.
const ON_ITS_WAY_NS: u64 = MS;

/// What a machine tells, as machines differ in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// The stacks of the load's threads at the moment that they leave a CPU.
    pub stacks: bool,
    /// What the kernel does and on whose behalf.
    pub kernel: bool,
    /// A CPU of which it is not told when it goes from idle to a task.
    pub blind: Option<u32>,
}

impl Told {
    pub(super) fn new(seed: u64, cpus: usize) -> Self {
        let mut rng = Rng::stream(seed, 99);
        Self {
            stacks: rng.below(4) != 0,
            kernel: rng.below(4) != 0,
            blind: (rng.below(3) == 0).then(|| rng.below(cpus as u64) as u32),
        }
    }
}

/// Who had a CPU from when to when; `None`: that is not known.
type Stretch = (Option<(u32, Comm)>, u64, u64);

/// The stays as the recorder tells them, in the order of their ends, and who had each CPU from `from_ns` to `to_ns`.
pub(super) fn cpus(
    mut stays: Vec<SchedSlice>,
    told: Told,
    cpus: usize,
    (from_ns, to_ns): (u64, u64),
) -> (Vec<SchedSlice>, Vec<CpuShare>) {
    stays.sort_by_key(|stay| stay.end_ns);
    if !told.stacks {
        for stay in stays.iter_mut().filter(|stay| stay.state != TaskState::Stopped) {
            stay.blocked_on = BlockedOn::Unknown;
        }
    }
    let mut shares = Vec::new();
    for cpu in 0..cpus as u32 {
        let stretches = stretches(&mut stays, cpu, told, (from_ns, to_ns));
        shares.extend(of_cpu(cpu, &stretches, (from_ns, to_ns)));
    }
    shares.sort_by_key(|share| (share.end_ns, share.cpu));
    (stays, shares)
}

/// Who had a CPU when. On a blind one a stay that follows idle time begins when its task was sent there; one that was kept
/// from it is only known to have ended.
fn stretches(stays: &mut [SchedSlice], cpu: u32, told: Told, (from_ns, to_ns): (u64, u64)) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut at_ns = from_ns;
    let mut left: HashMap<u32, TaskState> = HashMap::new();
    for stay in stays.iter_mut() {
        let woken = left.insert(stay.tid, stay.state) != Some(TaskState::Preempted);
        if stay.cpu != cpu {
            continue;
        }
        let who = Some((stay.tid, stay.comm));
        if told.blind == Some(cpu) && stay.start_ns > at_ns {
            let sent_ns = stay.ready_ns.unwrap_or(stay.start_ns);
            let way_ns = if woken { ON_ITS_WAY_NS } else { 0 };
            if sent_ns + way_ns <= at_ns {
                stretches.push((None, at_ns, stay.end_ns));
                at_ns = stay.end_ns;
                (stay.start_ns, stay.ready_ns) = (stay.end_ns, None);
                continue;
            }
            stay.start_ns = sent_ns.max(at_ns);
        }
        stretches.push((Some((0, Comm::NONE)), at_ns, stay.start_ns));
        stretches.push((who, stay.start_ns, stay.end_ns));
        at_ns = stay.end_ns;
    }
    stretches.push((Some((0, Comm::NONE)), at_ns, to_ns));
    stretches.retain(|(_, from_ns, to_ns)| from_ns < to_ns);
    stretches
}

fn of_cpu(cpu: u32, stretches: &[Stretch], (from_ns, to_ns): (u64, u64)) -> Vec<CpuShare> {
    let mut shares: Vec<CpuShare> = Vec::new();
    let mut first = 0;
    let mut begin_ns = from_ns;
    while begin_ns < to_ns {
        let end_ns = (begin_ns + SLOT_NS).min(to_ns);
        while stretches.get(first).is_some_and(|stretch| stretch.2 <= begin_ns) {
            first += 1;
        }
        let mut had: Vec<(u32, Comm, u64)> = Vec::new();
        for (who, from, to) in stretches[first..].iter().take_while(|stretch| stretch.1 < end_ns) {
            let ns = (*to).min(end_ns) - (*from).max(begin_ns);
            let Some((tid, comm)) = *who else { continue };
            match had.iter_mut().find(|had| had.0 == tid) {
                Some(known) => known.2 += ns,
                None => had.push((tid, comm, ns)),
            }
        }
        slot(cpu, (begin_ns, end_ns), had, &mut shares);
        begin_ns = end_ns;
    }
    shares
}

fn slot(
    cpu: u32,
    (begin_ns, end_ns): (u64, u64),
    mut had: Vec<(u32, Comm, u64)>,
    shares: &mut Vec<CpuShare>,
) {
    let duration_ns = end_ns - begin_ns;
    if let [(tid, _, ran_ns)] = had[..]
        && ran_ns == duration_ns
        && let Some(last) = shares.last_mut()
        && (last.tid, last.end_ns, last.ran_ns) == (tid, begin_ns, last.duration_ns)
        && last.duration_ns + duration_ns <= JOINED_NS
    {
        last.end_ns = end_ns;
        last.duration_ns += duration_ns;
        last.ran_ns += ran_ns;
        return;
    }
    had.sort_unstable_by_key(|&(tid, _, ns)| (std::cmp::Reverse(ns), tid));
    let rest_ns: u64 = had.iter().skip(NAMED).map(|had| had.2).sum();
    had.truncate(NAMED);
    had.push((CpuShare::OTHERS, Comm::default(), rest_ns));
    let there = had.into_iter().filter(|(_, _, ran_ns)| *ran_ns > 0);
    shares.extend(there.map(|(tid, comm, ran_ns)| CpuShare {
        end_ns,
        duration_ns,
        cpu,
        tid,
        comm,
        ran_ns,
    }));
}

/// The stays that the recorder would have kept: the load's, and those near I/Os that it took for slow.
pub(super) fn ring(stays: Vec<SchedSlice>, ios: &[IoRecord], load: &[u32]) -> Vec<SchedSlice> {
    let mut latencies: Vec<u64> = ios.iter().map(IoRecord::lat_ns).collect();
    latencies.sort_unstable();
    let median = latencies.get(latencies.len() / 2).copied().unwrap_or(0);
    let slow_ns = (median * 3).max(median + MS);
    let mut windows: Vec<Window> = ios
        .iter()
        .filter(|io| io.completed_ns - io.intended_ns.min(io.created_ns) >= slow_ns)
        .map(|io| Window {
            start_ns: io.intended_ns.min(io.created_ns) - RING_BEFORE_NS,
            end_ns: io.completed_ns + 5 * MS,
        })
        .collect();
    windows.sort_unstable();
    let mut apart: Vec<Window> = Vec::new();
    for window in windows {
        match apart.last_mut() {
            Some(last) if window.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(window.end_ns),
            _ => apart.push(window),
        }
    }
    let near = |stay: &SchedSlice| {
        let after = apart.partition_point(|window| window.end_ns < stay.start_ns);
        apart
            .get(after)
            .is_some_and(|window| window.start_ns <= stay.end_ns)
    };
    stays
        .into_iter()
        .filter(|stay| load.contains(&stay.tid) || near(stay))
        .collect()
}
