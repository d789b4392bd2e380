//! What each process uses.
//!
//! Duty: CPU time and I/O of every process since it was last looked at. Data in: `/proc/PID/stat`, `io` and `schedstat`
//! (proc(5)). Data out: [`ProcessRow`] for those that used any. It must not know which process is whose.
//!
//! The cost is bounded whatever the number of processes: those that do something are looked at each time, of the quiet ones
//! some at a time, in turn ([`QUIET_PER_ROUND`]). A row's duration says how long it covers.

mod files;
mod parse;

use super::Remarks;
use crate::root::SystemRoot;
use fathom_core::record::ProcessRow;
use files::{Files, Name};
use parse::{Io, Stat, parse_io, parse_run_delay, parse_stat};
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::path::Path;

/// Quiet processes looked at each time: 5 to 13 us each, more where their files cannot stay open
/// (`examples/counters_cost.rs`).
const QUIET_PER_ROUND: usize = 64;

/// Quiet kernel threads looked at each time.
const QUIET_KERNEL_PER_ROUND: usize = 16;

/// After so many looks without a change a process is quiet.
const QUIET_AFTER: u8 = 3;

/// More than any of the three files holds; each is given whole by one read.
const FILE_BYTES: usize = 4096;

#[derive(Debug)]
pub(super) struct Processes {
    /// `/proc`, twice: to read files in, and to list.
    listing: Option<(Files, Dir)>,
    known: HashMap<u32, Known>,
    pids: Vec<u32>,
    chosen: Vec<u32>,
    buffer: Vec<u8>,
    tick_ns: u64,
    round: u64,
    /// It was said that some processes do not show their I/O.
    refused: bool,
    /// When the round before was.
    previous_ns: Option<u64>,
    turn: Turn,
    kernel_turn: Turn,
}

/// Processes that take turns.
#[derive(Debug)]
struct Turn {
    /// How many at a time.
    per_round: usize,
    /// All of them, in the order of their numbers.
    quiet: Vec<u32>,
    /// The last one whose turn it was.
    last: u32,
}

/// A process as it was last seen.
#[derive(Debug, Clone, Copy)]
struct Known {
    stat: Stat,
    io: Io,
    run_delay_ns: u64,
    at_ns: u64,
    listed: u64,
    quiet: u8,
    io_refused: bool,
    /// What its children that ended had used: the kernel adds it to its own I/O once it has waited for them (kernel/exit.c,
    /// `wait_task_zombie`), and it was counted as theirs already.
    inherited: Io,
}

impl Processes {
    pub(super) fn new(root: &SystemRoot, remarks: &mut Remarks) -> Self {
        let listing = list(&root.at(Path::new("/proc")));
        if let Err(error) = &listing {
            remarks.say(format!(
                "what each process uses: not available, because /proc cannot be listed: {error}"
            ));
        }
        let mut processes = Self {
            listing: listing.ok(),
            known: HashMap::new(),
            pids: Vec::new(),
            chosen: Vec::new(),
            buffer: vec![0; FILE_BYTES],
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            round: 0,
            refused: false,
            previous_ns: None,
            turn: Turn::new(QUIET_PER_ROUND),
            kernel_turn: Turn::new(QUIET_KERNEL_PER_ROUND),
        };
        processes.probe(remarks);
        processes
    }

    /// Says what no process will show.
    fn probe(&mut self, remarks: &mut Remarks) {
        let Some((files, _)) = &self.listing else {
            return;
        };
        if let Err(errno) = files.probe(Name::Io, &mut self.buffer) {
            remarks.say(format!(
                "the I/O of each process: not available, because /proc/self/io cannot be read: {errno}; it takes a \
                 kernel with CONFIG_TASK_IO_ACCOUNTING"
            ));
        }
        if let Err(errno) = files.probe(Name::Schedstat, &mut self.buffer) {
            remarks.say(format!(
                "how long each process waited for a CPU: not available, because /proc/self/schedstat cannot be read: \
                 {errno}; it takes a kernel with CONFIG_SCHED_INFO"
            ));
        }
    }

