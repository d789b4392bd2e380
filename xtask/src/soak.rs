//! What takes longer than a check may: fathom killed at random moments, a thousand times.
//!
//! Data in: how often, and a seed. Data out: an error for the first promise that was broken. It knows fathom as its users
//! do, by its command line.

mod cuts;
mod fleet;
mod identified;
mod kinds;
mod replayed;
mod served;
mod turns;

use crate::ci::target_directory;
use crate::shell;
use anyhow::{Context, Result, bail, ensure};
use kinds::{KINDS, Kind, Place};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Kills, where nothing else is said.
const KILLS: u32 = 1000;
/// What a kill may lose: a second, and what a clock of 10 ms and the way of the signal add.
const LOST_MS_MAX: u64 = 1050;
/// So many fathoms live at the same time: each waits for its disk, most of the time.
const AT_ONCE: u32 = 4;

/// `[KILLS [SEED]]`, `compare [TIMES]`, `identify [SETTINGS [SEED]]`, `replay`, `postgres [CUTS]`,
/// `served [HOURS [IOPS]]`, `fleet [NODES]`, or `k8s [TIMES [SEED]]`.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    if let ["compare", rest @ ..] = options {
        return turns::run(rest);
    }
    if let ["identify", rest @ ..] = options {
        return identified::run(rest);
    }
    if let ["replay", rest @ ..] = options {
        return replayed::run(rest);
    }
    if let ["postgres", rest @ ..] = options {
        return cuts::run(rest);
    }
    if let ["served", rest @ ..] = options {
        return served::run(rest);
    }
    if let ["fleet", rest @ ..] = options {
        return fleet::many_nodes(rest);
    }
    if let ["k8s", rest @ ..] = options {
        return fleet::aborted(rest);
    }
    let kills = match options.first() {
        Some(text) => text.parse().context("how many kills?")?,
        None => KILLS,
    };
    let seed = match options.get(1) {
        Some(text) => text.parse().context("which seed?")?,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64,
    };
    shell::run(&mut shell::cargo(&["build", "--release", "--locked"]))?;
    let program = target_directory()?.join("release/fathom");
    println!("{kills} kills, seed {seed}");
    let soak = Soak {
        program: &program,
        seed,
        kills,
        next: AtomicU32::new(0),
        done: Mutex::new([Tally::default(); KINDS.len()]),
    };
    let begun = Instant::now();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| soak.work())).collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    for (kind, tally) in KINDS.iter().zip(soak.tallies()) {
        println!(
            "{}: {} kills, {} before there was a directory, at most {} ms lost",
            kind.name, tally.kills, tally.early, tally.lost_ms
        );
    }
    for result in results {
        result?;
    }
    no_instance_is_left(&program)?;
    println!("{} passed, 0 failed, in {} s", kills, begun.elapsed().as_secs());
    Ok(())
}

/// What was seen of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    kills: u32,
    /// Killed before it had made anything.
    early: u32,
    lost_ms: u64,
}

struct Soak<'a> {
    program: &'a Path,
    seed: u64,
    kills: u32,
    next: AtomicU32,
    done: Mutex<[Tally; KINDS.len()]>,
}

impl Soak<'_> {
    fn tallies(&self) -> [Tally; KINDS.len()] {
        *self
            .done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Kills until it was done often enough, or a promise was broken.
    fn work(&self) -> Result<()> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.kills {
                return Ok(());
            }
            let which = number as usize % KINDS.len();
            let kind = &KINDS[which];
            // A number of its own for each kill, whichever thread does it.
            let draw = mix(self.seed ^ mix(u64::from(number)));
            let after = Duration::from_micros(draw % kind.longest_us);
            let outcome = self.kill(kind, after).with_context(|| {
                format!(
                    "kill {number} of seed {}: {} after {after:?}",
                    self.seed, kind.name
                )
            });
            if outcome.is_err() {
                // The others need not go on.
                self.next.store(self.kills, Ordering::Relaxed);
            }
            let outcome = outcome?;
            ensure!(
                outcome.lost_ms <= LOST_MS_MAX,
                "kill {number} of seed {}: {} after {after:?}: the last {} ms are lost",
                self.seed,
                kind.name,
                outcome.lost_ms
            );
            let mut done = self
                .done
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let tally = &mut done[which];
            tally.kills += 1;
            tally.early += u32::from(outcome.early);
            tally.lost_ms = tally.lost_ms.max(outcome.lost_ms);
            if (number + 1).is_multiple_of(50) {
                eprintln!("{} of {}", number + 1, self.kills);
            }
        }
    }

    fn kill(&self, kind: &Kind, after: Duration) -> Result<kinds::Left> {
        let place = Place::new(self.program)?;
        (kind.prepare)(&place)?;
        let before = place.dear()?;
        let mut child = place.command(kind.line).spawn().context("start fathom")?;
        std::thread::sleep(after);
        let killed_ns = kinds::monotonic_ns()?;
        child.kill()?;
        child.wait()?;
        ensure!(place.dear()? == before, "a file of the user's was touched");
        let left = (kind.check)(&place, killed_ns, after)?;
        ensure!(
            place.dear()? == before,
            "a file of the user's was touched by what came after"
        );
        Ok(left)
    }
}

/// The finalizer of splitmix64: neighbours have nothing in common.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// After the next start, none of the kernel's trace instances of dead fathoms is there.
fn no_instance_is_left(program: &Path) -> Result<()> {
    let place = Place::new(program)?;
    // Makers that cannot be seen have ten seconds of grace; these could be.
    place.fathom("run --rw randread --bs 4k --size 64k --number_ios 1 -o none -q x")?;
    let list = "mount -t tracefs tracefs \"$0\" && ls \"$0/instances\" && umount \"$0\"";
    let point: PathBuf = place.path("tracefs");
    std::fs::create_dir(&point)?;
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", list])
        .arg(&point)
        .output()?;
    if !output.status.success() {
        println!(
            "SKIPPED: instances: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        return Ok(());
    }
    let names = String::from_utf8_lossy(&output.stdout);
    if let Some(left) = names.lines().find(|name| name.starts_with("fathom-")) {
        bail!("a trace instance is left: {left}");
    }
    Ok(())
}
