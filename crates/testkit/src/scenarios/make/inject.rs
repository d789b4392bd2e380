//! What is done to a machine.

use super::super::cpu::{Body, Hold, Task};
use super::super::load::{Pace, Worker};
use super::super::machine::{BOOT_NS, Event, MS, SECOND, comm};
use super::super::others::Stream;
use super::super::{Cause, Window};
use super::{Doing, Making, more, open_loop};
use fathom_core::backend::Op;
use fathom_core::record::BlockOp;
use fathom_core::workload::{EngineKind, Mix};

pub(super) fn inject(making: &mut Making, doing: Doing) {
    match doing {
        Doing::Nothing => {}
        Doing::Outage => outage(making),
        Doing::Outages => outages(making),
        Doing::CgroupLimit => cgroup_limit(making),
        Doing::CpuQuota => cpu_quota(making),
        Doing::NoTags => {
            if making.next_cause() {
                making.machine.block.no_tags = vec![making.window];
            }
            making.inject(Cause::KernelQueue, None);
        }
        Doing::NoIssue => {
            if making.next_cause() {
                making.machine.block.no_issue = vec![making.window];
            }
            making.inject(Cause::KernelQueue, None);
        }
        Doing::SlowFlush => slow_flush(making),
        Doing::CpuHog => hog(making),
        Doing::CpuCrowd => crowd(making),
        Doing::Competitor => competitor(making),
        Doing::OthersWriteback => others_writeback(making),
        Doing::OwnWriteback => own_writeback(making),
        Doing::Surge => surge(making),
        Doing::LargeIos => large_ios(making),
        Doing::SecondSection => second_section(making),
        Doing::OutageAndHog => {
            outage(making);
            hog(making);
        }
        Doing::CompetitorAndHog => {
            competitor(making);
            hog(making);
        }
        Doing::OutageBesideSteadyIo => {
            let always = Window {
                start_ns: BOOT_NS,
                end_ns: u64::MAX,
            };
            bystander(making, always, 4);
            outage(making);
        }
        Doing::OutageBesideNewIo => {
            let begins = making.window.start_ns - making.between(10.0, 80.0) as u64 * MS;
            let window = Window {
                start_ns: begins,
                end_ns: making.window.end_ns + 30 * MS,
            };
            bystander(making, window, 8);
            outage(making);
        }
        Doing::OutageInOpenLoop => {
            paced(making, 0.5);
            outage(making);
        }
        Doing::LevelShift
        | Doing::ShiftBesideNeighbour
        | Doing::SlowDrift
        | Doing::LongShift
        | Doing::Bursts
        | Doing::OverlappingCauses
        | Doing::Stopped
        | Doing::Frozen
        | Doing::CommitOfAnother => more::inject(making, doing),
        Doing::OutageBesideHog => {
            let window = making.window;
            outage(making);
            let machine = &mut making.machine;
            let body = Body::Burner {
                windows: vec![window],
                burst_ns: 20 * MS,
                pause_ns: 0,
            };
            let mut task = Task::new(701, "ffmpeg", body);
            task.priority = 2;
            task.pinned = Some(machine.cpus.len() - 1);
            machine.tasks[0].pinned = Some(0);
            machine.tasks.push(task);
            let index = machine.tasks.len() - 1;
            machine.at(window.start_ns, Event::Wake(index));
        }
    }
}

fn outage(making: &mut Making) {
    if making.next_cause() {
        making.machine.device.outages.push(making.window);
    }
    making.inject(Cause::Device, None);
}

/// The load keeps a rate, a part of what it could do.
fn paced(making: &mut Making, part: f64) {
    let rate = making.size.rate() * part;
    let worker = &mut making.machine.workers[0];
    worker.pace = Pace::Open {
        rate,
        surges: Vec::new(),
    };
    open_loop(&mut making.jobs[0], rate);
}

/// Again and again, with a little jitter; now and then one fails to come.
fn outages(making: &mut Making) {
    let period = making.run_ns / 9;
    let lasts = (making.window.end_ns - making.window.start_ns).min(period / 6);
    let harm = making.next_cause();
    for number in 0..9 {
        if making.rng.below(8) == 0 {
            continue;
        }
        let jitter = making.rng.below(period / 50);
        let start = BOOT_NS + period / 3 + number * period + jitter;
        making.window = Window {
            start_ns: start,
            end_ns: start + lasts,
        };
        if harm {
            making.machine.device.outages.push(making.window);
        }
        making.inject(Cause::Device, None);
    }
}

fn cgroup_limit(making: &mut Making) {
    let rate = making.size.rate();
    let limit = making.between(0.08, 0.2) * rate;
    let limit = limit.max(10.0);
    if making.next_cause() {
        making.machine.block.throttle.windows = vec![(making.window, limit)];
    }
    making.limits = vec![(making.window, limit)];
    making.inject(Cause::CgroupThrottle, None);
}

