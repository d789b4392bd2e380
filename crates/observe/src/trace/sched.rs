//! The tracer of who has the CPUs.
//!
//! Duty: give the stays of the load's threads on CPUs throughout and who had each CPU in short, keep the last stays of all
//! others, and give those of a window when asked. Data in: which threads are the load's, which tasks send I/O. Data out:
//! [`SchedSlice`]s, [`CpuShare`]s, and an audit. It must not know why it is asked. One thread calls it about every 50 ms;
//! it never waits.

mod stacks;

use super::decode::{SchedDecoder, SchedEvent, SchedKind};
use super::error::TraceUnavailable;
use super::format::EventFormat;
use super::instance::Instance;
use super::page::Record;
use super::slices::Slices;
use super::source::Stream;
use super::standstill::Standstills;
use super::symbols::Symbols;
use super::tree::{Tree, TreeSeen};
use super::witness::Witnesses;
use crate::root::SystemRoot;
use fathom_core::record::{CpuShare, KernelSpan, SchedSlice};
use fathom_sys::clock::monotonic_ns;
use std::io;

const GROUP: &str = "sched";
const SWITCH: &str = "sched_switch";
/// What says that a task may run again, best first: the second comes only when the task's own CPU has taken note.
const WAKE: [&str; 2] = ["sched_waking", "sched_wakeup"];
/// The same of a new task; where a task that may run goes; who makes whom.
const MORE: [&str; 3] = ["sched_wakeup_new", "sched_migrate_task", "sched_process_fork"];
/// A task takes another name, as it does when it becomes another program.
const RENAME: (&str, &str) = ("task", "task_rename");
/// A stack, as it is described.
const STACK: (&str, &str) = ("ftrace", "kernel_stack");
/// The kernel's functions and where they are.
const SYMBOLS: &str = "/proc/kallsyms";
/// So long after a stay began it is given, at least in part: those that go on are cut after a second.
const STAYS_LATE_NS: u64 = 1_200_000_000;
/// How often the condition for stacks may be changed.
const ASK_AGAIN_NS: u64 = 1_000_000_000;

/// The threads whose stays are given throughout.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// All whose name begins so.
    pub comm_prefixes: Vec<String>,
    /// All with these numbers.
    pub tids: Vec<u32>,
}

impl Load {
    fn is_empty(&self) -> bool {
        self.comm_prefixes.is_empty() && self.tids.is_empty()
    }

    /// The names that the kernel can be asked for: its language has no escapes.
    fn plain_prefixes(&self) -> Vec<&str> {
        let plain = |prefix: &&str| {
            !prefix.is_empty() && !prefix.contains(['"', '*', '\\', '?', '[']) && prefix.is_ascii()
        };
        let mut names: Vec<&str> = self
            .comm_prefixes
            .iter()
            .map(String::as_str)
            .filter(plain)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Watches the CPUs until it is dropped.
#[derive(Debug)]
pub struct SchedTracer {
    // Closed before the instance is removed: an open pipe keeps it.
    stream: Stream<SchedEvent>,
    instance: Instance,
    decoder: SchedDecoder,
    slices: Slices,
    load: Load,
    stacks: Stacks,
    tree: Option<Tree>,
    standstills: Option<(Standstills, Witnesses)>,
}

/// Whether stacks come, and of whom.
#[derive(Debug, Default)]
struct Stacks {
    /// The condition in force; `None` where there are none.
    condition: Option<String>,
    asked_ns: u64,
}

/// What became of the watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedAudit {
    /// Events that the kernel could not keep, by its own count.
    pub lost: u64,
    /// Events that came too late to be in order.
    pub late: u64,
    /// What else is to be said, a sentence each.
    pub remarks: Vec<String>,
    /// What was seen of the command, where one was followed.
    pub tree: Option<TreeSeen>,
}

impl SchedTracer {
    /// Starts to watch, with a buffer of `buffer_kib` for each CPU (about 12 events a KiB; when it is full the oldest
    /// are lost). Also says, a sentence each, what will not be seen.
    ///
    /// # Errors
    /// What is missing and how to get it.
    pub fn start(
        root: &SystemRoot,
        load: &Load,
        buffer_kib: u32,
    ) -> Result<(Self, Vec<String>), TraceUnavailable> {
        let instance = Instance::create(root)?;
        instance.set_buffer(buffer_kib, true)?;
        let mut remarks = Vec::new();
        let mut formats = formats(&instance, &mut remarks)?;
        let mut events: Vec<(&str, String)> = formats
            .iter()
            .map(|format| (GROUP, format.name.clone()))
            .collect();
        if let Some(format) = instance.format(RENAME.0, RENAME.1)? {
            events.push((RENAME.0, format.name.clone()));
            formats.push(format);
        }
        let symbols = stacks(root, &instance, &mut formats, &mut remarks);
        let decoder = SchedDecoder::new(&formats).map_err(|error| TraceUnavailable::NotUnderstood {
            path: instance.dir().join("events/sched"),
            reason: error.to_string(),
        })?;
        let pipes = instance.pipes()?;
        let cpus = pipes.cpus();
        let mut tracer = Self {
            stream: Stream::new(pipes),
            instance,
            slices: Slices::new(&cpus, load, monotonic_ns()),
            load: load.clone(),
            stacks: Stacks::default(),
            tree: None,
            standstills: None,
            decoder: decoder.with_symbols(symbols.clone().unwrap_or_default()),
        };
        if symbols.is_some()
            && let Err(error) = tracer.ask_for_stacks()
        {
            remarks.push(format!(
                "what threads waited for in the kernel is not available: the kernel does not write their stacks ({error})"
            ));
        }
        for (group, event) in &events {
            tracer.instance.enable(group, event)?;
        }
        tracer.instance.run(true)?;
        Ok((tracer, remarks))
    }

