//! The tracer of what the kernel does for a while: commits of journals, writeback, reclaim, throttles, signals that stop.
//!
//! Duty: have the kernel's events of these become spans while it runs, and tell on whose behalf requests were made. Data in:
//! which devices, requests. Data out: [`KernelSpan`]s, owners, and an audit. It must not know what they are kept for. One
//! thread calls it about every 50 ms; it never waits. What this kernel does not have is a remark: no event is needed.

use super::decode::{KernelDecoder, KernelEvent, KernelKind};
use super::error::TraceUnavailable;
use super::format::EventFormat;
use super::instance::{Instance, Lost};
use super::names::Names;
use super::page::Record;
use super::source::Stream;
use super::spans::Spans;
use crate::root::SystemRoot;
use crate::target::TraceDevice;
use fathom_core::record::{BlockRequest, KernelSpan};
use fathom_sys::clock::monotonic_ns;
use std::io;

/// Which records of an event are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    All,
    /// Of the devices, by number.
    Devices,
    /// Of the devices, by the name `MAJOR:MINOR` of their disks.
    Names,
    /// Those of which this is true.
    If(&'static str),
}

/// Events, and what is not available without them.
const EVENTS: [(&str, &str, Choice, &str); 19] = [
    (
        "jbd2",
        "jbd2_start_commit",
        Choice::Devices,
        "commits of ext4's journal",
    ),
    (
        "jbd2",
        "jbd2_end_commit",
        Choice::Devices,
        "commits of ext4's journal",
    ),
    (
        "sched",
        "sched_waking",
        Choice::If("comm~\"jbd2/*\""),
        "who asked for a commit",
    ),
    (
        "ext4",
        "ext4_sync_file_enter",
        Choice::Devices,
        "syncs of files on ext4",
    ),
    (
        "ext4",
        "ext4_sync_file_exit",
        Choice::Devices,
        "syncs of files on ext4",
    ),
    (
        "vmscan",
        "mm_vmscan_memcg_reclaim_begin",
        Choice::All,
        "reclaim for a control group",
    ),
    (
        "vmscan",
        "mm_vmscan_memcg_reclaim_end",
        Choice::All,
        "reclaim for a control group",
    ),
    (
        "vmscan",
        "mm_vmscan_direct_reclaim_begin",
        Choice::All,
        "reclaim of memory",
    ),
    (
        "vmscan",
        "mm_vmscan_direct_reclaim_end",
        Choice::All,
        "reclaim of memory",
    ),
    (
        "vmscan",
        "mm_vmscan_throttled",
        Choice::All,
        "how long reclaim made tasks wait",
    ),
    (
        "writeback",
        "balance_dirty_pages",
        Choice::If("pause>0"),
        "throttling of those who dirty pages",
    ),
    (
        "writeback",
        "writeback_single_inode_start",
        Choice::Names,
        "which inode is written back",
    ),
    (
        "writeback",
        "writeback_single_inode",
        Choice::Names,
        "which inode is written back",
    ),
    (
        "ext4",
        "ext4_da_write_begin",
        Choice::Devices,
        "who writes how much to files on ext4",
    ),
    (
        "writeback",
        "writeback_dirty_folio",
        Choice::Names,
        "who makes pages dirty",
    ),
    (
        "ext4",
        "ext4_free_blocks",
        Choice::Devices,
        "whose blocks are discarded",
    ),
    (
        "signal",
        "signal_generate",
        Choice::If("sig==19||sig==18||sig==9"),
        "signals that stop",
    ),
    (
        "cgroup",
        "cgroup_freeze",
        Choice::All,
        "the freezer of control groups",
    ),
    (
        "cgroup",
        "cgroup_unfreeze",
        Choice::All,
        "the freezer of control groups",
    ),
];
/// What takes the place of the events of all file systems where those are not there.
const PAGES: [(&str, &str); 2] = [("ext4", "ext4_writepages"), ("ext4", "ext4_writepages_result")];