/// Of each 100 ms the load's cgroup runs only the first few.
fn cpu_quota(making: &mut Making) {
    let runs = making.between(5.0, 20.0) as u64 * MS;
    let mut start = making.window.start_ns;
    while start + 100 * MS <= making.window.end_ns.max(making.window.start_ns + 200 * MS) {
        making.throttled.push(Window {
            start_ns: start + runs,
            end_ns: start + 100 * MS,
        });
        start += 100 * MS;
    }
    making.window.end_ns = start;
    if making.next_cause() {
        let held = making.throttled.iter().map(|window| (*window, Hold::Quota));
        making.machine.tasks[0].held = held.collect();
    }
    making.inject(Cause::CgroupThrottle, None);
}

/// Each flush of the journal in the window takes far longer.
fn slow_flush(making: &mut Making) {
    let takes = making.between(120.0, 500.0) * MS as f64;
    let machine = &mut making.machine;
    machine.journal.on = true;
    let every = SECOND.min(making.run_ns / 8);
    machine.journal.every_ns = every;
    let begin = making.window.start_ns;
    making.window = Window {
        start_ns: begin,
        end_ns: begin + every + MS,
    };
    if making.next_cause() {
        making.machine.device.slow_flushes = vec![(making.window, takes)];
    }
    // The flush may begin at the window's end.
    let mut injected = making.window;
    injected.end_ns += takes as u64;
    making.window = injected;
    making.inject(Cause::FlushOrJournal, None);
}

/// One task of higher priority on the load's CPU.
pub(super) fn hog(making: &mut Making) {
    let machine = &mut making.machine;
    machine.tasks[0].pinned = Some(0);
    let body = Body::Burner {
        windows: vec![making.window],
        burst_ns: 20 * MS,
        pause_ns: 0,
    };
    let mut task = Task::new(700, "md5sum", body);
    task.priority = 2;
    task.pinned = Some(0);
    machine.tasks.push(task);
    let index = machine.tasks.len() - 1;
    if making.next_cause() {
        making.machine.at(making.window.start_ns, Event::Wake(index));
    }
    making.inject(Cause::CpuStarvation, Some("md5sum"));
}

/// Eight tasks on the load's CPU that take turns of four milliseconds before it.
fn crowd(making: &mut Making) {
    let harm = making.next_cause();
    let machine = &mut making.machine;
    machine.tasks[0].pinned = Some(0);
    for number in 0..8 {
        let body = Body::Burner {
            windows: vec![making.window],
            burst_ns: 50 * MS,
            pause_ns: 0,
        };
        let mut task = Task::new(720 + number, "cc1plus", body);
        task.priority = 2;
        task.pinned = Some(0);
        machine.tasks.push(task);
        let index = machine.tasks.len() - 1;
        if harm {
            machine.at(making.window.start_ns, Event::Wake(index));
        }
    }
    making.inject(Cause::CpuStarvation, Some("cc1plus"));
}

/// Another process with some I/O in flight, too little to slow the load down much.
pub(super) fn bystander(making: &mut Making, window: Window, depth: usize) {
    let depth = depth.min(making.size.channels / 2);
    let machine = &mut making.machine;
    machine.streams.push(Stream {
        pid: 820,
        comm: comm("mysqld"),
        op: BlockOp::Write,
        depth,
        size: 16 << 10,
        windows: vec![window],
        pause_ns: 0,
        in_flight: 0,
        drawn: 0,
        bytes: Vec::new(),
    });
    let index = machine.streams.len() - 1;
    machine.at(window.start_ns, Event::Stream(index));
}

fn competitor(making: &mut Making) {
    let size = making.size;
    let large = making.rng.below(2) == 0;
    let depth = (size.channels + size.depth) * (6 + making.rng.below(6) as usize);
    let op = if making.rng.below(2) == 0 {
        BlockOp::Read
    } else {
        BlockOp::Write
    };
    let machine = &mut making.machine;
    machine.streams.push(Stream {
        pid: 800,
        comm: comm("rsync"),
        op,
        depth,
        size: if large { 512 << 10 } else { 16 << 10 },
        windows: vec![making.window],
        pause_ns: 0,
        in_flight: 0,
        drawn: 0,
        bytes: Vec::new(),
    });
    let index = machine.streams.len() - 1;
    if making.next_cause() {
        making.machine.at(making.window.start_ns, Event::Stream(index));
    }
    making.inject(Cause::CompetingIo, Some("rsync"));
}

