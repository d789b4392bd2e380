//! The tracer of block devices.
//!
//! Duty: have the kernel's events of some devices become requests while it runs. Data in: which devices. Data out:
//! [`BlockRequest`]s, and an audit. It must not know what they are kept for. One thread calls it about every 50 ms; it
//! never waits.

use super::decode::{BlockDecoder, BlockEvent};
use super::error::TraceUnavailable;
use super::format::EventFormat;
use super::instance::{Instance, Lost};
use super::matcher::{MatchCounts, Matcher, Patience, Watched};
use super::source::Stream;
use crate::root::SystemRoot;
use crate::target::TraceDevice;
use fathom_core::record::BlockRequest;
use fathom_sys::clock::monotonic_ns;
use std::io;

const GROUP: &str = "block";
/// Events of I/Os: they name the partition where there is one.
const OF_IOS: [&str; 5] = [
    "block_bio_queue",
    "block_bio_backmerge",
    "block_bio_frontmerge",
    "block_split",
    "block_bio_complete",
];
/// Events of requests: they name the whole disk.
const OF_REQUESTS: [&str; 5] = [
    "block_rq_merge",
    "block_rq_insert",
    "block_rq_issue",
    "block_rq_requeue",
    "block_rq_complete",
];
/// What says that a request was allocated, best first. The second is there since Linux 6.5 only, and not where the
/// device's `queue/iostats` is off; both come at the same time.
const ALLOCATED: [&str; 2] = ["block_getrq", "block_io_start"];

/// Traces block devices until it is dropped.
#[derive(Debug)]
pub struct BlockTracer {
    // Closed before the instance is removed: an open pipe keeps it.
    stream: Stream<BlockEvent>,
    instance: Instance,
    decoder: BlockDecoder,
    matcher: Matcher,
}

/// What became of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceAudit {
    /// What was seen and what did not fit.
    pub counts: MatchCounts,
    /// Events that the kernel could not keep, by its own count: the trace knows nothing of them. Never too few. While the
    /// buffer is full, an event of another device that interrupts the writing of one of these is counted as well: the
    /// kernel finds no room before it asks the filter.
    pub lost: u64,
    /// Events that came too late to be in order.
    pub late: u64,
    /// Pages of the kernel's buffer that could not be read to their end.
    pub torn_pages: u64,
    /// What else is to be said, a sentence each.
    pub remarks: Vec<String>,
}

impl BlockTracer {
    /// Starts to trace `devices`, with a buffer of `buffer_kib` for each CPU (about 15 events a KiB). Also says, a
    /// sentence each, what of them will not be seen.
    ///
    /// # Errors
    /// What is missing and how to get it.
    pub fn start(
        root: &SystemRoot,
        devices: &[TraceDevice],
        buffer_kib: u32,
    ) -> Result<(Self, Vec<String>), TraceUnavailable> {
        if devices.is_empty() {
            return Err(TraceUnavailable::NoDevice);
        }
        let instance = Instance::create(root)?;
        instance.set_buffer(buffer_kib, false)?;
        let formats = formats(&instance)?;
        let mut remarks = what_is_missing(&formats, devices);
        set_filters(&instance, &formats, devices, &mut remarks);
        let decoder = BlockDecoder::new(&formats).map_err(|error| TraceUnavailable::NotUnderstood {
            path: instance.dir().join("events/block"),
            reason: error.to_string(),
        })?;
        let stream = Stream::new(instance.pipes()?);
        for format in &formats {
            instance.enable(GROUP, &format.name)?;
        }
        instance.run(true)?;
        let fua = |name: &str| {
            // `/` cannot be in a file name: sysfs writes `!`.
            let name = name.replace('/', "!");
            root.text(format!("/sys/block/{name}/queue/fua")).as_deref() == Some("1")
        };
        let watched: Vec<Watched> = devices
            .iter()
            .map(|device| Watched {
                device: device.clone(),
                fua: fua(&device.name),
            })
            .collect();
        let matcher = Matcher::new(&watched, Patience::default());
        let tracer = Self {
            stream,
            instance,
            decoder,
            matcher,
        };
        Ok((tracer, remarks))
    }

    /// Reads what the kernel wrote since the last call, and appends the requests that ended to `out`, in the order of
    /// their end. The last 10 ms come with the next call.
    ///
    /// # Errors
    /// The kernel's buffer cannot be read.
    pub fn poll(&mut self, out: &mut Vec<BlockRequest>) -> io::Result<()> {
        let (decoder, matcher) = (&self.decoder, &mut self.matcher);
        self.stream.poll(
            monotonic_ns(),
            |_, record| decoder.decode(record),
            |_, _| None,
            |event| matcher.apply(event, out),
        )?;
        self.matcher.expire(self.stream.complete_to_ns(), out);
        Ok(())
    }

