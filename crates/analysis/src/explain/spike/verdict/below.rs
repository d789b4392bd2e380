//! Verdicts where the block layer or the device had the slow I/Os most of the time.

use super::super::super::answer::Cause;
use super::super::super::words::ratio;
use super::super::scene::Scene;
use super::signs::Signs;
use super::{Judged, MOST, User, percent, time};
use fathom_core::record::BlockOp;
use fathom_core::units::{Bytes, binary_rate, count};

/// A rival must have had I/O in flight for so much of the spike.
const PRESENT_MIN: f64 = 0.5;
/// What a rival had in flight before, as part of what it had in the spike: more, and it is no newcomer.
const BEFORE_MAX: f64 = 0.34;
/// What a rival was served, as part of what the load was not: less cannot explain it.
const EXPLAINS_MIN: f64 = 0.3;
/// Of what came to be in flight or to be moved beyond what was before, a rival must have had so much.
const GREW_MIN: f64 = 0.4;
/// The device must have gone on working if somebody else's work is to be the cause.
const WORKING_MIN: f64 = 0.6;
/// How much longer the device took than before, if it is to have taken part.
const DEVICE_SLOWER: f64 = 3.0;

pub(super) fn judge(scene: &Scene<'_>, signs: &Signs) -> Judged {
    let syncs = signs.core.iter().filter(|io| io.op == BlockOp::Flush).count();
    flush(signs, syncs * 2 > signs.core.len())
        .or_else(|| rival(scene, signs))
        .or_else(|| load_itself(scene, signs))
        .or_else(|| kernel_queue(signs))
        .unwrap_or_else(|| device(scene, signs))
}

fn flush(signs: &Signs, syncs: bool) -> Option<Judged> {
    if syncs {
        let because = format!(
            "the slow I/Os are syncs: the device took {} on average to write its cache out",
            time(signs.mean_ns * signs.device_share())
        );
        return Some(Judged::new(Cause::FlushOrJournal, 0.8, because));
    }
    // Only where the device's part is what took long.
    let most = signs.behind_flush >= MOST && signs.behind_flush * signs.device_share() >= 0.4;
    most.then(|| {
        let because = format!(
            "for {} % of the time that the slow I/Os were at the device, it had a flush to carry out that came before them",
            percent(signs.behind_flush)
        );
        Judged::new(Cause::FlushOrJournal, 0.55 + 0.4 * signs.behind_flush, because)
    })
}

