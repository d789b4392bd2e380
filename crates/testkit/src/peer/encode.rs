//! Events become records, records become pages.

use super::formats::{EventText, Kernel};
use super::{BlockEvent, Event, SchedEvent, Step};
use fathom_core::record::{BlockFlags, BlockOp, TaskState};
use fathom_core::rng::Rng;

const HEADER_BYTES: usize = 16;
const DELTA_MAX: u64 = 1 << 27;

/// The pages of one CPU.
pub(super) fn pages(kernel: &Kernel, events: &[(u64, Event)], rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut pages = Vec::new();
    let mut page = Page::new(
        kernel.page_bytes,
        events.first().map_or(0, |(time_ns, _)| *time_ns),
    );
    for &(time_ns, event) in events {
        let record = record(kernel, &event, rng);
        // A real page is as full as the reader found it: it may come early.
        let early = rng.below(200) == 0;
        if early || !page.fits(record.len() + 32) {
            pages.push(page.done());
            page = Page::new(kernel.page_bytes, time_ns);
        }
        page.append(time_ns, &record, rng);
    }
    pages.push(page.done());
    pages
}

struct Page {
    bytes: Vec<u8>,
    size: usize,
    time_ns: u64,
}

impl Page {
    fn new(page_bytes: usize, time_ns: u64) -> Self {
        let mut bytes = Vec::with_capacity(page_bytes);
        bytes.extend(time_ns.to_ne_bytes());
        bytes.extend([0; 8]);
        Self {
            bytes,
            size: page_bytes,
            time_ns,
        }
    }

    fn fits(&self, more: usize) -> bool {
        self.bytes.len() + more <= self.size
    }

    fn head(&mut self, kind: u32, delta: u64) {
        let delta = delta as u32;
        let word = if cfg!(target_endian = "little") {
            kind | delta << 5
        } else {
            kind << 27 | delta
        };
        self.bytes.extend(word.to_ne_bytes());
    }

    fn append(&mut self, time_ns: u64, record: &[u8], rng: &mut Rng) {
        if rng.below(50) == 0 {
            // An event that was discarded after its place was taken.
            self.head(29, 1);
            self.bytes.extend(12u32.to_ne_bytes());
            self.bytes.extend([0xAA; 8]);
            // The next time is a whole one: this one's step may have gone past it.
            self.head(31, time_ns & (DELTA_MAX - 1));
            self.bytes.extend(((time_ns >> 27) as u32).to_ne_bytes());
            self.time_ns = time_ns;
        }
        let mut delta = time_ns - self.time_ns;
        if delta >= DELTA_MAX {
            self.head(30, delta & (DELTA_MAX - 1));
            self.bytes.extend(((delta >> 27) as u32).to_ne_bytes());
            delta = 0;
        }
        self.time_ns = time_ns;
        let words = record.len() / 4;
        if words <= 28 && rng.below(8) != 0 {
            self.head(words as u32, delta);
        } else {
            self.head(0, delta);
            self.bytes.extend((record.len() as u32 + 4).to_ne_bytes());
        }
        self.bytes.extend(record);
    }

    fn done(mut self) -> Vec<u8> {
        let commit = (self.bytes.len() - HEADER_BYTES) as u64;
        self.bytes[8..HEADER_BYTES].copy_from_slice(&commit.to_ne_bytes());
        // What lies behind the last record is whatever was there.
        self.bytes.resize(self.size, 0x5A);
        self.bytes
    }
}

/// Puts values where an event's fields are.
struct Writer<'a> {
    event: &'a EventText,
    bytes: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(event: &'a EventText, pid: u32) -> Self {
        let bytes = vec![0; event.size];
        let mut writer = Self { event, bytes };
        writer.number("common_type", event.id.into());
        writer.number("common_pid", pid.into());
        writer
    }

    fn bytes(&mut self, name: &str, value: &[u8]) {
        let field = self.event.fields.iter().find(|field| field.name == name);
        if let Some(field) = field {
            let len = value.len().min(field.size);
            self.bytes[field.offset..field.offset + len].copy_from_slice(&value[..len]);
        }
    }

    fn number(&mut self, name: &str, value: u64) {
        let field = self.event.fields.iter().find(|field| field.name == name);
        let size = field.map_or(0, |field| field.size);
        let bytes = if cfg!(target_endian = "little") {
            value.to_le_bytes()[..size].to_vec()
        } else {
            value.to_be_bytes()[8 - size..].to_vec()
        };
        self.bytes(name, &bytes);
    }
}

fn record(kernel: &Kernel, event: &Event, rng: &mut Rng) -> Vec<u8> {
    match event {
        Event::Block(event) => block(kernel, event, rng),
        Event::Sched(event) => sched(kernel, event),
    }
}