    /// Events lost so far, by the kernel's count.
    ///
    /// # Errors
    /// The count cannot be read.
    pub fn lost(&self) -> io::Result<u64> {
        Ok(self.instance.lost()?.total())
    }

    /// Stops, and gives out the rest: what is on its way is marked as unfinished.
    pub fn finish(mut self, out: &mut Vec<BlockRequest>) -> TraceAudit {
        let mut remarks = Vec::new();
        if let Err(error) = self.instance.run(false) {
            remarks.push(error.to_string());
        }
        let now_ns = monotonic_ns();
        let (decoder, matcher) = (&self.decoder, &mut self.matcher);
        let rest = self.stream.finish(
            now_ns,
            |_, record| decoder.decode(record),
            |_, _| None,
            |event| matcher.apply(event, out),
        );
        if let Err(error) = rest {
            remarks.push(format!("the end of the block trace could not be read: {error}"));
        }
        self.matcher.finish(now_ns, out);
        remarks.extend(self.matcher.remarks());
        let lost = self.instance.lost().unwrap_or_else(|error| {
            remarks.push(format!(
                "how many events the kernel lost could not be read: {error}"
            ));
            Lost::default()
        });
        let mut audit = TraceAudit {
            counts: self.matcher.counts(),
            lost: lost.total(),
            late: self.stream.late(),
            torn_pages: self.stream.torn_pages(),
            remarks,
        };
        let Self { stream, instance, .. } = self;
        drop(stream);
        audit.remarks.extend(instance.remove());
        audit
    }
}

/// The formats of the events that this kernel has.
fn formats(instance: &Instance) -> Result<Vec<EventFormat>, TraceUnavailable> {
    let mut formats = Vec::new();
    for event in OF_IOS.into_iter().chain(OF_REQUESTS) {
        formats.extend(instance.format(GROUP, event)?);
    }
    if formats.is_empty() {
        return Err(TraceUnavailable::NoEvents {
            event: "block_rq_complete",
            option: "CONFIG_BLK_DEV_IO_TRACE",
        });
    }
    for event in ALLOCATED {
        if let Some(format) = instance.format(GROUP, event)? {
            formats.push(format);
            break;
        }
    }
    Ok(formats)
}

fn set_filters(
    instance: &Instance,
    formats: &[EventFormat],
    devices: &[TraceDevice],
    remarks: &mut Vec<String>,
) {
    let disks: Vec<u32> = devices.iter().map(|device| device.dev).collect();
    let with_partitions: Vec<u32> = devices
        .iter()
        .flat_map(|device| std::iter::once(device.dev).chain(device.partition_devs.iter().copied()))
        .collect();
    for format in formats {
        // Which of the two an allocation names is not the same in all kernels.
        let numbers = if OF_REQUESTS.contains(&format.name.as_str()) {
            &disks
        } else {
            &with_partitions
        };
        let parts: Vec<String> = numbers.iter().map(|number| format!("dev=={number}")).collect();
        if let Err(error) = instance.set_filter(GROUP, &format.name, &parts.join("||")) {
            remarks.push(format!(
                "{}: the kernel does not choose by device ({error}); the requests of all devices cost time",
                format.name
            ));
        }
    }
}

/// What of the devices' requests will not be seen.
fn what_is_missing(formats: &[EventFormat], devices: &[TraceDevice]) -> Vec<String> {
    let has = |event: &str| formats.iter().any(|format| format.name == event);
    let mut remarks = Vec::new();
    for (event, what) in [
        ("block_bio_queue", "when each I/O was queued"),
        ("block_rq_issue", "when the device got each request"),
        ("block_rq_complete", "when each request was complete"),
        ("block_bio_complete", "when I/Os of devices without requests end"),
    ] {
        if !has(event) {
            remarks.push(format!(
                "this kernel has no event {event}: {what} is not available"
            ));
        }
    }
    if !ALLOCATED.iter().any(|event| has(event)) {
        remarks.push(
            "this kernel has no event block_getrq: waiting for a tag cannot be told from the scheduler"
                .to_owned(),
        );
    }
    for device in devices.iter().filter(|device| !device.request_based) {
        remarks.push(format!(
            "{}: takes I/O without making requests of it: of each only queued and completed are available",
            device.name
        ));
    }
    remarks
}

#[cfg(test)]
mod tests;
