//! The scheduler's events (include/trace/events/sched.h).

use super::{ById, Place, UnusableEvent, bytes, number};
use crate::trace::format::EventFormat;
use crate::trace::order::Timed;
use crate::trace::page::Record;
use crate::trace::symbols::Symbols;
use fathom_core::record::{BlockedOn, Comm, TaskState};

/// Bits of `common_flags`: the event was written in a hardware interrupt, a soft one or a non-maskable one, and not by the
/// task that it interrupted (`trace_flag_type` of `include/linux/trace_events.h`).
pub(super) const IN_INTERRUPT: u64 = 0x08 | 0x10 | 0x40;

/// What the scheduler did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedKind {
    /// The CPU went from one task to the next (`sched_switch`).
    Switch {
        /// Who left it; 0 is the idle task.
        from: u32,
        /// Its name.
        from_comm: Comm,
        /// Why.
        state: TaskState,
        /// Who got it; 0 is the idle task.
        to: u32,
        /// Its name.
        to_comm: Comm,
    },
    /// A task may run from here on (`sched_waking`, `sched_wakeup`, `sched_wakeup_new`).
    Wake {
        /// Which task.
        tid: u32,
        /// Its name.
        comm: Comm,
        /// The CPU that it is to run on, as far as was known.
        target_cpu: u32,
        /// Who woke it; 0 for an interrupt.
        waker: u32,
    },
    /// A task that may run was given to another CPU (`sched_migrate_task`).
    Migrate {
        /// Which task.
        tid: u32,
        /// Where it is to run.
        to_cpu: u32,
    },
    /// A task made another one (`sched_process_fork`).
    Fork {
        /// Who made it.
        parent: u32,
        /// The new one.
        child: u32,
    },
    /// A task took another name (`task_rename` of include/trace/events/task.h).
    Rename {
        /// Which task.
        tid: u32,
        /// Its name from here on.
        comm: Comm,
    },
    /// The kernel's stack of a task at the switch before this (`kernel_stack`).
    Stack {
        /// Which task.
        tid: u32,
        /// What the stack says it waits for.
        on: BlockedOn,
    },
    /// Events of this CPU were lost before this moment.
    Gap,
}

/// One event of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedEvent {
    /// When.
    pub time_ns: u64,
    /// On which CPU it was written; of a wake-up, the waker's.
    pub cpu: u32,
    pub kind: SchedKind,
}

impl Timed for SchedEvent {
    #[inline]
    fn time_ns(&self) -> u64 {
        self.time_ns
    }
}

#[derive(Debug, Clone, Copy)]
enum Layout {
    Switch {
        from: Place,
        from_comm: Place,
        state: Place,
        to: Place,
        to_comm: Place,
    },
    Wake {
        tid: Place,
        comm: Place,
        target_cpu: Option<Place>,
        flags: Option<Place>,
    },
    Migrate {
        tid: Place,
        to_cpu: Place,
    },
    Fork {
        parent: Place,
        child: Place,
    },
    Rename {
        tid: Option<Place>,
        comm: Place,
    },
    Stack {
        count: Place,
        frames: usize,
    },
}

impl Layout {
    fn new(format: &EventFormat) -> Option<Result<Self, UnusableEvent>> {
        match format.name.as_str() {
            "sched_switch" => Some(Self::switch(format)),
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => Some(Self::wake(format)),
            "sched_migrate_task" => Some(Self::migrate(format)),
            "sched_process_fork" => Some(Self::fork(format)),
            "task_rename" => Some(Self::rename(format)),
            "kernel_stack" => Some(Self::stack(format)),
            _ => None,
        }
    }

    fn switch(format: &EventFormat) -> Result<Self, UnusableEvent> {
        Ok(Self::Switch {
            from: number(format, "prev_pid")?,
            from_comm: bytes(format, "prev_comm")?,
            state: number(format, "prev_state")?,
            to: number(format, "next_pid")?,
            to_comm: bytes(format, "next_comm")?,
        })
    }

    fn wake(format: &EventFormat) -> Result<Self, UnusableEvent> {
        Ok(Self::Wake {
            tid: number(format, "pid")?,
            comm: bytes(format, "comm")?,
            target_cpu: format.field("target_cpu").map(Place::from_field),
            flags: format.field("common_flags").map(Place::from_field),
        })
    }

    fn migrate(format: &EventFormat) -> Result<Self, UnusableEvent> {
        Ok(Self::Migrate {
            tid: number(format, "pid")?,
            to_cpu: number(format, "dest_cpu")?,
        })
    }

