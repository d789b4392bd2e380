//! Verdicts where the host had the slow I/Os most of the time, or where no block trace tells who had.

use super::super::super::answer::Cause;
use super::super::super::words::ratio;
use super::super::scene::Scene;
use super::signs::Signs;
use super::{Judged, MOST, missing_sched, percent, time};
use fathom_core::record::{BlockOp, Comm};
use fathom_core::workload::EngineKind;

/// Whether the load writes through the page cache.
pub(super) fn writes_buffered(scene: &Scene<'_>) -> bool {
    let jobs = scene
        .found
        .parts
        .iter()
        .filter_map(|part| scene.context.section(part)?.load);
    jobs.map(|load| load.job)
        .any(|job| job.writes() && (!job.direct || job.engine.kind == EngineKind::Mmap))
}

pub(super) fn judge(scene: &Scene<'_>, signs: &Signs) -> Judged {
    let [unsent, above, .., reap] = signs.shares;
    if above >= unsent.max(reap) {
        held_above(scene, signs)
    } else if signs.cpu.running >= MOST {
        let because = format!(
            "for {} % of the slow I/Os' time the load's own thread was busy on a CPU",
            percent(signs.cpu.running)
        );
        Judged::new(Cause::LoadItself, 0.5 + 0.4 * signs.cpu.running, because)
    } else if unsent >= reap && signs.load.surge {
        let because = format!(
            "more of its I/Os were due than it can have in flight: {:.0} a second, {:.0} before",
            signs.load.due_during, signs.load.due_before
        );
        Judged::new(Cause::LoadItself, 0.75, because)
    } else {
        let because = format!(
            "{} % of the slow I/Os' time went by before the load sent them or after the device had done them",
            percent(unsent + reap)
        );
        Judged::unknown(because, missing_sched(signs).into_iter().collect())
    }
}

/// A bound worker of the kernel, as a cgroup's throttle uses it to send what it let go: `kworker/1:0`, not `kworker/u8:0`.
fn is_bound_worker(comm: &Comm) -> bool {
    let name = comm.as_bytes();
    let number = name.strip_prefix(b"kworker/").and_then(|rest| rest.first());
    number.is_some_and(u8::is_ascii_digit)
}

fn held_above(scene: &Scene<'_>, signs: &Signs) -> Judged {
    let held = format!(
        "{} % of the slow I/Os' time, {} on average, went by before they came to the block layer",
        percent(signs.shares[1]),
        time(signs.mean_ns * signs.shares[1])
    );
    let limits = scene
        .context
        .scanned
        .counters
        .as_ref()
        .map_or(0, |counters| counters.cgroup_limits.len());
    let released = released_by_worker(scene);
    if released >= MOST || (limits > 0 && !writes_buffered(scene)) {
        let confidence = match (released >= MOST, limits > 0) {
            (true, true) => 0.97,
            (true, false) => 0.8,
            _ => 0.75,
        };
        let mut judged = Judged::new(Cause::CgroupThrottle, confidence, held);
        if limits > 0 {
            judged
                .because
                .push(String::from("a limit of the cgroup on I/O is in force"));
        }
        if released >= MOST {
            judged.because.push(format!(
                "{} % of the load's requests were sent by a bound worker of the kernel (kworker/N:M), as a cgroup's throttle \
                 does when it lets I/O go",
                percent(released)
            ));
        }
        return judged;
    }
    if signs.behind_journal >= MOST {
        let because = format!(
            "for {} % of that time the journal or a flush was being written",
            percent(signs.behind_journal)
        );
        let mut judged = Judged::new(Cause::FlushOrJournal, 0.5 + 0.4 * signs.behind_journal, held);
        judged.because.push(because);
        return judged;
    }
    own_pages(scene, signs, &held).unwrap_or_else(|| {
        let mut missing: Vec<String> = missing_sched(signs).into_iter().collect();
        if scene.context.scanned.counters.is_none() {
            missing.push(String::from("the limits of the cgroup (stream `counters`)"));
        }
        if missing.is_empty() {
            missing.push(String::from(
                "what the system call waited for: a lock of the file system, memory, or a throttle that shows no limit",
            ));
        }
        Judged::unknown(held, missing)
    })
}

