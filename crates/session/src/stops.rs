//! Times in which the program was stopped, so that nobody reads them as latency of the disk.
//!
//! Data in: the clock, what the kernel says of a thread that does nothing but sleep, the word that the program goes on
//! after a stop, and how often another thread was seen to run. Data out: when, for how long, by what. It must not know the
//! load, and costs it nothing but the thread's waking.

use anyhow::Context;
use fathom_core::clock::Clock;
use fathom_core::run::{LoadStop, StoppedBy, Warning};
use fathom_core::units::MonoTime;
use fathom_sys::clock::HostClock;
use fathom_sys::process;
use signal_hook::consts::SIGCONT;
use signal_hook::flag;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the thread wakes: the length of a stop is known to this.
const TICK: Duration = Duration::from_millis(20);
const TICK_NS: u64 = TICK.as_nanos() as u64;
/// Shorter stops are not told: a busy machine lets a thread wait for so long.
const STOP_MIN_NS: u64 = 50_000_000;
/// How often the other thread shows that it runs.
const ALIVE_NS: u64 = 100_000_000;
/// The shortest stop without a signal as a witness: the other thread would have shown itself.
const FROZEN_MIN_NS: u64 = 300_000_000;
/// How often it is asked what the hypervisor took.
const STOLEN_NS: u64 = 1_000_000_000;
/// So many are kept one by one.
const KEPT_MAX: usize = 1000;

/// A thread that notices when it was stopped.
pub(crate) struct StopWatch {
    thread: JoinHandle<Stops>,
    /// Closed at the end.
    end: Sender<()>,
}

/// The times in which the program did not run.
#[derive(Debug, Default)]
pub(crate) struct Stops(Vec<Stop>);

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stop {
    from_ns: u64,
    length_ns: u64,
    by: StoppedBy,
}

impl StopWatch {
    /// Begins to watch. `alive` counts whenever another thread, which does so ten times a second, has run.
    ///
    /// # Errors
    /// No thread can be started, or nobody can listen to signals.
    pub(crate) fn begin(clock: &HostClock, alive: &Arc<AtomicU64>) -> anyhow::Result<Self> {
        let continued = continued()?;
        let (end, ended) = channel::<()>();
        let (clock, alive) = (clock.clone(), Arc::clone(alive));
        let body = move || {
            let mut sleeper = Sleeper::new(clock, continued, alive);
            let mut stops = Stops::default();
            let mut last = sleeper.tick();
            // What is to be judged, once what came with it is sure to be here: another thread hears the signal.
            let mut gap: Option<(Tick, Tick)> = None;
            loop {
                let over = !matches!(ended.recv_timeout(TICK), Err(RecvTimeoutError::Timeout));
                let now = sleeper.tick();
                if let Some((before, mut after)) = gap.take() {
                    after.continued |= now.continued;
                    stops.0.extend(judge(&before, &after));
                }
                if is_gap(last.now_ns, now.now_ns) {
                    gap = Some((last, now));
                }
                last = now;
                if over {
                    stops
                        .0
                        .extend(gap.and_then(|(before, after)| judge(&before, &after)));
                    return stops;
                }
            }
        };
        let thread = std::thread::Builder::new().name(String::from("fathom-stops"));
        let thread = thread
            .spawn(body)
            .context("cannot start the thread fathom-stops")?;
        Ok(Self { thread, end })
    }

