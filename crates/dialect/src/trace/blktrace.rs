//! blktrace's own files: records of 48 bytes (version 7) or 64 (version 8), each with what belongs to it behind it, one file a
//! processor, merged here by time; `blkparse -d` leaves one file of all.
//!
//! Fields as in the kernel's `blktrace_api.h`, in the byte order of the machine that recorded, which the magic number shows.

use super::events::{Action, Event, Events, What};
use super::{At, Order, Out, TraceError};
use fathom_core::backend::Op;
use std::collections::VecDeque;

const MAGIC: u32 = 0x6561_7400;
const V7_BYTES: usize = 48;
const V8_BYTES: usize = 64;
/// Of the action: what it does, above what happened.
const CATEGORY_SHIFT: u32 = 16;
const NOTIFY: u64 = 1 << 10;
/// What belongs to it begins with a control group.
const CGROUP: u64 = 0x100;

#[derive(Debug)]
pub(super) struct Blktrace {
    inputs: Vec<Input>,
    events: Events,
}

/// One file.
#[derive(Debug, Default)]
struct Input {
    /// Bytes that are no whole record yet, and where they are in the file.
    left: Vec<u8>,
    at: u64,
    layout: Option<Layout>,
    order: Order,
    /// Events that are not merged yet, each with the place of its record.
    queue: VecDeque<(u64, Event)>,
    ended: bool,
    /// What is wrong at `at`: said once all before it is merged, so that the first error is the same however bytes come.
    failed: Option<String>,
}

/// How the records of a file are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    version: u8,
    big_endian: bool,
}

impl Layout {
    /// Of the first four bytes; `None`: no magic number.
    fn of(bytes: [u8; 4]) -> Option<Self> {
        let layout = |magic: u32, big_endian| {
            (magic & !0xff == MAGIC).then_some(Self {
                version: magic as u8,
                big_endian,
            })
        };
        layout(u32::from_le_bytes(bytes), false).or_else(|| layout(u32::from_be_bytes(bytes), true))
    }

    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = [bytes[at], bytes[at + 1]];
        if self.big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    }

    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    }

    fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.u32(bytes, at)), u64::from(self.u32(bytes, at + 4)));
        if self.big_endian {
            first << 32 | second
        } else {
            second << 32 | first
        }
    }
}

/// Whether a file begins as blktrace's do.
pub(super) fn begins_like_one(head: &[u8]) -> bool {
    let magic = head.first_chunk().and_then(|&bytes| Layout::of(bytes));
    magic.is_some()
}

impl Blktrace {
    pub(super) fn new(inputs: usize) -> Self {
        Self {
            inputs: (0..inputs).map(|_| Input::default()).collect(),
            events: Events::default(),
        }
    }

    /// One that has nothing left to be merged.
    pub(super) fn wants(&self) -> Option<usize> {
        self.inputs
            .iter()
            .position(|input| !input.ended && input.queue.is_empty())
    }

    pub(super) fn feed(&mut self, input: usize, bytes: &[u8], out: &mut Out) -> Result<(), TraceError> {
        let error = |input, at, message| TraceError {
            input,
            at: At::Byte(at),
            message,
        };
        let fed = &mut self.inputs[input];
        fed.failed = fed.feed(bytes).err();
        loop {
            if let Some(waiting) = self.wants() {
                let Input { at, failed, .. } = &mut self.inputs[waiting];
                return match failed.take() {
                    Some(message) => Err(error(waiting, *at, message)),
                    None => Ok(()),
                };
            }
            let queues = self.inputs.iter().enumerate();
            let first = queues.filter_map(|(number, input)| Some((input.queue.front()?.1.ns, number)));
            let Some((_, number)) = first.min() else {
                self.events.finish(out);
                return match self.events.lacks() {
                    Some(lacks) => Err(error(0, 0, lacks)),
                    None => Ok(()),
                };
            };
            if let Some((at, event)) = self.inputs[number].queue.pop_front() {
                let taken = self.events.take(&event, out);
                taken.map_err(|message| error(number, at, message))?;
            }
        }
    }

    pub(super) fn has_ends(&self) -> bool {
        self.events.has_ends()
    }
}

impl Input {
    /// Takes bytes; none: the file has ended.
    fn feed(&mut self, bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() {
            self.ended = self.left.is_empty();
            if !self.ended {
                return Err(format!(
                    "the file ends within a record ({} bytes of it are there): it was cut off",
                    self.left.len()
                ));
            }
            return Ok(());
        }
        let joined;
        let all: &[u8] = if self.left.is_empty() {
            bytes
        } else {
            self.left.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.left);
            &joined
        };
        let mut rest = all;
        while let Some((event, len)) = self.record(rest)? {
            if let Some(event) = event {
                self.order.take(event.ns)?;
                self.queue.push_back((self.at, event));
            }
            rest = &rest[len..];
            self.at += len as u64;
        }
        self.left = rest.to_vec();
        Ok(())
    }

    /// The first record of `bytes`, and its length with all that belongs to it; `None`: it is not all there.
    fn record(&mut self, bytes: &[u8]) -> Result<Option<(Option<Event>, usize)>, String> {
        let Some(&magic) = bytes.first_chunk::<4>() else {
            return Ok(None);
        };
        let layout = Layout::of(magic).ok_or_else(|| {
            String::from("no record of blktrace begins here (its magic number is missing): the file is damaged, or another")
        })?;
        if *self.layout.get_or_insert(layout) != layout {
            return Err(String::from(
                "a record of another version or byte order than those before",
            ));
        }
        let fixed = match layout.version {
            7 => V7_BYTES,
            8 => V8_BYTES,
            other => {
                return Err(format!(
                    "version {other} of blktrace's format: 7 and 8 are read; blkparse may print it as text"
                ));
            }
        };
        if bytes.len() < fixed {
            return Ok(None);
        }
        let (action, device, pid, pdu) = if layout.version == 7 {
            (
                layout.u32(bytes, 28).into(),
                layout.u32(bytes, 36),
                layout.u32(bytes, 32),
                layout.u16(bytes, 46),
            )
        } else {
            (
                layout.u64(bytes, 32),
                layout.u32(bytes, 40),
                layout.u32(bytes, 28),
                layout.u16(bytes, 50),
            )
        };
        let len = fixed + usize::from(pdu);
        if bytes.len() < len {
            return Ok(None);
        }
        let event = event(action).map(|(action, what)| Event {
            ns: layout.u64(bytes, 8),
            device: (device >> 20, device & 0xf_ffff),
            action,
            sector: layout.u64(bytes, 16),
            len_bytes: layout.u32(bytes, 24).into(),
            pid,
            what,
        });
        Ok(Some((event, len)))
    }
}

/// What happened, and to what; `None`: nothing that is read. A note says a number of its own, which may be another action's.
fn event(action: u64) -> Option<(Action, What)> {
    let category = action >> CATEGORY_SHIFT;
    if category & NOTIFY != 0 {
        return None;
    }
    let happened = match action & 0xffff & !CGROUP {
        1 => Action::Queued,
        7 => Action::Issued,
        8 => Action::Completed,
        _ => return None,
    };
    let has = |bit: u32| category & 1 << bit != 0;
    let op = if has(12) {
        Some(Op::Trim)
    } else if has(1) {
        Some(Op::Write)
    } else if has(0) {
        Some(Op::Read)
    } else {
        None
    };
    // Commands passed through to the device are no I/O of its blocks.
    let what = What {
        op: op.filter(|_| !has(9)),
        flush: has(2),
        sync: has(3),
        ahead: has(11),
    };
    Some((happened, what))
}