/// Somebody else's I/O, new, there most of the time, and as much as the load lacked.
fn rival(scene: &Scene<'_>, signs: &Signs) -> Option<Judged> {
    if signs.throughput() < WORKING_MIN {
        return None;
    }
    let programs = signs.users.iter().filter(|user| !user.own && !user.kernel);
    let best = programs
        .filter_map(|user| explains(scene, signs, &[user]).map(|share| (user, share)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((user, share)) = best {
        let mut judged = competing(scene, signs, &[user], share).by(Some(user.process));
        judged.because.push(format!(
            "{} had {:.1} requests in flight, before {:.1}",
            user.process.comm, user.during.in_flight, user.before.in_flight
        ));
        return Some(judged);
    }
    writeback(scene, signs)
}

/// Dirty pages that the kernel writes back: the load's own, or another program's.
fn writeback(scene: &Scene<'_>, signs: &Signs) -> Option<Judged> {
    let kernel: Vec<&User> = signs
        .users
        .iter()
        .filter(|user| user.kernel && !user.own && user.process.comm.as_bytes().starts_with(b"kworker"))
        .collect();
    let share = explains(scene, signs, &kernel)?;
    if super::above::writes_buffered(scene) {
        let because = format!(
            "the kernel wrote the load's own dirty pages back meanwhile: {}",
            amount(scene, &kernel)
        );
        return Some(Judged::new(
            Cause::LoadItself,
            0.6 + 0.3 * share.min(1.0),
            because,
        ));
    }
    let mut judged = competing(scene, signs, &kernel, share);
    let new = super::served::newcomers(scene);
    let writer = new
        .iter()
        .find(|used| used.written_bytes as f64 >= EXPLAINS_MIN * bytes(&kernel));
    if let Some(writer) = writer {
        judged.because.push(format!(
            "the kernel wrote dirty pages back; {} had just made {} dirty",
            writer.process.comm,
            Bytes(writer.written_bytes)
        ));
        judged.process = Some(writer.process);
    } else {
        judged.confidence *= 0.85;
        judged
            .missing
            .push(String::from("whose dirty pages the kernel wrote back"));
    }
    Some(judged)
}

fn competing(scene: &Scene<'_>, signs: &Signs, users: &[&User], share: f64) -> Judged {
    let because = format!(
        "meanwhile the device served {} for others, and went on working ({} % of its rate before)",
        amount(scene, users),
        percent(signs.throughput())
    );
    Judged::new(Cause::CompetingIo, 0.6 + 0.35 * share.min(1.0), because)
}

fn bytes(users: &[&User]) -> f64 {
    users.iter().map(|user| user.during.bytes).sum()
}

fn amount(scene: &Scene<'_>, users: &[&User]) -> String {
    let (requests, bytes) = rates(scene, users);
    format!(
        "{} I/Os and {} a second",
        count(requests.round()),
        binary_rate(bytes)
    )
    .replace("/s a second", " a second")
}

fn rates(scene: &Scene<'_>, users: &[&User]) -> (f64, f64) {
    users.iter().fold((0.0, 0.0), |(requests, bytes), user| {
        let rate = user.during.rate(scene.spike);
        (requests + rate.0, bytes + rate.1)
    })
}

/// What these were served as part of what the load was not, in requests or in bytes, whichever is more; `None` where they
/// cannot be the cause.
fn explains(scene: &Scene<'_>, signs: &Signs, users: &[&User]) -> Option<f64> {
    let present = users.iter().map(|user| user.present).fold(0.0, f64::max);
    let during: f64 = users.iter().map(|user| user.during.in_flight).sum();
    let before: f64 = users.iter().map(|user| user.before.in_flight).sum();
    if present < PRESENT_MIN || before > during * BEFORE_MAX {
        return None;
    }
    let (requests, bytes) = rates(scene, users);
    let lacked = |during: f64, before: f64| (before - during).max(before * 0.1);
    let share = ratio(requests, lacked(signs.own_during.0, signs.own_before.0))
        .max(ratio(bytes, lacked(signs.own_during.1, signs.own_before.1)));
    (share >= EXPLAINS_MIN && grew(signs, users) >= GREW_MIN).then_some(share)
}

/// What came to be in flight for these, or to be moved, as part of what did for everybody: the larger one.
fn grew(signs: &Signs, users: &[&User]) -> f64 {
    let grown = |amount: fn(&User) -> f64| {
        let theirs: f64 = users.iter().map(|user| amount(user).max(0.0)).sum();
        let all: f64 = signs.users.iter().map(|user| amount(user).max(0.0)).sum();
        ratio(theirs, all)
    };
    let in_flight = grown(|user| user.during.in_flight - user.before.in_flight);
    let served = grown(|user| user.during.bytes_a_second - user.before.bytes_a_second);
    in_flight.max(served)
}

/// The load asked for more than before, and the device went on working.
fn load_itself(scene: &Scene<'_>, signs: &Signs) -> Option<Judged> {
    if signs.throughput() < WORKING_MIN {
        return None;
    }
    let load = signs.load;
    if load.surge {
        let because = format!(
            "{} of its I/Os were due a second, {} before: more than the device takes",
            count(load.due_during.round()),
            count(load.due_before.round())
        );
        return Some(Judged::new(Cause::LoadItself, 0.8, because));
    }
    if let Some(job) = load.newcomer {
        let name = scene
            .context
            .facts
            .jobs()
            .get(job as usize)
            .map(|job| job.name.clone());
        let because = format!(
            "its section `{}` sent I/Os in this time and hardly any before",
            name.unwrap_or_default()
        );
        return Some(Judged::new(Cause::LoadItself, 0.75, because));
    }
    let larger = load.slow_bytes / load.usual_bytes.max(1.0);
    let slower = signs.mean_ns / signs.usual_device_ns.max(1.0);
    // Time grows no faster than size where size is the reason; a little more where others of that size are in the queue.
    if load.usual_bytes > 0.0 && larger >= 3.0 && slower <= larger * 3.0 {
        let because = format!(
            "its slow I/Os are of {} on average, those before of {}",
            Bytes(load.slow_bytes as u64),
            Bytes(load.usual_bytes as u64)
        );
        return Some(Judged::new(Cause::LoadItself, 0.75, because));
    }
    None
}

fn kernel_queue(signs: &Signs) -> Option<Judged> {
    let device_ns = signs.mean_ns * signs.device_share();
    let device_as_usual = device_ns <= signs.usual_device_ns * DEVICE_SLOWER;
    (signs.queued() >= MOST && device_as_usual).then(|| {
        let (tag, scheduler) = (signs.shares[2], signs.shares[3]);
        let where_to = if tag >= scheduler {
            "waiting for a tag"
        } else {
            "in the scheduler's queue"
        };
        let because = format!(
            "{} % of the slow I/Os' time went by {where_to}, while the device took {} for each, as usual",
            percent(signs.queued()),
            time(device_ns)
        );
        Judged::new(Cause::KernelQueue, 0.55 + 0.4 * signs.queued(), because)
    })
}

fn device(scene: &Scene<'_>, signs: &Signs) -> Judged {
    let device_ns = signs.mean_ns * signs.device_share();
    let because = format!(
        "the device had the slow I/Os for {} % of their time: {} on average, {} before",
        percent(signs.device_share()),
        time(device_ns),
        time(signs.usual_device_ns)
    );
    let modelled = scene.context.facts.modelled();
    let certain = if modelled {
        0.97
    } else {
        0.6 + 0.35 * signs.below()
    };
    let mut judged = Judged::new(Cause::Device, certain, because);
    if signs.silence_ns * 2 >= scene.spike.duration_ns() {
        judged.because.push(format!(
            "it completed nothing for {} though it had something to do",
            fathom_core::units::Nanos(signs.silence_ns)
        ));
    }
    let others = signs
        .users
        .iter()
        .any(|user| !user.own && !user.kernel && user.during.in_flight > 0.0);
    if others && !modelled {
        judged.because.push(String::from(
            "others had I/O in flight as well, too little of it or no more than before to be the cause",
        ));
        judged.confidence *= 0.95;
    }
    judged
}