fn sched(kernel: &Kernel, event: &SchedEvent) -> Vec<u8> {
    match *event {
        SchedEvent::Switch { from, state, to } => {
            let mut writer = Writer::new(kernel.event("sched_switch"), from.0);
            writer.bytes("prev_comm", from.1.as_bytes());
            writer.number("prev_pid", from.0.into());
            writer.number("prev_state", state_bits(state));
            writer.bytes("next_comm", to.1.as_bytes());
            writer.number("next_pid", to.0.into());
            writer.bytes
        }
        SchedEvent::Wake {
            task,
            target_cpu,
            waker,
            in_interrupt,
        } => {
            let mut writer = Writer::new(kernel.event("sched_waking"), waker);
            // Interrupts are off while it is written; the second says that it is one.
            writer.number("common_flags", if in_interrupt { 0x01 | 0x08 } else { 0x01 });
            writer.bytes("comm", task.1.as_bytes());
            writer.number("pid", task.0.into());
            writer.number("target_cpu", target_cpu.into());
            writer.bytes
        }
        SchedEvent::Migrate { task, to_cpu } => {
            let mut writer = Writer::new(kernel.event("sched_migrate_task"), 0);
            writer.bytes("comm", task.1.as_bytes());
            writer.number("pid", task.0.into());
            writer.number("dest_cpu", to_cpu.into());
            writer.bytes
        }
        SchedEvent::Fork { parent, child } => {
            let mut writer = Writer::new(kernel.event("sched_process_fork"), parent.0);
            writer.bytes("parent_comm", parent.1.as_bytes());
            writer.number("parent_pid", parent.0.into());
            writer.bytes("child_comm", child.1.as_bytes());
            writer.number("child_pid", child.0.into());
            writer.bytes
        }
        SchedEvent::Stack { task, frames } => {
            let event = kernel.event("kernel_stack");
            let mut writer = Writer::new(event, task.0);
            writer.number("size", frames.len() as u64);
            // The description says 8; there are as many as there are.
            let callers = event.fields.iter().find(|field| field.name == "caller");
            writer.bytes.truncate(callers.map_or(0, |callers| callers.offset));
            writer
                .bytes
                .extend(frames.iter().flat_map(|frame| frame.to_ne_bytes()));
            writer.bytes
        }
    }
}

fn block(kernel: &Kernel, event: &BlockEvent, rng: &mut Rng) -> Vec<u8> {
    let name = match event.step {
        Step::Queue => "block_bio_queue",
        Step::Allocate => "block_getrq",
        Step::Merge if rng.percent(50) => "block_bio_frontmerge",
        Step::Merge => "block_bio_backmerge",
        Step::Insert => "block_rq_insert",
        Step::Issue => "block_rq_issue",
        Step::Requeue => "block_rq_requeue",
        Step::Complete => "block_rq_complete",
        Step::CompleteBio => "block_bio_complete",
    };
    let format = kernel.event(name);
    let mut writer = Writer::new(format, event.pid);
    writer.number("dev", event.device.into());
    writer.number("sector", event.sector);
    writer.number("nr_sector", event.sectors.into());
    writer.number("bytes", u64::from(event.sectors) * 512);
    writer.number("error", (-i64::from(event.errno)) as u64);
    writer.bytes("rwbs", &letters(event.op, event.flags));
    writer.bytes("comm", event.comm.as_bytes());
    if format.fields.iter().any(|field| field.name == "cmd") {
        // An empty text behind the record.
        writer.number("cmd", 1 << 16 | format.size as u64);
        writer.bytes.extend([0; 4]);
    }
    writer.bytes
}

/// The letters of `blk_fill_rwbs`.
fn letters(op: BlockOp, flags: BlockFlags) -> Vec<u8> {
    let mut letters = Vec::new();
    let mut say = |condition: bool, letter: u8| {
        if condition {
            letters.push(letter);
        }
    };
    say(flags.has(BlockFlags::PREFLUSH), b'F');
    let op = match op {
        BlockOp::Read => b'R',
        BlockOp::Write => b'W',
        BlockOp::Discard => b'D',
        BlockOp::Flush => b'F',
        BlockOp::Other => b'N',
    };
    say(true, op);
    say(flags.has(BlockFlags::FUA), b'F');
    say(flags.has(BlockFlags::READ_AHEAD), b'A');
    say(flags.has(BlockFlags::SYNC), b'S');
    say(flags.has(BlockFlags::META), b'M');
    letters
}

fn state_bits(state: TaskState) -> u64 {
    match state {
        TaskState::Preempted => 0x100,
        TaskState::Sleeping => 1,
        TaskState::Uninterruptible => 2,
        TaskState::Other => 0x20,
        TaskState::Stopped => 4,
    }
}
