//! The recorded load on many layouts at a time: the recording is read once, each layout has a model of its own.
//!
//! Data in: recordings, layouts. Data out: what the model shows of each. It must not know which layouts are worth it.

use super::recorded::Recorded;
use crate::terminal;
use anyhow::Context as _;
use fathom_model::Catalog;
use fathom_plan::layout::Layout;
use fathom_plan::need::Need;
use fathom_plan::plan::Proven;
use fathom_plan::prove::Proof;
use fathom_plan::replay::{Player, Replayed};
use fathom_plan::search;
use fathom_plan::seen::Arrival;
use std::cell::RefCell;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Batches that wait for a thread, at most.
const BATCHES: usize = 8;
/// I/Os of a batch, at least.
const BATCH: usize = 1 << 14;
/// Progress is told so often.
const TOLD_EVERY: Duration = Duration::from_millis(200);

/// Recordings that are carried out on models.
pub(in crate::commands::plan) struct Replays<'a> {
    pub(in crate::commands::plan) recorded: &'a [Recorded],
    pub(in crate::commands::plan) catalog: &'a Catalog,
    pub(in crate::commands::plan) growth_permille: u64,
    /// What stands at present, to be carried out with the first others.
    pub(in crate::commands::plan) present: Option<Layout<'a>>,
    pub(in crate::commands::plan) present_proof: RefCell<Option<Proof>>,
    pub(in crate::commands::plan) quiet: bool,
}

impl Replays<'_> {
    /// What each of `layouts` makes of all recordings, one after the other, each from full credit.
    pub(in crate::commands::plan) fn prove(&self, layouts: &[Layout<'_>]) -> anyhow::Result<Vec<Proof>> {
        let with_present = self.present_proof.borrow().is_none();
        let present = self.present.iter().filter(|_| with_present);
        let all: Vec<Layout<'_>> = layouts.iter().chain(present).copied().collect();
        let mut replayed: Vec<Option<Replayed>> = vec![None; all.len()];
        let mut progress = Progress::new(self);
        for recorded in self.recorded.iter().filter(|recorded| recorded.replayed) {
            for (sum, one) in replayed.iter_mut().zip(self.of(recorded, &all, &mut progress)?) {
                match sum {
                    Some(sum) => sum.add(one),
                    None => *sum = Some(one),
                }
            }
        }
        progress.end();
        let mut proofs: Vec<Proof> = replayed.into_iter().flatten().map(Proof::from).collect();
        if proofs.len() > layouts.len() {
            *self.present_proof.borrow_mut() = proofs.pop();
        }
        Ok(proofs)
    }

    /// What stands at present, under the recorded load.
    pub(in crate::commands::plan) fn stands<'l>(
        &self,
        layout: Layout<'l>,
        need: &Need,
    ) -> anyhow::Result<Proven<'l>> {
        if self.present_proof.borrow().is_none() {
            self.prove(&[])?;
        }
        Ok(Proven {
            answer: search::answer(layout, need),
            proof: self.present_proof.borrow().clone(),
        })
    }

    /// One recording, on as many threads as there are processors.
    fn of(
        &self,
        recorded: &Recorded,
        layouts: &[Layout<'_>],
        progress: &mut Progress,
    ) -> anyhow::Result<Vec<Replayed>> {
        let threads = thread::available_parallelism()
            .map_or(1, usize::from)
            .clamp(1, layouts.len().max(1));
        let mut of_thread: Vec<Vec<(usize, Player)>> = (0..threads).map(|_| Vec::new()).collect();
        for (number, layout) in layouts.iter().enumerate() {
            let player = Player::new(layout, self.catalog, recorded.start_ns(), self.growth_permille)?;
            of_thread[number % threads].push((number, player));
        }
        thread::scope(|scope| {
            let mut ways = Vec::new();
            let mut running = Vec::new();
            for players in of_thread {
                let (to, from) = sync_channel(BATCHES);
                ways.push(to);
                running.push(scope.spawn(move || play(players, &from)));
            }
            let sent = send(recorded, &ways, progress);
            drop(ways);
            let mut done = Vec::new();
            for thread in running {
                done.extend(
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                );
            }
            sent.with_context(|| recorded.recording.name.clone())?;
            done.sort_by_key(|(number, _)| *number);
            Ok(done.into_iter().map(|(_, replayed)| replayed).collect())
        })
    }
}

/// Carries out what comes.
fn play(mut players: Vec<(usize, Player)>, from: &Receiver<Arc<[Arrival]>>) -> Vec<(usize, Replayed)> {
    for batch in from {
        for (_, player) in &mut players {
            player.take(&batch);
        }
    }
    let done = players.into_iter();
    done.map(|(number, player)| (number, player.finish())).collect()
}

/// Reads the recording and gives it to all.
fn send(
    recorded: &Recorded,
    ways: &[SyncSender<Arc<[Arrival]>>],
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let mut batch: Vec<Arrival> = Vec::with_capacity(2 * BATCH);
    let give = |batch: &mut Vec<Arrival>| {
        let shared: Arc<[Arrival]> = Arc::from(batch.as_slice());
        batch.clear();
        ways.iter().all(|to| to.send(Arc::clone(&shared)).is_ok())
    };
    recorded.each(&mut |arrivals| {
        batch.extend_from_slice(arrivals);
        if batch.len() < BATCH {
            return true;
        }
        progress.add(batch.len() as u64);
        give(&mut batch)
    })?;
    give(&mut batch);
    Ok(())
}

/// How far a replay is, on a terminal.
struct Progress {
    shown: bool,
    since: Instant,
    told: Instant,
    done_ios: u64,
    all_ios: u64,
}

impl Progress {
    fn new(replays: &Replays<'_>) -> Self {
        let ios = |recorded: &Recorded| {
            let seen = &recorded.recording.seen;
            seen.total().ios() + seen.flushes + seen.discards
        };
        Self {
            shown: !replays.quiet && terminal::stderr_redraws(),
            since: Instant::now(),
            told: Instant::now(),
            done_ios: 0,
            all_ios: replays
                .recorded
                .iter()
                .filter(|recorded| recorded.replayed)
                .map(ios)
                .sum::<u64>()
                .max(1),
        }
    }

    fn add(&mut self, ios: u64) {
        self.done_ios += ios;
        if !self.shown || self.told.elapsed() < TOLD_EVERY {
            return;
        }
        self.told = Instant::now();
        let part = (self.done_ios as f64 / self.all_ios as f64).clamp(1e-6, 1.0);
        let left = self.since.elapsed().as_secs_f64() * (1.0 - part) / part;
        let _gone = write!(
            std::io::stderr().lock(),
            "\r\x1b[Kreplaying the recording on the model: {:.0} %, about {left:.0} s left",
            part * 100.0
        );
    }

    fn end(&self) {
        if self.shown {
            let _gone = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
