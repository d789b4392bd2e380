//! More that is done to a machine: levels, stops, and the file system's journal.

use super::super::cpu::Hold;
use super::super::machine::{BOOT_NS, Event, MS, SECOND, comm};
use super::super::others::Stream;
use super::super::{Cause, Window};
use super::inject::{bystander, hog};
use super::{Doing, Making};
use fathom_core::backend::Op;
use fathom_core::record::{BlockOp, Comm, KernelSpan, SpanKind};
use fathom_core::run::{LoadStop, StoppedBy};
use fathom_core::workload::Mix;

pub(super) fn inject(making: &mut Making, doing: Doing) {
    match doing {
        Doing::ShiftBesideNeighbour => {
            let always = Window {
                start_ns: BOOT_NS,
                end_ns: u64::MAX,
            };
            bystander(making, always, 2);
            level_shift(making);
        }
        Doing::SlowDrift => {
            making.window.end_ns = BOOT_NS + making.run_ns;
            let last = making.between(3.0, 5.0);
            slower(making, 1.0, last);
        }
        Doing::LongShift => {
            making.window.start_ns = BOOT_NS + making.run_ns * 3 / 10;
            making.window.end_ns = BOOT_NS + making.run_ns * 9 / 10;
            let times = making.between(2.0, 4.0);
            slower(making, times, times);
        }
        Doing::Bursts => bursts(making),
        Doing::OverlappingCauses => overlapping(making),
        Doing::Stopped | Doing::Frozen => stopped(making, doing),
        Doing::CommitOfAnother => commit_of_another(making),
        _ => level_shift(making),
    }
}

/// The device takes so many times as long at the window's begin, and so many at its end.
fn slower(making: &mut Making, first: f64, last: f64) {
    if making.next_cause() {
        let window = making.window;
        making.machine.device.slower.push((window, first, last));
    }
    making.inject(Cause::Device, None);
}

/// From 1.6 times on, for more than a second.
fn level_shift(making: &mut Making) {
    let lasts = making.between(1.3, 1.8);
    let lasts_ns = ((lasts * SECOND as f64) as u64).max(making.run_ns / 12);
    making.window.end_ns = making.window.start_ns + lasts_ns;
    let times = making.between(1.8, 4.0);
    slower(making, times, times);
}

/// Six times a few tens of milliseconds, each a deep queue.
fn bursts(making: &mut Making) {
    let size = making.size;
    let depth = (size.channels + size.depth) * (6 + making.rng.below(6) as usize);
    let every_ns = 200 * MS + making.rng.below(100 * MS);
    let start_ns = making.window.start_ns;
    let windows: Vec<Window> = (0..6)
        .map(|number| Window {
            start_ns: start_ns + number * every_ns,
            end_ns: start_ns + number * every_ns + 60 * MS,
        })
        .collect();
    let harm = making.next_cause();
    let machine = &mut making.machine;
    machine.streams.push(Stream {
        pid: 800,
        comm: comm("rsync"),
        op: BlockOp::Write,
        depth,
        size: 16 << 10,
        windows: windows.clone(),
        pause_ns: 0,
        in_flight: 0,
        drawn: 0,
        bytes: Vec::new(),
    });
    let index = machine.streams.len() - 1;
    for window in windows {
        if harm {
            making.machine.at(window.start_ns, Event::Stream(index));
        }
        making.window = window;
        making.inject(Cause::CompetingIo, Some("rsync"));
    }
}

/// The device is slower, and from the middle of that on, and as long after it, the load has no CPU.
fn overlapping(making: &mut Making) {
    // Both are over well before the run is.
    let lasts_ns = (making.run_ns / 4).min(600 * MS + making.rng.below(400 * MS));
    let start_ns = BOOT_NS + making.run_ns * 3 / 10;
    making.window.end_ns = start_ns + lasts_ns;
    slower(making, 6.0, 6.0);
    making.window = Window {
        start_ns: start_ns + lasts_ns / 2,
        end_ns: start_ns + lasts_ns * 3 / 2,
    };
    hog(making);
}

/// By a signal, or by a freezer; the load notices it itself, mostly.
fn stopped(making: &mut Making, doing: Doing) {
    let signal = doing == Doing::Stopped;
    let (tid, by_name) = if signal {
        (950, "batchd")
    } else {
        (951, "snapshotd")
    };
    let by = (tid, comm(by_name));
    let noticed = making.rng.below(4) != 0;
    let window = making.window;
    if making.next_cause() {
        let hold = if signal {
            Hold::Stopped { by }
        } else {
            Hold::Frozen { by }
        };
        let machine = &mut making.machine;
        machine.tasks[0].held = vec![(window, hold)];
        machine.at(window.start_ns, Event::Hold(0));
    }
    let (kind, tid, name, about) = if signal {
        (SpanKind::Stopped, 4001, comm("fathom"), 19)
    } else {
        (SpanKind::Frozen, 0, Comm::from("load.slice"), 4242)
    };
    making.kernel.push(KernelSpan {
        kind,
        start_ns: window.start_ns,
        end_ns: window.end_ns,
        device: 0,
        tid,
        comm: name,
        about,
        by_tid: by.0,
        by_comm: by.1,
    });
    if noticed {
        making.stops.push(LoadStop {
            at_ns: window.start_ns - BOOT_NS,
            length_ns: window.end_ns - window.start_ns,
            by: if signal {
                StoppedBy::Signal
            } else {
                StoppedBy::Frozen
            },
        });
    }
    making.inject(Cause::LoadStopped, Some(by_name));
}

/// The load writes to a file that grows, and each write waits for the commit that a package manager's sync asked for.
fn commit_of_another(making: &mut Making) {
    let size = making.size;
    let lasts_ns = 150 * MS + making.rng.below(250 * MS);
    let each_ns = size.service_ns + f64::from(16 << 10);
    let requests = (lasts_ns as f64 / each_ns * size.channels as f64).ceil();
    let harm = making.next_cause();
    let machine = &mut making.machine;
    machine.journal.on = true;
    machine.journal.asks = Some((830, comm("dpkg")));
    machine.workers[0].commits = true;
    machine.workers[0].op = Op::Write;
    if harm {
        machine.at(making.window.start_ns, Event::Asked(requests as u32));
    }
    making.jobs[0].pattern.mix = Mix::Write;
    making.window.end_ns = making.window.start_ns + lasts_ns * 2;
    making.inject(Cause::FlushOrJournal, Some("dpkg"));
}