    /// Has the kernel write the stacks of those that are subjects by now.
    fn ask_for_stacks(&mut self) -> io::Result<()> {
        let condition = stacks::condition(&self.load, self.slices.unnamed());
        if self.stacks.condition.as_ref() == Some(&condition) {
            return Ok(());
        }
        // The kernel takes one at a time.
        if self.stacks.condition.take().is_some() {
            self.instance.remove_stack_trigger(GROUP, SWITCH)?;
        }
        self.instance.set_stack_trigger(GROUP, SWITCH, &condition)?;
        self.stacks.condition = Some(condition);
        Ok(())
    }

    /// These tasks sent I/O to a device that is watched: where there is no load, their stays are given throughout from here
    /// on, up to some thousand of them.
    pub fn submitters(&mut self, tids: impl IntoIterator<Item = u32>) {
        if self.load.is_empty() {
            for tid in tids {
                self.slices.follow(tid);
            }
        }
    }

    /// Notices by these when a CPU did not run.
    pub fn witness(&mut self, witnesses: Witnesses) {
        self.standstills = Some((Standstills::new(witnesses.name()), witnesses));
    }

    /// Appends when a CPU did not run, as far as that is known by now, in the order of the ends.
    pub fn take_standstills(&mut self, out: &mut Vec<KernelSpan>) {
        if let Some((standstills, _)) = &mut self.standstills {
            standstills.take(out);
        }
    }

    /// Follows a command: all that `tree` says is of it, with their stays throughout.
    pub fn follow(&mut self, tree: Tree) {
        self.tree = Some(tree);
    }

    /// The command that is followed.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    /// The same, to tell it more.
    pub fn tree_mut(&mut self) -> Option<&mut Tree> {
        self.tree.as_mut()
    }

    /// Reads what the kernel wrote since the last call.
    ///
    /// # Errors
    /// The kernel's buffer cannot be read.
    pub fn poll(&mut self) -> io::Result<()> {
        let now_ns = monotonic_ns();
        self.read(now_ns, false)?;
        let due = now_ns.saturating_sub(self.stacks.asked_ns) >= ASK_AGAIN_NS;
        if due && self.stacks.condition.is_some() {
            self.stacks.asked_ns = now_ns;
            self.ask_for_stacks()?;
        }
        Ok(())
    }

    fn read(&mut self, now_ns: u64, last: bool) -> io::Result<()> {
        let (decoder, slices) = (&self.decoder, &mut self.slices);
        let decode = |cpu, record: &Record<'_>| decoder.decode(cpu, record);
        let gap = |cpu, time_ns| {
            Some(SchedEvent {
                time_ns,
                cpu,
                kind: SchedKind::Gap,
            })
        };
        let (tree, standstills) = (&mut self.tree, &mut self.standstills);
        let take = |event: &SchedEvent| {
            slices.apply(event);
            if let Some((standstills, _)) = standstills.as_mut() {
                standstills.apply(event);
            }
            if let Some(tree) = tree.as_mut()
                && let Some(tid) = tree.apply(event)
            {
                slices.follow(tid);
            }
        };
        if last {
            self.stream.finish(now_ns, decode, gap, take)?;
            self.slices.seen_to(now_ns);
        } else {
            self.stream.poll(now_ns, decode, gap, take)?;
            self.slices.seen_to(self.stream.complete_to_ns());
        }
        Ok(())
    }

