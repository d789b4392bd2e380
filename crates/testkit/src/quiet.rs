//! Whether a machine is quiet and fast enough for a test of real time to tell.
//!
//! A test that passes has told. One that fails beside others of its program has told nothing, and is repeated alone. One
//! that fails alone has told only where the machine was quiet before it and all the while: otherwise it is repeated once the
//! machine has come to rest, and says `SKIPPED` where that does not happen. What looked
//! quiet may not have been (a burst of 200 ms is not seen): a failure is one when it comes twice; one that did not come again
//! is said, as `UNSTEADY`, and counted.

use crate::usage::Usage;
use crate::{tell_skipped, turns};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a test is run at most.
const TRIES: u32 = 3;
/// How long the machine is looked at before a test.
const LOOK: Duration = Duration::from_millis(200);
/// How long all tests of a program together wait for it to come to rest, in milliseconds.
static PATIENCE_MS: AtomicU64 = AtomicU64::new(40_000);

/// More than this of one CPU in others' hands disturbs.
const CPUS_MAX: f64 = 0.15;
/// The same of those that the host kept.
const STOLEN_MAX: f64 = 0.05;
/// What others may move to and from disks, in bytes a second.
const DISK_MAX: f64 = 2e6;
/// How often a thread looks whether it is let run, and how late it may come.
const TICK: Duration = Duration::from_millis(5);
const LATE_MAX: Duration = Duration::from_millis(40);
/// The longest that 4 KiB may take to reach the disk.
const WRITE_MAX: Duration = Duration::from_millis(100);
/// Writes that the disk is judged by.
const WRITES: u32 = 8;

/// What a test depends on.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    timely: bool,
    disk: Option<PathBuf>,
}

impl Needs {
    /// CPUs that others leave alone.
    pub fn cpus() -> Self {
        Self::default()
    }

    /// Also a CPU at once for who wakes. Not for tests that themselves take CPUs away.
    #[must_use]
    pub fn timely(mut self) -> Self {
        self.timely = true;
        self
    }

    /// Also a disk below directory `dir` that answers, and that others leave alone.
    #[must_use]
    pub fn disk(mut self, dir: &Path) -> Self {
        self.disk = Some(dir.to_owned());
        self
    }
}

/// Runs the test `name`, and lets it fail where the machine is quiet enough to tell.
///
/// # Panics
/// As `test` does.
pub fn telling(name: &str, needs: &Needs, mut test: impl FnMut()) {
    if catch_unwind(AssertUnwindSafe(&mut test)).is_ok() {
        return;
    }
    eprintln!("{name} failed beside others: once more, alone");
    let outcome = match turns::alone() {
        Ok(_turn) => told(&mut Real { needs }, test),
        Err(noise) => Told::Nothing { noise },
    };
    match outcome {
        Told::Good => {}
        Told::Unsteady => eprintln!("UNSTEADY: {name}: failed once on a machine that seemed quiet"),
        Told::Nothing { noise } => tell_skipped(name, &format!("a quiet machine ({noise})")),
    }
}

/// Does `work`, and says what disturbed the machine meanwhile.
pub fn noise_during<T>(needs: &Needs, work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let watch = Watch::begin(needs);
    let done = work();
    (done, watch.end())
}

/// Waits until nothing disturbs, for `patience` at most; whether that came.
pub fn comes_to_rest(needs: &Needs, patience: Duration) -> bool {
    let begun = Instant::now();
    loop {
        if (Real { needs }).look().is_empty() {
            return true;
        }
        if begun.elapsed() > patience {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}

/// What came of a test.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// It passed.
    Good,
    /// It failed on a machine that seemed quiet, and then passed.
    Unsteady,
    /// It failed on a machine that cannot tell.
    Nothing { noise: String },
}

/// What is looked at before and during a test.
trait Machine {
    type Watch;
    /// What disturbs, in words; it takes a moment.
    fn look(&mut self) -> Vec<String>;
    fn begin(&mut self) -> Self::Watch;
    fn end(&mut self, watch: Self::Watch) -> Vec<String>;
    /// Waits until nothing disturbs, as long as there is patience left.
    fn comes_to_rest(&mut self) -> bool;
}

fn told(machine: &mut impl Machine, mut test: impl FnMut()) -> Told {
    let (mut number, mut failed_quietly) = (1, false);
    loop {
        let mut noise = machine.look();
        let watch = machine.begin();
        let outcome = catch_unwind(AssertUnwindSafe(&mut test));
        noise.extend(machine.end(watch));
        let Err(panic) = outcome else {
            return if failed_quietly {
                Told::Unsteady
            } else {
                Told::Good
            };
        };
        if noise.is_empty() {
            if failed_quietly {
                resume_unwind(panic);
            }
            failed_quietly = true;
            continue;
        }
        let noise = noise.join("; ");
        eprintln!("try {number} failed on a machine that cannot tell: {noise}");
        if number == TRIES || !machine.comes_to_rest() {
            return Told::Nothing { noise };
        }
        number += 1;
    }
}

/// The one that this program runs on.
struct Real<'a> {
    needs: &'a Needs,
}