/// Traces the kernel's doings until it is dropped.
#[derive(Debug)]
pub struct KernelTracer {
    // Closed before the instance is removed: an open pipe keeps it.
    stream: Stream<KernelEvent>,
    instance: Instance,
    decoder: KernelDecoder,
    spans: Spans,
    names: Names,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelAudit {
    /// Events that the kernel could not keep, by its own count.
    pub lost: u64,
    /// Events that came too late to be in order.
    pub late: u64,
    /// What else is to be said, a sentence each.
    pub remarks: Vec<String>,
}

impl KernelTracer {
    /// Starts to trace, as far as devices go `devices`, with a buffer of `buffer_kib` for each CPU. Also says, a sentence
    /// each, what will not be seen.
    ///
    /// # Errors
    /// What is missing and how to get it.
    pub fn start(
        root: &SystemRoot,
        devices: &[TraceDevice],
        buffer_kib: u32,
    ) -> Result<(Self, Vec<String>), TraceUnavailable> {
        let instance = Instance::create(root)?;
        // The oldest are lost: that is seen where it happened.
        instance.set_buffer(buffer_kib, true)?;
        let mut remarks = Vec::new();
        let events = events(&instance, devices, &mut remarks)?;
        let formats: Vec<EventFormat> = events.iter().map(|(_, format)| format.clone()).collect();
        let decoder = KernelDecoder::new(&formats).map_err(|error| TraceUnavailable::NotUnderstood {
            path: instance.dir().join("events"),
            reason: error.to_string(),
        })?;
        let stream = Stream::new(instance.pipes()?);
        for (group, format) in &events {
            instance.enable(group, &format.name)?;
        }
        instance.run(true)?;
        let names = Names::new(root, instance.saved_names());
        let disk_of = |device: &TraceDevice| {
            let disk = device.dev;
            let partitions = device.partition_devs.clone().into_iter();
            partitions.map(move |partition| (partition, disk))
        };
        let tracer = Self {
            stream,
            instance,
            decoder,
            spans: Spans::new(devices.iter().flat_map(disk_of).collect()),
            names,
        };
        Ok((tracer, remarks))
    }

    /// Reads what the kernel wrote since the last call. To be called after the requests of which it is to tell the owners were
    /// read.
    ///
    /// # Errors
    /// The kernel's buffer cannot be read.
    pub fn poll(&mut self) -> io::Result<()> {
        self.read(monotonic_ns(), false)
    }

    fn read(&mut self, now_ns: u64, last: bool) -> io::Result<()> {
        let (decoder, spans) = (&self.decoder, &mut self.spans);
        let decode = |_, record: &Record<'_>| decoder.decode(record);
        let gap = |_, time_ns| {
            Some(KernelEvent {
                time_ns,
                tid: 0,
                kind: KernelKind::Gap,
            })
        };
        let take = |event: &KernelEvent| spans.apply(event);
        if last {
            self.stream.finish(now_ns, decode, gap, take)?;
            self.spans.seen_to(now_ns);
        } else {
            self.stream.poll(now_ns, decode, gap, take)?;
            self.spans.seen_to(self.stream.complete_to_ns());
        }
        Ok(())
    }

    /// Notes of each request on whose behalf it was made, where that is another task.
    pub fn own(&mut self, rows: &mut [BlockRequest]) {
        let now_ns = self.stream.complete_to_ns();
        for row in rows {
            if let Some(by) = self.spans.owner(row) {
                (row.owner_pid, row.owner_comm) = (by, self.names.of(by, now_ns));
            }
        }
    }

    /// Appends the spans that have ended, in the order of their ends.
    pub fn take(&mut self, out: &mut Vec<KernelSpan>) {
        let first = out.len();
        self.spans.take(out);
        self.name(&mut out[first..]);
    }

    fn name(&mut self, spans: &mut [KernelSpan]) {
        let now_ns = self.stream.complete_to_ns();
        for span in spans {
            if span.comm.as_bytes().is_empty() {
                span.comm = self.names.of(span.tid, now_ns);
            }
            span.by_comm = self.names.of(span.by_tid, now_ns);
        }
    }