    pub(super) fn sample(&mut self, now_ns: u64, out: &mut Vec<ProcessRow>, remarks: &mut Remarks) {
        self.round += 1;
        if let Err(error) = self.list(remarks) {
            remarks.say(format!(
                "what each process uses: not available, because /proc cannot be listed: {error}"
            ));
            return;
        }
        self.drop_ended();
        self.choose();
        let chosen = std::mem::take(&mut self.chosen);
        for &pid in &chosen {
            self.look(pid, now_ns, out, remarks);
        }
        self.chosen = chosen;
        self.previous_ns = Some(now_ns);
    }

    /// Chooses whom to look at: all that are not quiet, and the next of those that are.
    fn choose(&mut self) {
        let known = &self.known;
        let quiet = |pid: &u32| known.get(pid).filter(|known| known.quiet >= QUIET_AFTER);
        self.chosen.clear();
        self.chosen
            .extend(self.pids.iter().filter(|pid| quiet(pid).is_none()));
        for (turn, kernel_threads) in [(&mut self.turn, false), (&mut self.kernel_turn, true)] {
            turn.quiet.clear();
            let of_kind =
                |pid: &&u32| quiet(pid).is_some_and(|known| known.stat.kernel_thread == kernel_threads);
            turn.quiet.extend(self.pids.iter().filter(of_kind));
            turn.take(&mut self.chosen);
        }
    }

    /// Notes who is there.
    fn list(&mut self, remarks: &mut Remarks) -> Result<(), Errno> {
        self.pids.clear();
        let Some((_, directory)) = &mut self.listing else {
            return Ok(());
        };
        directory.rewind();
        while let Some(entry) = directory.read() {
            let name = entry?;
            let Some(pid) = super::text::number(name.file_name().to_bytes()) else {
                continue;
            };
            match u32::try_from(pid) {
                Ok(pid) => self.pids.push(pid),
                Err(_) => remarks.say(format!("process {pid} is left out: its number is out of range")),
            }
        }
        self.pids.sort_unstable();
        for pid in &self.pids {
            if let Some(known) = self.known.get_mut(pid) {
                known.listed = self.round;
            }
        }
        Ok(())
    }

    /// Forgets those that are gone, and notes with their parents what these will inherit.
    fn drop_ended(&mut self) {
        let round = self.round;
        let ended: Vec<(u32, Known)> = self.known.extract_if(|_, known| known.listed != round).collect();
        for (pid, child) in ended {
            if let Some((files, _)) = &mut self.listing {
                files.close(pid);
            }
            self.bequeath(&child);
        }
    }

    fn bequeath(&mut self, child: &Known) {
        if let Some(parent) = self.known.get_mut(&child.stat.parent) {
            parent.inherited.add(&child.io);
        }
    }