    /// Ends watching.
    pub(crate) fn end(self) -> Stops {
        drop(self.end);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Set by the signal that lets a stopped program go on.
fn continued() -> anyhow::Result<Arc<AtomicBool>> {
    static CONTINUED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(continued) = CONTINUED.get() {
        return Ok(Arc::clone(continued));
    }
    let continued = Arc::new(AtomicBool::new(false));
    flag::register(SIGCONT, Arc::clone(&continued)).context("cannot listen for SIGCONT")?;
    Ok(Arc::clone(CONTINUED.get_or_init(|| continued)))
}

/// What is known each time the thread wakes.
#[derive(Debug, Clone, Copy)]
struct Tick {
    now_ns: u64,
    /// How long this thread has stood ready without a CPU since it was started; `None` where the kernel does not count.
    ready_ns: Option<u64>,
    /// How often it had to wait for its own code to be read from the disk.
    major_faults: u64,
    /// How often another thread has run.
    alive: u64,
    /// How long the hypervisor let others have this machine's CPUs; after an ordinary sleep, as of a second ago at most.
    stolen_ns: u64,
    /// Whether the program was told to go on since the tick before.
    continued: bool,
}

/// Where [`Tick`]s come from.
struct Sleeper {
    clock: HostClock,
    continued: Arc<AtomicBool>,
    alive: Arc<AtomicU64>,
    /// Kept open: to read it again costs a microsecond. The other one costs more, the more CPUs there are.
    schedstat: Option<File>,
    stat: Option<File>,
    last_ns: u64,
    stolen_ns: u64,
    stolen_at_ns: u64,
}

impl Sleeper {
    /// For the calling thread.
    fn new(clock: HostClock, continued: Arc<AtomicBool>, alive: Arc<AtomicU64>) -> Self {
        // What was before does not count.
        continued.store(false, Ordering::Relaxed);
        Self {
            clock,
            continued,
            alive,
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            stat: File::open("/proc/stat").ok(),
            last_ns: 0,
            stolen_ns: 0,
            stolen_at_ns: 0,
        }
    }

    fn tick(&mut self) -> Tick {
        let now_ns = self.clock.now().0;
        if is_gap(self.last_ns, now_ns) || now_ns - self.stolen_at_ns >= STOLEN_NS {
            // In hundredths of a second, over all CPUs.
            let stolen = self.stat.as_ref().and_then(|file| number(file, 8));
            self.stolen_ns = stolen.unwrap_or(0) * 10_000_000;
            self.stolen_at_ns = now_ns;
        }
        self.last_ns = now_ns;
        let usage = process::resource_usage_thread().unwrap_or_default();
        Tick {
            now_ns,
            ready_ns: self.schedstat.as_ref().and_then(|file| number(file, 1)),
            major_faults: usage.major_faults,
            alive: self.alive.load(Ordering::Relaxed),
            stolen_ns: self.stolen_ns,
            continued: self.continued.swap(false, Ordering::Relaxed),
        }
    }
}

/// A number in the first line of a file of `/proc`.
fn number(file: &File, index: usize) -> Option<u64> {
    let mut bytes = [0; 256];
    let length = file.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    text.lines().next()?.split_whitespace().nth(index)?.parse().ok()
}

/// Whether more than sleep and the usual wait for a CPU was between two ticks.
fn is_gap(before_ns: u64, after_ns: u64) -> bool {
    after_ns.saturating_sub(before_ns) >= TICK_NS + STOP_MIN_NS / 2
}

/// Whether the program was stopped between two ticks. It went to sleep after the first; when it was stopped in that sleep
/// is not known better than to the middle of it.
fn judge(before: &Tick, after: &Tick) -> Option<Stop> {
    let waited_ns = after
        .ready_ns
        .zip(before.ready_ns)
        .map(|(after, before)| after - before);
    let from_ns = before.now_ns + TICK_NS / 2;
    // A machine without a CPU for it lets it wait, before a stop and after it.
    let length_ns = after.now_ns.checked_sub(from_ns + waited_ns.unwrap_or(0))?;
    let stop = |by| Stop {
        from_ns,
        length_ns,
        by,
    };
    if after.continued {
        return (length_ns >= STOP_MIN_NS).then(|| stop(StoppedBy::Signal));
    }
    // Nothing but this thread may have been held up: by its own CPU, which the host took away, or by its own memory.
    // While this thread waited for a CPU, the other one may have had one.
    let seen_ns = after.alive.saturating_sub(before.alive) * ALIVE_NS;
    let all_stood_still = seen_ns < length_ns / 2 + waited_ns.unwrap_or(0);
    let stolen_ns = after.stolen_ns.saturating_sub(before.stolen_ns);
    let frozen = waited_ns.is_some()
        && length_ns >= FROZEN_MIN_NS
        && all_stood_still
        && after.major_faults == before.major_faults
        && stolen_ns < length_ns / 2;
    frozen.then(|| stop(StoppedBy::Frozen))
}

/// What a report says of stops after the start of a run.
pub(crate) fn warning(stops: &Stops, started: MonoTime) -> Option<Warning> {
    let of_run = |stop: &&Stop| stop.from_ns + stop.length_ns > started.0;
    let of_run: Vec<LoadStop> = stops
        .0
        .iter()
        .filter(of_run)
        .map(|stop| LoadStop {
            at_ns: stop.from_ns.saturating_sub(started.0),
            length_ns: stop.length_ns,
            by: stop.by,
        })
        .collect();
    (!of_run.is_empty()).then(|| Warning::LoadStopped {
        number: of_run.len() as u64,
        total_ns: of_run.iter().map(|stop| stop.length_ns).sum(),
        stops: of_run.into_iter().take(KEPT_MAX).collect(),
    })
}

#[cfg(test)]
mod tests;
