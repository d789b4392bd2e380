//! Requests of block devices as the lines that `blkparse` prints, for the tools that read those.
//!
//! Data in: requests in the order of their completion. Data out: a line an action, in the order of time: `Q` queued, `G`
//! allocated, `I` inserted, `D` issued, `C` complete. Memory is bounded: lines wait for those that may come before
//! them for [`HOLD_BACK_NS`], and the few that come later than that are written when they come, and counted.
//!
//! `maj,min cpu sequence time pid action rwbs sector + sectors [comm]`, as blkparse(1) describes its default. A record
//! does not say which CPU an action was on (0 here), nor in whose context a completion was (pid 0).

use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

/// How long a line waits for those before it: longer than nearly all requests take.
pub const HOLD_BACK_NS: u64 = 1_000_000_000;
/// Lines that may wait, whatever the rate: 64 MiB.
const HELD_MAX: usize = 1 << 20;
/// The place of a request that has none.
const NO_SECTOR: u64 = u64::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    pub lines: u64,
    /// Of them those that stand behind a line of a later time.
    pub out_of_order: u64,
}

/// Writes requests as lines.
#[derive(Debug)]
pub struct Blkparse {
    start_ns: u64,
    hold_back_ns: u64,
    held_max: usize,
    held: BinaryHeap<Reverse<Held>>,
    /// The latest completion so far.
    latest_ns: u64,
    /// Of the last line.
    last_ns: u64,
    written: Written,
}

/// One line that waits: its time, its place among those of the same time, and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    at_ns: u64,
    step: u8,
    sector: u64,
    len_bytes: u32,
    device: u32,
    pid: u32,
    errno: u16,
    op: BlockOp,
    flags: u8,
    comm: Comm,
}

/// The actions in the order in which a request has them.
const ACTIONS: [char; 5] = ['Q', 'G', 'I', 'D', 'C'];
const COMPLETE: u8 = 4;

impl Blkparse {
    /// For a record that began at `start_ns`, the time 0 of the lines.
    pub fn new(start_ns: u64) -> Self {
        Self::with_hold_back(start_ns, HOLD_BACK_NS, HELD_MAX)
    }

    fn with_hold_back(start_ns: u64, hold_back_ns: u64, held_max: usize) -> Self {
        Self {
            start_ns,
            hold_back_ns,
            held_max,
            held: BinaryHeap::new(),
            latest_ns: 0,
            last_ns: 0,
            written: Written::default(),
        }
    }

    /// Takes requests and writes the lines that no longer wait.
    ///
    /// # Errors
    /// `out` could not be written.
    pub fn rows(&mut self, requests: &[BlockRequest], out: &mut dyn Write) -> io::Result<()> {
        for request in requests {
            self.hold(request);
            self.latest_ns = self.latest_ns.max(request.completed_ns);
            self.write_until(
                self.latest_ns.saturating_sub(self.hold_back_ns),
                self.held_max,
                out,
            )?;
        }
        Ok(())
    }

    /// Writes the lines that still wait.
    ///
    /// # Errors
    /// `out` could not be written.
    pub fn finish(mut self, out: &mut dyn Write) -> io::Result<Written> {
        self.write_until(u64::MAX, 0, out)?;
        Ok(self.written)
    }

    fn hold(&mut self, request: &BlockRequest) {
        let ended = (!request.flags.has(BlockFlags::UNFINISHED)).then_some(request.completed_ns);
        let steps = [
            request.queued_ns,
            request.allocated_ns,
            request.inserted_ns,
            request.issued_ns,
            ended,
        ];
        for (step, at) in (0..).zip(steps) {
            if let Some(at_ns) = at {
                self.held.push(Reverse(Held {
                    at_ns,
                    step,
                    sector: request.sector,
                    len_bytes: request.len_bytes,
                    device: request.device,
                    pid: request.pid,
                    errno: request.errno,
                    op: request.op,
                    flags: request.flags.0,
                    comm: request.comm,
                }));
            }
        }
    }

    /// Writes lines before `until_ns`, and more while more than `most` wait.
    fn write_until(&mut self, until_ns: u64, most: usize, out: &mut dyn Write) -> io::Result<()> {
        while let Some(Reverse(next)) = self.held.peek().copied() {
            if next.at_ns >= until_ns && self.held.len() <= most {
                break;
            }
            self.held.pop();
            self.written.lines += 1;
            self.written.out_of_order += u64::from(next.at_ns < self.last_ns);
            self.last_ns = self.last_ns.max(next.at_ns);
            self.line(&next, out)?;
        }
        Ok(())
    }

    fn line(&self, held: &Held, out: &mut dyn Write) -> io::Result<()> {
        // What began before the record did is at its start.
        let since_ns = held.at_ns.saturating_sub(self.start_ns);
        let pid = if held.step == COMPLETE { 0 } else { held.pid };
        write!(
            out,
            "{:3},{:<3} {:2} {:8} {:5}.{:09} {pid:5} {:>2} {:>3} ",
            held.device >> 20,
            held.device & 0xf_ffff,
            0,
            self.written.lines,
            since_ns / 1_000_000_000,
            since_ns % 1_000_000_000,
            ACTIONS[usize::from(held.step)],
            rwbs(held.op, BlockFlags(held.flags)),
        )?;
        if held.sector != NO_SECTOR {
            write!(out, "{} + {} ", held.sector, held.len_bytes.div_ceil(512))?;
        }
        if held.step == COMPLETE {
            // The kernel's sign of an error.
            let minus = if held.errno == 0 { "" } else { "-" };
            writeln!(out, "[{minus}{}]", held.errno)
        } else {
            // A name may hold anything, an end of line as well.
            writeln!(out, "[{}]", held.comm.to_string().replace(char::is_control, "?"))
        }
    }
}

/// What a request does and how, in the kernel's letters (`blk_fill_rwbs`): a flush before, the operation, then FUA, read
/// ahead, sync, metadata.
fn rwbs(op: BlockOp, flags: BlockFlags) -> String {
    let operation = match op {
        BlockOp::Read => 'R',
        BlockOp::Write => 'W',
        BlockOp::Discard => 'D',
        BlockOp::Flush => 'F',
        BlockOp::Other => 'N',
    };
    let when = |bits: u8, letter: char| flags.has(bits).then_some(letter);
    [
        when(BlockFlags::PREFLUSH, 'F'),
        Some(operation),
        when(BlockFlags::FUA, 'F'),
        when(BlockFlags::READ_AHEAD, 'A'),
        when(BlockFlags::SYNC, 'S'),
        when(BlockFlags::META, 'M'),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests;
