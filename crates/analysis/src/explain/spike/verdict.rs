//! What caused a spike, and how sure that is.
//!
//! Data in: a spike with the rows around it. Data out: the answer. Where the slow I/Os spent most of their time decides
//! which causes come into question; each then needs evidence of its own. A process is named only if it held the CPU that
//! the load's thread stood ready for, or if what it had from the device explains what the load lacked.

mod above;
mod below;
mod signs;
mod stopped;

use super::super::answer::{Cause, Depths, Process, Spike, Verdict, WorstIo, in_words};
use super::super::words::{percent, time};
use super::Found;
use super::rows::Rows;
use super::scene::{Context, Scene, SlowIo};
use super::{cpu, memory, served};
use signs::Signs;

/// The share of the slow I/Os' time that one place must have had to be the place.
const MOST: f64 = 0.5;
/// The share from which on something took part.
const SOME: f64 = 0.2;

/// A cause with its evidence.
#[derive(Debug, Clone)]
struct Judged {
    cause: Cause,
    process: Option<Process>,
    confidence: f64,
    because: Vec<String>,
    missing: Vec<String>,
}

impl Judged {
    fn new(cause: Cause, confidence: f64, because: String) -> Self {
        Self {
            cause,
            process: None,
            confidence: confidence.clamp(0.0, 0.99),
            because: vec![because],
            missing: Vec::new(),
        }
    }

    fn by(mut self, process: Option<Process>) -> Self {
        self.process = process;
        self
    }

    fn unknown(because: String, missing: Vec<String>) -> Self {
        Self {
            missing,
            ..Self::new(Cause::Unknown, 0.0, because)
        }
    }
}

/// Explains a spike.
pub(super) fn spike(context: &Context<'_, '_>, found: &Found, rows: &Rows) -> Spike {
    let scene = Scene::new(context, found, rows);
    if scene.slow.is_empty() {
        let mut spike = not_examined(context, found);
        spike.verdict.because = vec![String::from("its I/Os are not in the record any more")];
        return spike;
    }
    let signs = Signs::of(&scene);
    let mut judged = judge(&scene, &signs);
    if judged.cause != Cause::LoadStopped {
        judged.because.extend(memory::evidence(&scene));
    }
    let also = also(&signs, &judged);
    let worst = scene.slow.iter().max_by_key(|io| io.total_ns());
    Spike {
        slow_ios: scene.slow_ios,
        worst: worst.map_or_else(|| unknown_worst(context, found), |io| worst_io(context, io)),
        split: scene.split(),
        depth: scene.depths(),
        served: served::listed(&signs.users),
        newcomers: served::newcomers(&scene),
        verdict: verdict(judged, also),
        ..not_examined(context, found)
    }
}

fn verdict(judged: Judged, also: Vec<(Cause, Option<Process>)>) -> Verdict {
    Verdict {
        cause: judged.cause,
        process: judged.process,
        confidence: judged.confidence,
        confidence_words: String::from(in_words(judged.confidence)),
        because: judged.because,
        also,
        missing: judged.missing,
    }
}

fn worst_io(context: &Context<'_, '_>, io: &SlowIo) -> WorstIo {
    WorstIo {
        latency_ns: io.latency_ns(),
        response_ns: io.total_ns(),
        at_ns: io.created_ns.saturating_sub(context.facts.started_ns()),
        offset_bytes: io.offset_bytes,
        length_bytes: io.len_bytes,
        op: String::from(io.op.name()),
    }
}

/// A spike of which no row was looked at.
pub(super) fn not_examined(context: &Context<'_, '_>, found: &Found) -> Spike {
    let mut sections: Vec<String> = Vec::new();
    for section in found.parts.iter().filter_map(|part| context.section(part)) {
        if !sections.contains(&section.name) {
            sections.push(section.name.clone());
        }
    }
    let event = found.event;
    let because = "it was not looked at: there are worse ones, and more rows than are read";
    Spike {
        start_ns: event.start_ns.saturating_sub(context.facts.started_ns()),
        duration_ns: event.end_ns - event.start_ns,
        sections,
        slow_ios: event.ios,
        threshold_ns: found.threshold_ns(),
        usual_ns: found.parts.iter().map(|part| part.usual_ns).min().unwrap_or(0),
        worst: unknown_worst(context, found),
        split: None,
        depth: Depths::default(),
        served: Vec::new(),
        newcomers: Vec::new(),
        verdict: verdict(Judged::unknown(String::from(because), Vec::new()), Vec::new()),
    }
}

