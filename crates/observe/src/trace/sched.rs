//! The tracer of who has the CPUs.
//!
//! Duty: keep the last stays on every CPU while it runs, and give those of a window when asked. Data in: which threads
//! are the load's. Data out: [`SchedSlice`]s, and an audit. It must not know why it is asked. One thread calls it about
//! every 100 ms; it never waits.

use super::decode::{SchedDecoder, SchedEvent, SchedKind};
use super::error::TraceUnavailable;
use super::instance::Instance;
use super::slices::Slices;
use super::source::Stream;
use crate::root::SystemRoot;
use fathom_core::record::SchedSlice;
use fathom_sys::clock::monotonic_ns;
use std::io;

const GROUP: &str = "sched";
const SWITCH: &str = "sched_switch";
/// What says that a task may run again, best first: the second comes only when the task's own CPU has taken note.
const WAKE: [&str; 2] = ["sched_waking", "sched_wakeup"];
/// The same of a new task.
const WAKE_NEW: &str = "sched_wakeup_new";

/// The threads whose waking is watched: of others it is only known that they waited after they were preempted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// All whose name begins so.
    pub comm_prefixes: Vec<String>,
    /// All with these numbers.
    pub tids: Vec<u32>,
}

impl Load {
    /// The filter that lets their wake-ups through; `None` for nobody.
    fn filter(&self) -> Option<String> {
        // The kernel's language has no escapes: a name that needs one cannot be asked for.
        let plain = |prefix: &&String| !prefix.contains(['"', '*', '\\', '?', '[']) && prefix.is_ascii();
        let names = self.comm_prefixes.iter().filter(plain);
        let names = names.map(|prefix| format!("comm~\"{prefix}*\""));
        let tids = self.tids.iter().map(|tid| format!("pid=={tid}"));
        let parts: Vec<String> = names.chain(tids).collect();
        (!parts.is_empty()).then(|| parts.join("||"))
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
}

impl SchedTracer {
    /// Starts to watch, with a buffer of `buffer_kib` for each CPU (about 14 switches a KiB; when it is full the oldest
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
        let switch = instance.format(GROUP, SWITCH)?;
        let mut formats = vec![switch.ok_or(TraceUnavailable::NoEvents {
            event: SWITCH,
            option: "CONFIG_EVENT_TRACING",
        })?];
        if let Some(filter) = load.filter() {
            let mut wakes = Vec::new();
            for event in WAKE {
                if wakes.is_empty() {
                    wakes.extend(instance.format(GROUP, event)?);
                }
            }
            wakes.extend(instance.format(GROUP, WAKE_NEW)?);
            for format in wakes {
                match instance.set_filter(GROUP, &format.name, &filter) {
                    Ok(()) => formats.push(format),
                    Err(error) => remarks.push(format!(
                        "{}: the kernel does not choose by task ({error}); when the load's threads were woken is not \
                         available",
                        format.name
                    )),
                }
            }
        }
        let decoder = SchedDecoder::new(&formats).map_err(|error| TraceUnavailable::NotUnderstood {
            path: instance.dir().join("events/sched"),
            reason: error.to_string(),
        })?;
        let pipes = instance.pipes()?;
        let cpus = pipes.cpus();
        for format in &formats {
            instance.enable(GROUP, &format.name)?;
        }
        instance.run(true)?;
        let tracer = Self {
            stream: Stream::new(pipes),
            instance,
            decoder,
            slices: Slices::new(&cpus, monotonic_ns()),
        };
        Ok((tracer, remarks))
    }

    /// Reads what the kernel wrote since the last call.
    ///
    /// # Errors
    /// The kernel's buffer cannot be read.
    pub fn poll(&mut self) -> io::Result<()> {
        let (decoder, slices) = (&self.decoder, &mut self.slices);
        self.stream.poll(
            monotonic_ns(),
            |cpu, record| decoder.decode(cpu, record),
            |cpu, time_ns| {
                Some(SchedEvent {
                    time_ns,
                    cpu,
                    kind: SchedKind::Gap,
                })
            },
            |event| slices.apply(event),
        )?;
        self.slices.seen_to(self.stream.complete_to_ns());
        Ok(())
    }

    /// Up to when all is known: 10 ms before the last [`Self::poll`]. Ask for windows that end before.
    pub fn complete_to_ns(&self) -> u64 {
        self.stream.complete_to_ns()
    }

    /// Appends the stays that overlap `from_ns..to_ns` and were not given before, in the order of their starts; see
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

    /// Stops.
    pub fn finish(self) -> SchedAudit {
        let mut remarks = Vec::new();
        if let Err(error) = self.instance.run(false) {
            remarks.push(error.to_string());
        }
        let lost = self.instance.lost().unwrap_or_else(|error| {
            remarks.push(format!(
                "how many events the kernel lost could not be read: {error}"
            ));
            super::instance::Lost::default()
        });
        let late = self.stream.late();
        let Self { stream, instance, .. } = self;
        drop(stream);
        remarks.extend(instance.remove());
        SchedAudit {
            lost: lost.total(),
            late,
            remarks,
        }
    }
}

#[cfg(test)]
mod tests;