    /// Looks at one process and gives its row, if it used anything.
    fn look(&mut self, pid: u32, now_ns: u64, out: &mut Vec<ProcessRow>, remarks: &mut Remarks) {
        let Some((files, _)) = &mut self.listing else {
            return;
        };
        // Kernel threads are many, and of those that were not seen before many are gone at the next look.
        let seen = self.known.get(&pid);
        let keep = seen.is_some_and(|known| !known.stat.kernel_thread);
        let stat = files.read(pid, Name::Stat, keep, &mut self.buffer).ok();
        let Some(stat) = stat.and_then(parse_stat) else {
            // It ended between the listing and now.
            files.close(pid);
            if let Some(gone) = self.known.remove(&pid) {
                self.bequeath(&gone);
            }
            return;
        };
        let same = |known: &&Known| known.stat.start_ticks == stat.start_ticks;
        let known = self.known.get(&pid).filter(same).copied();
        let before = known.unwrap_or_else(|| Known::unseen(stat, self.previous_ns.unwrap_or(now_ns)));
        let mut now = Known {
            stat,
            at_ns: now_ns,
            listed: self.round,
            ..before
        };
        let ran = known.is_none() || stat.ticks != before.stat.ticks;
        // Kernel threads are many, and seldom do anything.
        if !before.io_refused && (ran || !stat.kernel_thread) {
            match files.read(pid, Name::Io, keep, &mut self.buffer) {
                Ok(text) => now.io = parse_io(text).unwrap_or(before.io),
                Err(Errno::ACCESS | Errno::PERM) => {
                    now.io_refused = true;
                    if !std::mem::replace(&mut self.refused, true) {
                        remarks.say(refused(pid, &now.stat));
                    }
                }
                // It ended, or this kernel keeps none (said at the start).
                Err(_) => {}
            }
        }
        if ran {
            let text = files.read(pid, Name::Schedstat, false, &mut self.buffer).ok();
            now.run_delay_ns = text.and_then(parse_run_delay).unwrap_or(before.run_delay_ns);
        }
        let first_round = self.previous_ns.is_none();
        let row = row(pid, &before, &mut now, self.tick_ns).filter(|_| !first_round);
        now.quiet = if row.is_some() || known.is_none() {
            0
        } else {
            before.quiet.saturating_add(1)
        };
        out.extend(row);
        self.known.insert(pid, now);
    }
}

impl Turn {
    fn new(per_round: usize) -> Self {
        Self {
            per_round,
            quiet: Vec::new(),
            last: 0,
        }
    }

    /// Appends those whose turn it is: from where the last round stopped, and around.
    fn take(&mut self, chosen: &mut Vec<u32>) {
        let next = self.quiet.partition_point(|&pid| pid <= self.last);
        let (before, after) = self.quiet.split_at(next);
        let turn = after.iter().chain(before).take(self.per_round);
        chosen.extend(turn.inspect(|&&pid| self.last = pid));
    }
}

/// What is said once, of the first process that it is true of.
fn refused(pid: u32, stat: &Stat) -> String {
    format!(
        "the I/O of some processes, such as {pid} ({}): not available, because /proc/{pid}/io is refused; run as root or \
         with CAP_SYS_PTRACE (a process can be protected even so)",
        stat.comm
    )
}

impl Known {
    /// A process of which nothing was seen before: all that it used, it used since the round before.
    fn unseen(stat: Stat, at_ns: u64) -> Self {
        Self {
            stat: Stat { ticks: 0, ..stat },
            io: Io::default(),
            run_delay_ns: 0,
            at_ns,
            listed: 0,
            quiet: 0,
            io_refused: false,
            inherited: Io::default(),
        }
    }
}

/// What was used from `before` to `now`; `None` for nothing. Uses up what was inherited where the I/O grew.
fn row(pid: u32, before: &Known, now: &mut Known, tick_ns: u64) -> Option<ProcessRow> {
    let mut io = now.io.since(&before.io);
    if io != Io::default() {
        io = io.since(&now.inherited);
        now.inherited = Io::default();
    }
    let ticks = now.stat.ticks.saturating_sub(before.stat.ticks);
    let used = ProcessRow {
        at_ns: now.at_ns,
        duration_ns: now.at_ns.saturating_sub(before.at_ns),
        pid,
        comm: now.stat.comm,
        cpu_ns: ticks.saturating_mul(tick_ns),
        run_delay_ns: now.run_delay_ns.saturating_sub(before.run_delay_ns),
        read_bytes: io.read_bytes,
        written_bytes: io.written_bytes,
    };
    (used.cpu_ns > 0 || used.read_bytes > 0 || used.written_bytes > 0).then_some(used)
}

fn list(path: &Path) -> Result<(Files, Dir), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let proc = rustix::fs::open(path, flags, Mode::empty())?;
    let directory = Dir::read_from(&proc)?;
    Ok((Files::new(proc), directory))
}

#[cfg(test)]
mod tests;