fn unknown_worst(context: &Context<'_, '_>, found: &Found) -> WorstIo {
    let at_ns = found.event.worst_at_ns.saturating_sub(found.event.worst_ns);
    WorstIo {
        latency_ns: found.event.worst_ns,
        response_ns: found.event.worst_ns,
        at_ns: at_ns.saturating_sub(context.facts.started_ns()),
        offset_bytes: 0,
        length_bytes: 0,
        op: String::from("other"),
    }
}

fn judge(scene: &Scene<'_>, signs: &Signs) -> Judged {
    if let Some(judged) = stopped::judge(scene) {
        return judged;
    }
    // Where a quota is used up, the threads stand ready as well, but nobody else has their CPU.
    let held_by_others: f64 = signs.cpu.holders.iter().map(|(_, share)| share).sum();
    if signs.host() >= MOST && signs.cpu_throttled >= MOST && held_by_others < MOST {
        let because = format!(
            "the CPU quota of the cgroup held its processes back for {} % of the time that slow I/Os waited for the load and not \
             for the device, which is {} % of theirs",
            percent(signs.cpu_throttled.min(1.0)),
            percent(signs.host())
        );
        return Judged::new(
            Cause::CgroupThrottle,
            0.5 + 0.4 * signs.cpu_throttled.min(1.0),
            because,
        );
    }
    if let Some(judged) = starved(signs) {
        return judged;
    }
    if !signs.traced {
        return above::without_trace(scene, signs);
    }
    if signs.below() >= MOST {
        below::judge(scene, signs)
    } else {
        above::judge(scene, signs)
    }
}

/// The load's threads stood ready and had no CPU.
fn starved(signs: &Signs) -> Option<Judged> {
    let wait = &signs.cpu;
    if wait.share < MOST {
        return None;
    }
    let confidence = 0.55 + 0.4 * wait.share;
    let waited = format!(
        "for {} % of the slow I/Os' time the load's thread stood ready and had no CPU",
        percent(wait.share)
    );
    let holder = wait.holders.first().filter(|(_, share)| *share >= MOST);
    let Some(&(process, share)) = holder else {
        let mut judged = Judged::new(Cause::CpuStarvation, confidence * 0.9, waited);
        match wait.holders.len() {
            0 => judged.missing.push(String::from(
                "who had the CPU meanwhile: its stay there is not in the record",
            )),
            _ => judged.because.push(format!(
                "several had it meanwhile, none of them most of the time: {}",
                names(&wait.holders)
            )),
        }
        return Some(judged);
    };
    let held = format!(
        "{} (thread {}) had that CPU for {} % of the wait",
        process.comm,
        process.pid,
        percent(share)
    );
    let mut judged = if signs.own_holds_cpu {
        Judged::new(Cause::LoadItself, confidence, waited)
    } else {
        Judged::new(Cause::CpuStarvation, confidence, waited).by(Some(process))
    };
    judged.because.push(held);
    Some(judged)
}

/// What else took part, by evidence as strong as for a cause of its own, but for less of the time.
fn also(signs: &Signs, judged: &Judged) -> Vec<(Cause, Option<Process>)> {
    let mut also = Vec::new();
    if judged.cause == Cause::LoadStopped {
        // Whoever ran meanwhile held nobody up.
        return also;
    }
    let holder = signs.cpu.holders.first().filter(|(_, share)| *share >= MOST);
    if judged.cause != Cause::CpuStarvation && signs.cpu.share >= SOME && !signs.own_holds_cpu {
        also.push((Cause::CpuStarvation, holder.map(|(process, _)| *process)));
    }
    if judged.cause == Cause::CpuStarvation && signs.device_share() >= SOME {
        also.push((Cause::Device, None));
    }
    also
}

fn names(holders: &[(Process, f64)]) -> String {
    let each = holders
        .iter()
        .take(3)
        .map(|(process, share)| format!("{} {} %", process.comm, percent(*share)));
    each.collect::<Vec<_>>().join(", ")
}

/// Which stays on CPUs the load's slow I/Os waited for: where that is not in the record, it is said.
fn missing_sched(signs: &Signs) -> Option<String> {
    (!signs.cpu.seen).then(|| {
        String::from(
            "who was on the CPUs meanwhile (stream `sched`): whether the load had a CPU is not known",
        )
    })
}

pub(super) use cpu::CpuWait;
pub(super) use served::User;