/// Another process has made pages dirty; the kernel writes them.
fn others_writeback(making: &mut Making) {
    let size = making.size;
    let depth = (size.channels + size.depth) * 8;
    let service_s = (size.service_ns + f64::from(512 << 10)) / 1e9;
    let rate = size.channels as f64 * f64::from(512 << 10) / service_s;
    let lasts = (making.window.end_ns - making.window.start_ns) as f64 / 1e9;
    let bytes = (rate * lasts.max(0.3)) as u64;
    let second = (making.window.start_ns - BOOT_NS) / SECOND;
    let machine = &mut making.machine;
    machine.writeback.depth = depth;
    machine.writeback.background = 1 << 20;
    if making.next_cause() {
        making.machine.writeback.others = vec![(BOOT_NS / SECOND + second, bytes)];
    }
    making.dirtied = vec![(810, "tar", second, bytes)];
    making.machine.writeback.dirtied_by = Some((810, comm("tar")));
    // The kernel looks every 200 ms.
    making.window = Window {
        start_ns: BOOT_NS + second * SECOND,
        end_ns: BOOT_NS + (second + 1) * SECOND + (lasts * 2e9) as u64,
    };
    making.inject(Cause::CompetingIo, Some("tar"));
}

/// The load writes through the page cache, and for a while more than the disk takes.
fn own_writeback(making: &mut Making) {
    let size = making.size;
    let service_s = (size.service_ns + f64::from(512 << 10)) / 1e9;
    let disk = size.channels as f64 * f64::from(512 << 10) / service_s;
    let bytes = f64::from(128 << 10);
    let rate = disk * 0.4 / bytes;
    let factor = making.between(5.0, 8.0);
    let lasts = (making.window.end_ns - making.window.start_ns) as f64 / 1e9;
    let surges = if making.next_cause() {
        vec![(making.window, factor)]
    } else {
        Vec::new()
    };
    let machine = &mut making.machine;
    let worker = &mut machine.workers[0];
    worker.buffered = true;
    worker.op = Op::Write;
    worker.size = bytes as u32;
    worker.pace = Pace::Open { rate, surges };
    machine.writeback.dirtied_by = Some((4001, comm("fathom")));
    // Reached in the second half of the surge.
    let excess = disk * (0.4 * factor - 1.0) * lasts;
    machine.writeback.limit = (excess * 0.5) as u64 + (64 << 20);
    machine.writeback.background = 4 << 20;
    machine.writeback.depth = size.channels * 2;
    let job = &mut making.jobs[0];
    job.direct = false;
    job.pattern.mix = Mix::Write;
    job.engine.kind = EngineKind::Psync;
    job.pace.rate[1] = Some(fathom_core::workload::Rate::Iops(rate as u64));
    making.window.end_ns += 3 * SECOND;
    making.inject(Cause::LoadItself, None);
}

/// More I/Os are due for a while than the disk allows.
fn surge(making: &mut Making) {
    let limit = making.size.rate() * making.between(0.5, 0.8);
    let rate = limit * 0.5;
    let factor = making.between(4.0, 6.0);
    let surges = if making.next_cause() {
        vec![(making.window, factor)]
    } else {
        Vec::new()
    };
    let machine = &mut making.machine;
    machine.device.iops = limit;
    let worker = &mut machine.workers[0];
    let mut open = Worker::new(worker.task, 64, worker.size);
    open.ends_ns = worker.ends_ns;
    open.file_at = worker.file_at;
    open.pace = Pace::Open { rate, surges };
    *worker = open;
    let job = &mut making.jobs[0];
    job.depth.iodepth = 64;
    open_loop(job, rate);
    making.window.end_ns += 2 * SECOND;
    making.inject(Cause::LoadItself, None);
}

/// Now and then one that is far larger than the others.
fn large_ios(making: &mut Making) {
    let size = making.size;
    // As long as eight of the usual ones even with all channels at work.
    let part_ns = size.service_ns + f64::from(512 << 10);
    let parts = (8.0 * size.channels as f64 * size.service_ns.max(300e3) / part_ns).ceil() as u32;
    let every_ns = (making.window.end_ns - making.window.start_ns) / 3;
    if making.next_cause() {
        making.machine.workers[0].large = Some((parts * (512 << 10), every_ns, making.window));
    }
    making.window.end_ns += SECOND / 2;
    making.inject(Cause::LoadItself, None);
}

/// Another section of the same load, far deeper, for a while.
fn second_section(making: &mut Making) {
    let size = making.size;
    let machine = &mut making.machine;
    let index = machine.tasks.len();
    machine.tasks.push(Task::new(4002, "fathom", Body::Worker(1)));
    let mut worker = Worker::new(index, (size.channels + size.depth) * 8, size.bytes);
    worker.job = 1;
    worker.starts_ns = making.window.start_ns;
    worker.ends_ns = making.window.end_ns;
    worker.file_at = 8 << 30;
    machine.workers.push(worker);
    if making.next_cause() {
        making.machine.at(making.window.start_ns, Event::Wake(index));
    }
    let mut job = size.job();
    job.name = String::from("second");
    job.depth.iodepth = ((size.channels + size.depth) * 8) as u32;
    making.jobs.push(job);
    making.inject(Cause::LoadItself, None);
}