    fn fork(format: &EventFormat) -> Result<Self, UnusableEvent> {
        Ok(Self::Fork {
            parent: number(format, "parent_pid")?,
            child: number(format, "child_pid")?,
        })
    }

    /// Where the event does not say whom it is about, it is about who wrote it.
    fn rename(format: &EventFormat) -> Result<Self, UnusableEvent> {
        Ok(Self::Rename {
            tid: format.field("pid").map(Place::from_field),
            comm: bytes(format, "newcomm")?,
        })
    }

    /// The description says 8 frames; a record has as many as it says.
    fn stack(format: &EventFormat) -> Result<Self, UnusableEvent> {
        Ok(Self::Stack {
            count: number(format, "size")?,
            frames: bytes(format, "caller")?.offset,
        })
    }
}

/// Turns records into events.
#[derive(Debug, Clone)]
pub struct SchedDecoder {
    layouts: ById<Layout>,
    symbols: Symbols,
}

impl SchedDecoder {
    /// For the events of `formats`; those that are not of the scheduler are left alone.
    ///
    /// # Errors
    /// There is none, or one lacks a field that is needed.
    pub fn new(formats: &[EventFormat]) -> Result<Self, UnusableEvent> {
        let known = formats
            .iter()
            .filter_map(|format| Some((format, Layout::new(format)?)));
        let layouts = known.map(|(format, layout)| Ok((format, layout?)));
        Ok(Self {
            layouts: ById::new(layouts.collect::<Result<_, _>>()?)?,
            symbols: Symbols::default(),
        })
    }

    /// With the functions that tell what a stack waits for; without them, no stack says anything.
    #[must_use]
    pub fn with_symbols(mut self, symbols: Symbols) -> Self {
        self.symbols = symbols;
        self
    }

    /// The event of a record that `cpu` wrote; `None` where it is another one or too short.
    #[inline]
    pub fn decode(&self, cpu: u32, record: &Record<'_>) -> Option<SchedEvent> {
        let payload = record.payload;
        let tid = |place: Place| place.number(payload).map(|tid| tid as u32);
        let comm = |place: Place| place.bytes(payload).map(Comm::new);
        let kind = match *self.layouts.find(payload)? {
            Layout::Switch {
                from,
                from_comm,
                state,
                to,
                to_comm,
            } => SchedKind::Switch {
                from: tid(from)?,
                from_comm: comm(from_comm)?,
                state: task_state(state.number(payload)?),
                to: tid(to)?,
                to_comm: comm(to_comm)?,
            },
            Layout::Wake {
                tid: task,
                comm: name,
                target_cpu,
                flags,
            } => {
                let flags = flags.and_then(|flags| flags.number(payload)).unwrap_or(0);
                let interrupt = flags & IN_INTERRUPT != 0;
                SchedKind::Wake {
                    tid: tid(task)?,
                    comm: comm(name)?,
                    target_cpu: target_cpu.map_or(Some(cpu), tid)?,
                    waker: if interrupt { 0 } else { self.layouts.pid(payload)? },
                }
            }
            Layout::Migrate { tid: task, to_cpu } => SchedKind::Migrate {
                tid: tid(task)?,
                to_cpu: tid(to_cpu)?,
            },
            Layout::Fork { parent, child } => SchedKind::Fork {
                parent: tid(parent)?,
                child: tid(child)?,
            },
            Layout::Rename {
                tid: task,
                comm: name,
            } => SchedKind::Rename {
                tid: task.and_then(tid).or_else(|| self.layouts.pid(payload))?,
                comm: comm(name)?,
            },
            Layout::Stack { count, frames } => {
                let count = count.number(payload)? as usize;
                let frames = payload.get(frames..)?.chunks_exact(size_of::<u64>());
                let frames = frames.map(|frame| frame.try_into().map_or(0, u64::from_ne_bytes));
                SchedKind::Stack {
                    tid: self.layouts.pid(payload)?,
                    on: self.symbols.blocked_on(frames.take(count)),
                }
            }
        };
        Some(SchedEvent {
            time_ns: record.time_ns,
            cpu,
            kind,
        })
    }
}

/// What the bits of `prev_state` say (`__trace_sched_switch_state`): the three lowest are the same in all kernels; 0x80
/// is a kernel thread that idles; what lies above says that a task was preempted.
fn task_state(bits: u64) -> TaskState {
    match bits & 0xff {
        0 => TaskState::Preempted,
        0x80 => TaskState::Sleeping,
        state if state & 2 != 0 => TaskState::Uninterruptible,
        state if state & 1 != 0 => TaskState::Sleeping,
        state if state & 4 != 0 => TaskState::Stopped,
        _ => TaskState::Other,
    }
}