    /// Events lost so far, by the kernel's count.
    ///
    /// # Errors
    /// The count cannot be read.
    pub fn lost(&self) -> io::Result<u64> {
        Ok(self.instance.lost()?.total())
    }

    /// Stops and reads the rest, for [`Self::own`] and [`Self::finish`] to use.
    ///
    /// # Errors
    /// The kernel refuses, or its buffer cannot be read.
    pub fn stop(&mut self) -> io::Result<()> {
        self.instance.run(false).map_err(io::Error::other)?;
        self.read(monotonic_ns(), true)
    }

    /// Ends, after [`Self::stop`]; appends the rest, what goes on as if it ended now.
    pub fn finish(mut self, out: &mut Vec<KernelSpan>) -> KernelAudit {
        let mut remarks = Vec::new();
        let first = out.len();
        self.spans.finish(out);
        self.name(&mut out[first..]);
        let lost = self.instance.lost().unwrap_or_else(|error| {
            remarks.push(format!(
                "how many events the kernel lost could not be read: {error}"
            ));
            Lost::default()
        });
        let late = self.stream.late();
        let Self { stream, instance, .. } = self;
        drop(stream);
        remarks.extend(instance.remove());
        KernelAudit {
            lost: lost.total(),
            late,
            remarks,
        }
    }
}

/// The events that this kernel has, with their groups, chosen by their filters.
fn events(
    instance: &Instance,
    devices: &[TraceDevice],
    remarks: &mut Vec<String>,
) -> Result<Vec<(&'static str, EventFormat)>, TraceUnavailable> {
    let mut found = Vec::new();
    let mut missing: Vec<&str> = Vec::new();
    let mut single_inodes = true;
    for (group, event, choice, what) in EVENTS {
        let Some(format) = instance.format(group, event)? else {
            single_inodes &= !event.starts_with("writeback_single_inode");
            if !missing.contains(&what) {
                missing.push(what);
            }
            continue;
        };
        if chosen(instance, (group, event), choice, devices, remarks) {
            found.push((group, format));
        }
    }
    if !single_inodes {
        found.retain(|(_, format)| !format.name.starts_with("writeback_single_inode"));
        for (group, event) in PAGES {
            if let Some(format) = instance.format(group, event)?
                && chosen(instance, (group, event), Choice::Devices, devices, remarks)
            {
                found.push((group, format));
            }
        }
    }
    if !missing.is_empty() {
        remarks.push(format!(
            "this kernel has no events for {}: not available",
            missing.join(", ")
        ));
    }
    if found.is_empty() {
        return Err(TraceUnavailable::NoEvents {
            event: "writeback_single_inode",
            option: "CONFIG_EVENT_TRACING",
        });
    }
    Ok(found)
}

/// Sets an event's filter; an event that cannot be chosen from is not used.
fn chosen(
    instance: &Instance,
    (group, event): (&str, &str),
    choice: Choice,
    devices: &[TraceDevice],
    remarks: &mut Vec<String>,
) -> bool {
    let parts: Vec<String> = match choice {
        Choice::All => return true,
        Choice::If(condition) => vec![condition.to_owned()],
        Choice::Devices => devices
            .iter()
            .flat_map(|device| std::iter::once(device.dev).chain(device.partition_devs.iter().copied()))
            .map(|number| format!("dev=={number}"))
            .collect(),
        Choice::Names => devices
            .iter()
            .map(|device| format!("name==\"{}:{}\"", device.dev >> 20, device.dev & 0xf_ffff))
            .collect(),
    };
    if parts.is_empty() {
        return false;
    }
    let set = instance.set_filter(group, event, &parts.join("||"));
    if let Err(error) = &set {
        remarks.push(format!(
            "{event}: the kernel does not choose by {choice:?} ({error}): not used"
        ));
    }
    set.is_ok()
}

#[cfg(test)]
mod tests;