    /// Up to when all is known: 10 ms before the last [`Self::poll`]. Ask for windows that end before.
    pub fn complete_to_ns(&self) -> u64 {
        self.stream.complete_to_ns()
    }

    /// Appends what is known by now of the load's stays and of who had each CPU; see [`Slices::take_stays`],
    /// [`Slices::take_shares`].
    pub fn take(&mut self, stays: &mut Vec<SchedSlice>, shares: &mut Vec<CpuShare>) {
        let first = stays.len();
        self.slices.take_stays(stays);
        self.slices.take_shares(shares);
        if let Some(tree) = &mut self.tree {
            tree.stays(&stays[first..]);
            tree.settle(self.stream.complete_to_ns().saturating_sub(STAYS_LATE_NS));
        }
    }

    /// Appends the stays of others that overlap `from_ns..to_ns` and were not given before, in the order of their starts; see
    /// [`Slices::consult`].
    pub fn consult(&mut self, from_ns: u64, to_ns: u64, out: &mut Vec<SchedSlice>) {
        self.slices.consult(from_ns, to_ns, out);
    }

    /// Events lost so far, by the kernel's count.
    ///
    /// # Errors
    /// The count cannot be read.
    pub fn lost(&self) -> io::Result<u64> {
        Ok(self.instance.lost()?.total())
    }

    /// Stops and reads the rest, for [`Self::consult`] and [`Self::finish`] to give.
    ///
    /// # Errors
    /// The kernel refuses, or its buffer cannot be read.
    pub fn stop(&mut self) -> io::Result<()> {
        self.instance.run(false).map_err(io::Error::other)?;
        if self.stacks.condition.take().is_some() {
            self.instance.remove_stack_trigger(GROUP, SWITCH)?;
        }
        self.read(monotonic_ns(), true)
    }

    /// Ends, after [`Self::stop`]; appends the rest of what [`Self::take`] gives.
    pub fn finish(mut self, stays: &mut Vec<SchedSlice>, shares: &mut Vec<CpuShare>) -> SchedAudit {
        let mut remarks = Vec::new();
        let first = stays.len();
        self.slices.finish(stays, shares);
        let lost = self.instance.lost().unwrap_or_else(|error| {
            remarks.push(format!(
                "how many events the kernel lost could not be read: {error}"
            ));
            super::instance::Lost::default()
        });
        let late = self.stream.late();
        let Self {
            stream,
            instance,
            tree,
            ..
        } = self;
        drop(stream);
        remarks.extend(instance.remove());
        let tree = tree.map(|mut tree| {
            tree.stays(&stays[first..]);
            tree.finish(lost.total() + late)
        });
        SchedAudit {
            lost: lost.total(),
            late,
            remarks,
            tree,
        }
    }
}

/// The formats of the events that this kernel has.
fn formats(instance: &Instance, remarks: &mut Vec<String>) -> Result<Vec<EventFormat>, TraceUnavailable> {
    let switch = instance.format(GROUP, SWITCH)?;
    let mut formats = vec![switch.ok_or(TraceUnavailable::NoEvents {
        event: SWITCH,
        option: "CONFIG_EVENT_TRACING",
    })?];
    for event in WAKE {
        if formats.len() == 1 {
            formats.extend(instance.format(GROUP, event)?);
        }
    }
    if formats.len() == 1 {
        remarks.push(String::from(
            "this kernel has no event sched_waking: when threads were woken, and by whom, is not available",
        ));
    }
    for event in MORE {
        formats.extend(instance.format(GROUP, event)?);
    }
    Ok(formats)
}

/// What is needed to understand stacks; `None`, and why, where it is not there.
fn stacks(
    root: &SystemRoot,
    instance: &Instance,
    formats: &mut Vec<EventFormat>,
    remarks: &mut Vec<String>,
) -> Option<Symbols> {
    let reason = match (instance.format(STACK.0, STACK.1), root.read(SYMBOLS)) {
        (Ok(Some(format)), Ok(text)) => match Symbols::parse(&text) {
            Some(symbols) => {
                formats.push(format);
                return Some(symbols);
            }
            None => format!("{SYMBOLS} hides the addresses: set the sysctl kernel.kptr_restrict to 0 or 1"),
        },
        (Ok(None), _) => String::from("this kernel writes no stacks (CONFIG_STACKTRACE)"),
        (Err(error), _) => error.to_string(),
        (_, Err(error)) => format!("{SYMBOLS} cannot be read: {error}"),
    };
    remarks.push(format!(
        "what threads waited for in the kernel is not available: {reason}"
    ));
    None
}

#[cfg(test)]
mod tests;
