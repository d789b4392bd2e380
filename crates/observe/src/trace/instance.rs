//! A set of ring buffers of our own.
//!
//! Duty: make, set up and remove an instance of the kernel's trace (Documentation/trace/ftrace.rst, "Instances"). Data
//! in: what is to be traced. Data out: open pipes, formats, and how much was lost. It must not know what the events
//! say. Other tracers are not disturbed, and do not disturb.

use super::error::TraceUnavailable;
use super::format::EventFormat;
use super::page::PageLayout;
use super::source::Pipes;
use super::tracefs::{self, Tracefs};
use crate::root::SystemRoot;
use fathom_door::own;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Longer filters are not tried: the kernel reads no more than a page.
const FILTER_MAX: usize = 4000;
/// How often, 2 ms apart, removing a busy instance is tried.
const REMOVE_TRIES: u32 = 100;

/// Tells instances of this process apart.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// An instance that exists until this is dropped.
#[derive(Debug)]
pub struct Instance {
    root: SystemRoot,
    tracefs: Tracefs,
    dir: PathBuf,
    /// A file of it: while one is open nobody can remove it, and no other sweep takes it for a dead process's.
    held: Option<File>,
    removed: bool,
}

/// Events that the kernel could not keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost {
    /// Overwritten before they were read.
    pub overwritten: u64,
    /// Not written, the buffer being full.
    pub dropped: u64,
}

impl Lost {
    /// All of them.
    pub fn total(self) -> u64 {
        self.overwritten + self.dropped
    }
}

impl Instance {
    /// Where the kernel keeps the names of tasks that wrote events, of all instances together.
    pub fn saved_names(&self) -> PathBuf {
        let tracing = self.dir.ancestors().nth(2);
        tracing.unwrap_or(&self.dir).join("saved_cmdlines")
    }