impl Machine for Real<'_> {
    type Watch = Watch;

    fn look(&mut self) -> Vec<String> {
        let watch = Watch::begin(self.needs);
        std::thread::sleep(LOOK);
        watch.end()
    }

    fn begin(&mut self) -> Watch {
        Watch::begin(self.needs)
    }

    fn end(&mut self, watch: Watch) -> Vec<String> {
        watch.end()
    }

    fn comes_to_rest(&mut self) -> bool {
        loop {
            let begun = Instant::now();
            if self.look().is_empty() {
                return true;
            }
            std::thread::sleep(LOOK);
            let took_ms = begun.elapsed().as_millis() as u64;
            let left = PATIENCE_MS.load(Ordering::Relaxed);
            PATIENCE_MS.store(left.saturating_sub(took_ms), Ordering::Relaxed);
            if left <= took_ms {
                return false;
            }
        }
    }
}

/// A look at the machine that goes on.
struct Watch {
    needs: Needs,
    begun: Instant,
    before: Usage,
    slow_write: Option<Duration>,
    stop: Arc<AtomicBool>,
    /// Its result: the longest that it came late.
    ticker: Option<JoinHandle<Duration>>,
}

impl Watch {
    fn begin(needs: &Needs) -> Self {
        let slow_write = needs.disk.as_deref().and_then(slow_write);
        let stop = Arc::new(AtomicBool::new(false));
        let ticker = needs.timely.then(|| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || latest(&stop))
        });
        Self {
            needs: needs.clone(),
            before: Usage::now(),
            begun: Instant::now(),
            slow_write,
            stop,
            ticker,
        }
    }

    /// What there was that disturbs, in words.
    fn end(mut self) -> Vec<String> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let others = Usage::now().of_others_since(&self.before, std::process::id(), seconds);
        self.stop.store(true, Ordering::Relaxed);
        let late = self.ticker.take().and_then(|ticker| ticker.join().ok());
        let mut noise = Vec::new();
        if others.cpus > CPUS_MAX {
            let busiest = others.who.iter().take_while(|(_, cpus, _)| *cpus > 0.02).take(4);
            let names: Vec<&str> = busiest.map(|(name, ..)| name.as_str()).collect();
            noise.push(format!(
                "others used {:.1} CPUs: {}",
                others.cpus,
                names.join(", ")
            ));
        }
        if others.stolen_cpus > STOLEN_MAX {
            noise.push(format!("the host kept {:.2} CPUs", others.stolen_cpus));
        }
        if let Some(late) = late.filter(|late| *late > LATE_MAX) {
            noise.push(format!(
                "a thread that woke came to a CPU {} ms late",
                late.as_millis()
            ));
        }
        if let Some(dir) = &self.needs.disk {
            let moved = |(_, _, bytes): &&(String, f64, u64)| *bytes as f64 / seconds > DISK_MAX;
            if let Some((name, _, bytes)) = others.who.iter().filter(moved).max_by_key(|who| who.2) {
                noise.push(format!("{name} moved {} MB to or from disks", bytes / 1_000_000));
            }
            if let Some(slow) = self.slow_write.max(slow_write(dir)) {
                noise.push(format!("4 KiB took {} ms to the disk", slow.as_millis()));
            }
        }
        noise
    }
}

/// How late this thread came at most, until it is told to stop.
fn latest(stop: &AtomicBool) -> Duration {
    let mut latest = Duration::ZERO;
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        std::thread::sleep(TICK);
        latest = latest.max(begun.elapsed().saturating_sub(TICK));
    }
    latest
}

/// How long it took the disk below `dir` to take 4 KiB, where that was too long.
fn slow_write(dir: &Path) -> Option<Duration> {
    let mut file = tempfile::tempfile_in(dir).ok()?;
    let mut slowest = Duration::ZERO;
    for _ in 0..WRITES {
        let begun = Instant::now();
        file.write_all(&[7; 4096]).and_then(|()| file.sync_data()).ok()?;
        slowest = slowest.max(begun.elapsed());
    }
    (slowest > WRITE_MAX).then_some(slowest)
}

#[cfg(test)]
mod tests;