/// Writers of dirty pages are held up until some are written back.
fn own_pages(scene: &Scene<'_>, signs: &Signs, held: &str) -> Option<Judged> {
    let written = signs
        .users
        .iter()
        .filter(|user| user.kernel && user.process.comm.as_bytes().starts_with(b"kworker"))
        .map(|user| user.present)
        .fold(0.0, f64::max);
    (writes_buffered(scene) && written >= MOST).then(|| {
        let mut judged = Judged::new(Cause::LoadItself, 0.55 + 0.35 * written, held.to_owned());
        judged.because.push(format!(
            "the load writes through the page cache, and the kernel wrote pages back for {} % of the time",
            percent(written)
        ));
        judged
    })
}

/// The share of requests of the load's kind and size, over the whole window, that a bound worker sent.
fn released_by_worker(scene: &Scene<'_>) -> f64 {
    let sizes: Vec<u32> = scene.slow.iter().take(64).map(|io| io.len_bytes).collect();
    let like = scene.requests.iter().filter(|request| {
        request.op != BlockOp::Flush
            && sizes.contains(&request.len_bytes)
            && scene.spike.holds(request.completed_ns)
    });
    let (mut released, mut all) = (0.0, 0.0);
    for request in like {
        all += 1.0;
        released += f64::from(u8::from(is_bound_worker(&request.comm)));
    }
    ratio(released, all)
}

/// Without requests: the counters of the disk may still tell.
pub(super) fn without_trace(scene: &Scene<'_>, signs: &Signs) -> Judged {
    if scene.context.facts.modelled() {
        let because = String::from("beside the modelled disk there is nothing that could hold I/Os up");
        return Judged::new(Cause::Device, 0.9, because);
    }
    let mut missing = vec![String::from(
        "the requests of the device (stream `block`): how the latency divides between kernel and device",
    )];
    missing.extend(missing_sched(signs));
    if let Some(share) = counted_share(scene) {
        let because = format!(
            "the disk's counters account for {} % of the slow I/Os' time",
            percent(share.min(1.0))
        );
        if share >= MOST {
            let mut judged = Judged::new(Cause::Device, 0.5 + 0.15 * share.min(1.0), because);
            judged.missing = missing;
            return judged;
        }
        return Judged::unknown(because, missing);
    }
    Judged::unknown(
        String::from("neither the device's requests nor its counters were recorded around it"),
        missing,
    )
}

/// The time in flight that the disks counted in the spike's seconds beyond that of the seconds before, as part of the slow
/// I/Os' time.
fn counted_share(scene: &Scene<'_>) -> Option<f64> {
    let section = scene
        .found
        .parts
        .iter()
        .find_map(|part| scene.context.section(part))?;
    let timeline = section.timeline;
    let (from, to) = (
        timeline.number_of(scene.spike.start_ns),
        timeline.number_of(scene.spike.end_ns),
    );
    let sum = |from: u64, to: u64| -> (f64, f64) {
        let seconds = section.disks.iter().flat_map(|disk| disk.range(from..=to));
        seconds.fold((0.0, 0.0), |(n, time), (_, second)| {
            (n + 1.0, time + f64::from(second.weighted))
        })
    };
    let (n, during) = sum(from, to + 1);
    let (n_before, before) = sum(from.saturating_sub(10), from.saturating_sub(1));
    if n == 0.0 || n_before == 0.0 {
        return None;
    }
    let usual = before / n_before * n;
    let slow_s: f64 = scene.slow.iter().map(|io| io.latency_ns() as f64 / 1e9).sum();
    (slow_s > 0.0).then(|| ((during - usual) / slow_s).max(0.0))
}