    /// Removes what dead processes of this program left, and makes a new instance: its clock is the monotonic one, it
    /// traces nothing and is stopped.
    ///
    /// # Errors
    /// What is missing and how to get it.
    pub fn create(root: &SystemRoot) -> Result<Self, TraceUnavailable> {
        let tracefs = Tracefs::find(root)?;
        tracefs.sweep(root);
        let dir = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let dir = tracefs.instances().join(tracefs::name_of_instance(root, number));
            match own::make_directory(&root.at(&dir)) {
                Ok(()) => break dir,
                // Left by another process of this name, which can be told from this one no more.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(tracefs::refused(root, tracefs.shown(&dir), error)),
            }
        };
        let mut instance = Self {
            root: root.clone(),
            tracefs,
            dir,
            held: None,
            removed: false,
        };
        let held = File::open(root.at(&instance.dir.join("tracing_on")));
        instance.held = Some(held.map_err(|error| instance.refused("tracing_on", error))?);
        instance.set("tracing_on", "0")?;
        instance.use_monotonic_clock()?;
        Ok(instance)
    }

    /// Where it is, for this process.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn use_monotonic_clock(&self) -> Result<(), TraceUnavailable> {
        let refused = self.set("trace_clock", "mono").err();
        let offered = self.root.text(self.dir.join("trace_clock")).unwrap_or_default();
        if offered.contains("[mono]") {
            return Ok(());
        }
        Err(match refused {
            Some(error @ TraceUnavailable::NotPermitted { .. }) => error,
            _ => TraceUnavailable::NoClock { offered },
        })
    }

    /// How much memory each CPU's buffer takes, and what happens when it is full: the oldest events are overwritten, or
    /// the newest dropped.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_buffer(&self, kib_per_cpu: u32, overwrite: bool) -> Result<(), TraceUnavailable> {
        self.set("options/overwrite", if overwrite { "1" } else { "0" })?;
        self.set("buffer_size_kb", &kib_per_cpu.max(1).to_string())
    }

    /// The description of an event; `None` where this kernel has no such event.
    ///
    /// # Errors
    /// It cannot be read or understood.
    pub fn format(&self, group: &str, event: &str) -> Result<Option<EventFormat>, TraceUnavailable> {
        let path = self.event(group, event).join("format");
        let text = match self.root.read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.refused(&path, error)),
        };
        let text = String::from_utf8_lossy(&text);
        match EventFormat::parse(&text) {
            Ok(format) => Ok(Some(format)),
            Err(error) => Err(TraceUnavailable::NotUnderstood {
                path: self.tracefs.shown(&path),
                reason: error.to_string(),
            }),
        }
    }

    /// Has the kernel write only those records of an event of which `filter` is true (the language of
    /// Documentation/trace/events.rst).
    ///
    /// # Errors
    /// It does not take the filter; all records of the event would be written.
    pub fn set_filter(&self, group: &str, event: &str, filter: &str) -> io::Result<()> {
        if filter.len() > FILTER_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the filter is too long",
            ));
        }
        write(&self.root, &self.event(group, event).join("filter"), filter)
    }

    /// Has the kernel write the stack of who caused an event after each of which `condition` is true (the same language as
    /// of filters). There may be one such order for an event.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_stack_trigger(&self, group: &str, event: &str, condition: &str) -> io::Result<()> {
        self.trigger(group, event, &format!("stacktrace if {condition}"))
    }

    /// Takes that back.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn remove_stack_trigger(&self, group: &str, event: &str) -> io::Result<()> {
        self.trigger(group, event, "!stacktrace")
    }

    fn trigger(&self, group: &str, event: &str, order: &str) -> io::Result<()> {
        if order.len() > FILTER_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the condition is too long",
            ));
        }
        write(&self.root, &self.event(group, event).join("trigger"), order)
    }

    /// Has an event written once the instance runs.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn enable(&self, group: &str, event: &str) -> Result<(), TraceUnavailable> {
        let path = self.event(group, event).join("enable");
        write(&self.root, &path, "1").map_err(|error| self.refused(&path, error))
    }

    /// Starts or stops.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn run(&self, on: bool) -> Result<(), TraceUnavailable> {
        self.set("tracing_on", if on { "1" } else { "0" })
    }

    /// Opens the pipe of each CPU. While they are open, nobody can remove the instance.
    ///
    /// # Errors
    /// One cannot be opened, or the pages' layout is not known.
    pub fn pipes(&self) -> Result<Pipes, TraceUnavailable> {
        let layout = self.layout()?;
        let per_cpu = self.dir.join("per_cpu");
        let cpus = cpus(&self.root, &per_cpu);
        let cpus = cpus.map_err(|error| self.refused(&per_cpu, error))?;
        let mut files = Vec::new();
        for cpu in cpus {
            let path = per_cpu.join(format!("cpu{cpu}/trace_pipe_raw"));
            let file = super::source::open(&self.root.at(&path));
            files.push((cpu, file.map_err(|error| self.refused(&path, error))?));
        }
        Ok(Pipes::new(files, layout))
    }

    /// How pages are laid out.
    fn layout(&self) -> Result<PageLayout, TraceUnavailable> {
        let own = self.dir.join("events/header_page");
        let path = if self.root.exists(&own) {
            own
        } else {
            self.tracefs.path().join("events/header_page")
        };
        let text = read_at_once(&self.root.at(&path));
        let text = text.map_err(|error| self.refused(&path, error))?;
        let layout = PageLayout::parse(&String::from_utf8_lossy(&text));
        let layout = layout.map_err(|error| TraceUnavailable::NotUnderstood {
            path: self.tracefs.shown(&path),
            reason: error.to_string(),
        })?;
        // Since Linux 6.8 each instance has a size of its own, which the description does not follow.
        let kib = self.root.text(self.dir.join("buffer_subbuf_size_kb"));
        let bytes = kib
            .and_then(|kib| kib.parse::<usize>().ok())
            .and_then(|kib| kib.checked_mul(1024));
        Ok(match bytes {
            Some(bytes) => layout.with_page_bytes(bytes),
            None => layout,
        })
    }

    /// Events lost so far, by the kernel's own count, over all CPUs.
    ///
    /// # Errors
    /// The counts cannot be read.
    pub fn lost(&self) -> io::Result<Lost> {
        let per_cpu = self.dir.join("per_cpu");
        let mut lost = Lost::default();
        for cpu in cpus(&self.root, &per_cpu)? {
            let text = self.root.read(per_cpu.join(format!("cpu{cpu}/stats")))?;
            let text = String::from_utf8_lossy(&text);
            let count = |name: &str| -> u64 {
                let lines = text.lines().filter_map(|line| line.split_once(':'));
                let mut counts = lines.filter(|(key, _)| key.trim() == name);
                counts
                    .next()
                    .and_then(|(_, count)| count.trim().parse().ok())
                    .unwrap_or(0)
            };
            lost.overwritten += count("overrun");
            // The second: events nested deeper than the buffer can hold.
            lost.dropped += count("dropped events") + count("commit overrun");
        }
        Ok(lost)
    }

    /// Removes the instance; its pipes must be closed. Says so where the kernel refuses: somebody has a file of it open.
    pub fn remove(mut self) -> Option<String> {
        self.removed = true;
        self.held = None;
        let error = remove_soon(&self.root.at(&self.dir)).err()?;
        let dir = self.tracefs.shown(&self.dir);
        let dir = dir.display();
        Some(format!(
            "{dir} could not be removed ({error}): the next start removes it"
        ))
    }

    fn event(&self, group: &str, event: &str) -> PathBuf {
        self.dir.join("events").join(group).join(event)
    }

    /// The refusal of a path in the instance.
    fn refused(&self, path: impl AsRef<Path>, error: io::Error) -> TraceUnavailable {
        let path = self.tracefs.shown(&self.dir.join(path));
        tracefs::refused(&self.root, path, error)
    }

    fn set(&self, file: &str, value: &str) -> Result<(), TraceUnavailable> {
        let path = self.dir.join(file);
        write(&self.root, &path, value).map_err(|error| self.refused(&path, error))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if !self.removed {
            self.held = None;
            // It stays if somebody else looks into it; the next start sweeps it.
            let _ = remove_soon(&self.root.at(&self.dir));
        }
    }
}

/// Removes an instance whose files are closed. A process that is being started by another thread has them open until it
/// becomes its program.
fn remove_soon(dir: &Path) -> io::Result<()> {
    for _ in 0..REMOVE_TRIES {
        match own::remove_directory(dir) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            outcome => return outcome,
        }
    }
    own::remove_directory(dir)
}

/// The CPUs that have buffers, by number.
fn cpus(root: &SystemRoot, per_cpu: &Path) -> io::Result<Vec<u32>> {
    let names = root.list(per_cpu)?;
    let mut cpus: Vec<u32> = names
        .iter()
        .filter_map(|name| name.strip_prefix("cpu")?.parse().ok())
        .collect();
    cpus.sort_unstable();
    Ok(cpus)
}

/// `header_page` gives its text to the first read alone, however short that is (`show_header_page_file`).
fn read_at_once(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = vec![0; 4096];
    let length = File::open(path)?.read(&mut text)?;
    text.truncate(length);
    Ok(text)
}

fn write(root: &SystemRoot, path: &Path, value: &str) -> io::Result<()> {
    own::kernel_switch(&root.at(path))?.write_all(value.as_bytes())
}

#[cfg(test)]
mod tests;
