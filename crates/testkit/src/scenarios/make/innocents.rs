//! Processes that do no harm, beside whatever is done.

use super::super::Window;
use super::super::cpu::{Body, Task};
use super::super::machine::{BOOT_NS, Event, MS, SECOND, comm};
use super::super::others::Stream;
use super::{Making, Plan};
use crate::make;
use fathom_core::record::{BlockOp, BlockRequest};

/// A process that has nothing to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Innocent {
    /// It has a CPU that the load does not need, and a disk of its own, all the time.
    Elsewhere,
    /// It has a few hundredths of the load's CPU, in short turns, and sends the disk a few small requests.
    Here,
    /// It begins as the first thing is done: to compute, elsewhere, and to write a little.
    SameMoment,
}

impl Innocent {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Elsewhere, Self::Here, Self::SameMoment];

    /// Its process.
    pub const fn process(self) -> &'static str {
        match self {
            Self::Elsewhere => "elasticsearch",
            Self::Here => "chronyd",
            Self::SameMoment => "apt-get",
        }
    }

    const fn pid(self) -> u32 {
        match self {
            Self::Elsewhere => 910,
            Self::Here => 911,
            Self::SameMoment => 912,
        }
    }
}

impl Plan {
    /// The same beside a process that does no harm.
    #[must_use]
    pub const fn beside(mut self, innocent: Innocent) -> Self {
        self.beside = Some(innocent);
        self
    }
}

pub(super) fn add(making: &mut Making, innocent: Innocent) {
    let always = Window {
        start_ns: BOOT_NS,
        end_ns: u64::MAX,
    };
    let first = making.injected.iter().map(|injected| injected.window).min();
    let moment = first.unwrap_or(making.window);
    match innocent {
        Innocent::Elsewhere => {
            computes(making, innocent, always, (5 * MS, 0));
            making.foreign = of_another_disk(innocent, BOOT_NS + making.run_ns);
        }
        Innocent::Here => {
            let task = computes(making, innocent, always, (MS / 5, 8 * MS));
            making.machine.tasks[task].pinned = Some(0);
            sends(making, innocent, always, 200 * MS);
        }
        Innocent::SameMoment => {
            computes(making, innocent, moment, (5 * MS, 0));
            sends(making, innocent, moment, 200 * MS);
        }
    }
}

/// On the last CPU, after all others.
fn computes(
    making: &mut Making,
    innocent: Innocent,
    window: Window,
    (burst_ns, pause_ns): (u64, u64),
) -> usize {
    let machine = &mut making.machine;
    let body = Body::Burner {
        windows: vec![window],
        burst_ns,
        pause_ns,
    };
    let mut task = Task::new(innocent.pid(), innocent.process(), body);
    task.priority = 0;
    task.pinned = Some(machine.cpus.len() - 1);
    // A load that is put anywhere is put elsewhere.
    if machine.tasks[0].pinned.is_none() {
        machine.tasks[0].pinned = Some(0);
    }
    machine.tasks.push(task);
    let index = machine.tasks.len() - 1;
    machine.at(window.start_ns, Event::Wake(index));
    index
}

fn sends(making: &mut Making, innocent: Innocent, window: Window, pause_ns: u64) {
    let machine = &mut making.machine;
    machine.streams.push(Stream {
        pid: innocent.pid(),
        comm: comm(innocent.process()),
        op: BlockOp::Write,
        depth: 1,
        size: 4 << 10,
        windows: vec![window],
        pause_ns,
        in_flight: 0,
        drawn: 0,
        bytes: Vec::new(),
    });
    let index = machine.streams.len() - 1;
    machine.at(window.start_ns, Event::Stream(index));
}

/// A request a millisecond, without a pause.
fn of_another_disk(innocent: Innocent, end_ns: u64) -> Vec<BlockRequest> {
    let begins = (BOOT_NS..end_ns.min(BOOT_NS + 60 * SECOND)).step_by(MS as usize);
    let request = |begin_ns: u64| BlockRequest {
        device: 8 << 20,
        op: BlockOp::Write,
        len_bytes: 512 << 10,
        sector: begin_ns / MS * 1024,
        pid: innocent.pid(),
        comm: comm(innocent.process()),
        ..make::request(begin_ns, begin_ns + MS)
    };
    begins.map(request).collect()
}
