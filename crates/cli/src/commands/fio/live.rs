//! What `fathom fio` prints while a run goes on, and its results: through one outlet, in fio's words.
//!
//! Data in: events of the session. Data out: text as it comes. It must not carry anything out.

use super::idle;
use super::out::Out;
use super::settings::{Eta as EtaWhen, Outputs};
use super::states;
use super::trigger::Trigger;
use super::written::Options;
use crate::terminal;
use fathom_core::run::{DiskSummary, SeriesRow, WorkerAccount};
use fathom_core::units::Nanos;
use fathom_core::workload::{Job, Workload};
use fathom_engine::run::{GroupProgress, Progress};
use fathom_report::fio::eta::{Eta, Standing, letter};
use fathom_report::fio::{FioRun, HeaderJob, start_lines};
use fathom_session::{Event, Observer};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Who sees what a run prints.
pub(super) trait Shows: Observer {
    /// What stands before a run.
    fn header(&mut self);
    /// A line that belongs to fio's text.
    fn normal(&mut self, text: &str);
    /// A line that is printed whatever the format.
    fn always(&mut self, text: &str);
    /// A line for stderr.
    fn error(&mut self, text: &str);
    /// The results at the end, and the exit that they come to.
    fn ended(&mut self, accounts: &[WorkerAccount], disks: &[DiskSummary], exit: u8);
}

/// All that is shown of one run.
pub(super) struct Shown<'a> {
    workload: &'a Workload,
    options: Options,
    outputs: &'a Outputs,
    out: Out,
    begun: Instant,
    eta: bool,
    eta_next: Nanos,
    newline_next: Nanos,
    status_next: Option<Nanos>,
    /// Whether a line of the run under way was drawn last, which has no end yet.
    drawn: usize,
    /// SIGUSR1 asks for a report.
    asked: Arc<AtomicBool>,
    /// The signal that ended the run; 0: none.
    caught: Arc<AtomicUsize>,
    elapsed: Nanos,
    fraction: Option<f64>,
    /// What could not be printed; told at the end.
    failed: Option<anyhow::Error>,
    bandwidth: Bandwidth,
    /// Watches the processors, where that was asked for.
    idle: Option<idle::Watch>,
    /// What ends the run beside its jobs, and the flag that does.
    trigger: Option<Trigger>,
    stop: Arc<AtomicBool>,
    /// How far verified writes came: file names and what they hold.
    states: Vec<(String, Vec<u8>)>,
}

/// The bandwidth of all jobs together, by the end of its interval.
#[derive(Debug, Default)]
struct Bandwidth {
    wanted: bool,
    /// Bytes of each direction, and the length of the interval, by when it ended since the start.
    rows: BTreeMap<u64, ([u64; 3], u64)>,
    epoch_ns: Option<u64>,
    logs: [String; 3],
}

impl<'a> Shown<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        options: Options,
        outputs: &'a Outputs,
        out: Out,
        (begun, asked, caught): (Instant, Arc<AtomicBool>, Arc<AtomicUsize>),
    ) -> Self {
        let eta = shows_eta(outputs, &out);
        Self {
            workload,
            options,
            outputs,
            out,
            begun,
            eta,
            eta_next: Nanos::ZERO,
            newline_next: outputs.eta_newline.unwrap_or(Nanos(u64::MAX)),
            status_next: outputs.status_interval,
            drawn: 0,
            asked,
            caught,
            elapsed: Nanos::ZERO,
            fraction: None,
            failed: None,
            bandwidth: Bandwidth {
                wanted: outputs.bandwidth_log.is_some(),
                ..Bandwidth::default()
            },
            idle: outputs.idle.map(idle::Watch::new),
            trigger: None,
            stop: Arc::default(),
            states: Vec::new(),
        }
    }

    /// Has `trigger` set `stop`.
    pub(super) fn ends_by(&mut self, trigger: Option<Trigger>, stop: &Arc<AtomicBool>) {
        self.trigger = trigger;
        self.stop = Arc::clone(stop);
    }

    /// The trigger, where it ended the run.
    pub(super) fn take_trigger(&mut self) -> Option<Trigger> {
        self.trigger.take().filter(|trigger| trigger.fired)
    }

    /// The states of verification to be left.
    pub(super) fn take_states(&mut self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut self.states)
    }

    fn print(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.text(text).err();
        }
    }

    /// The results: of a run that goes on, or at its end.
    fn results(&mut self, accounts: &[WorkerAccount], disks: &[DiskSummary], over: bool) {
        self.end_drawn();
        let elapsed_ns = self.begun.elapsed().as_nanos() as u64;
        let text = now_in_words();
        let idleness = self.idle.as_ref().map(idle::Watch::so_far);
        let run = FioRun {
            workload: self.workload,
            global_options: &self.options.global,
            job_options: &self.options.jobs,
            accounts,
            disks,
            idleness: idleness.as_ref(),
            now_unix_ms: crate::request::unix_ns() / 1_000_000,
            now_in_words: &text,
            elapsed_ns,
            of_client: false,
            eta_s: if over {
                ended_eta(elapsed_ns)
            } else {
                self.left_s()
            },
        };
        let text = run.render(&self.outputs.formats);
        self.print(&text);
    }

    /// The logs of all bandwidth: their names' ends and what they hold.
    pub(super) fn bandwidth_logs(&mut self) -> Vec<(&'static str, String)> {
        self.bandwidth.settle(u64::MAX);
        let names = ["-read_bw.log", "-write_bw.log", "-trim_bw.log"];
        let logs = std::mem::take(&mut self.bandwidth.logs);
        names.into_iter().zip(logs).collect()
    }

    /// Nothing more is printed.
    ///
    /// # Errors
    /// Something could not be.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.end_drawn();
        match self.failed {
            Some(error) => Err(error),
            None => self.out.finish(),
        }
    }

    fn left_s(&self) -> Option<u64> {
        let fraction = self.fraction.filter(|&fraction| fraction > 0.0)?;
        Some((self.elapsed.0 as f64 / 1e9 * (1.0 / fraction - 1.0)) as u64)
    }

    /// Goes to a new line where one was drawn.
    fn end_drawn(&mut self) {
        if std::mem::take(&mut self.drawn) > 0 {
            self.print("\n");
        }
    }

    fn progress(&mut self, progress: &Progress) {
        self.elapsed = progress.elapsed;
        if let Some(trigger) = &mut self.trigger
            && trigger.is_due(progress.elapsed)
        {
            self.stop.store(true, Ordering::Relaxed);
        }
        let fractions = progress.groups.iter().map(|group| group.fraction);
        let known: Option<Vec<f64>> = fractions.collect();
        self.fraction = known.map(|all| all.iter().sum::<f64>() / all.len().max(1) as f64);
        if !self.eta || progress.elapsed < self.eta_next {
            return;
        }
        self.eta_next = progress.elapsed + self.outputs.eta_interval;
        let line = self.eta_of(progress).line();
        // Blanks hide what the last line had more.
        let padded = format!("{line:<width$}", width = self.drawn);
        self.drawn = line.len();
        self.print(&format!("{padded}\r"));
        if progress.elapsed >= self.newline_next {
            let step = self.outputs.eta_newline.unwrap_or(Nanos(u64::MAX));
            self.newline_next = progress.elapsed + step;
            self.end_drawn();
        }
    }

    fn eta_of(&self, progress: &Progress) -> Eta {
        let eta = where_all_stand(self.workload, progress);
        let ramping = progress.groups.iter().any(|group| group.ramping && !group.done);
        Eta {
            fraction: self.fraction.filter(|_| !ramping),
            left_s: self.left_s(),
            ..eta
        }
    }
}

/// How far all workers are, but for the share that is done.
pub(super) fn where_all_stand(workload: &Workload, progress: &Progress) -> Eta {
    let mut eta = Eta {
        elapsed_s: progress.elapsed.0 / 1_000_000_000,
        ..Eta::default()
    };
    for group in &progress.groups {
        eta.running += group.running;
        for op in 0..3 {
            eta.bytes[op] += group.live.bytes[op];
            eta.ios[op] += group.live.ios[op];
        }
        let members = workload.jobs.iter().filter(|job| job.group == group.group);
        standing(group, members, &mut eta);
    }
    eta
}

/// Whether the line of a run under way is drawn.
pub(super) fn shows_eta(outputs: &Outputs, out: &Out) -> bool {
    let may = outputs.formats.normal || !out.is_stdout();
    may && match outputs.eta {
        EtaWhen::Always => true,
        EtaWhen::Never => false,
        EtaWhen::Auto => std::io::stdout().is_terminal(),
    }
}

/// What fio says of the time left when a run has ended: of one that was short it had no guess.
fn ended_eta(elapsed_ns: u64) -> Option<u64> {
    (elapsed_ns < 3_000_000_000).then_some(u64::from(i32::MAX.unsigned_abs()))
}

/// Where the workers of a group stand: those that have ended are shown last.
fn standing<'j>(group: &GroupProgress, members: impl Iterator<Item = &'j Job>, eta: &mut Eta) {
    let mut running = group.running;
    for job in members {
        let at_work = Standing::Running(letter(job.pattern.mix.uses(), job.pattern.random));
        for _ in 0..job.numjobs {
            eta.standing.push(if !group.started {
                Standing::Waiting
            } else if group.done || running == 0 {
                Standing::Ended
            } else if group.ramping {
                Standing::Ramping
            } else {
                at_work
            });
            let counts = group.started && !group.done && running > 0;
            if counts {
                running -= 1;
                eta.files += job.files.nrfiles.max(job.files.names.len() as u32).max(1);
            }
        }
    }
}

impl Bandwidth {
    fn take(&mut self, rows: &[SeriesRow]) {
        if !self.wanted {
            return;
        }
        for row in rows {
            let begin = row.end.0.saturating_sub(row.duration_ns);
            let epoch = *self.epoch_ns.get_or_insert(begin);
            let Some(op) = fathom_core::backend::Op::DATA.iter().position(|&op| op == row.op) else {
                continue;
            };
            // Rows of one interval end together, but for those of jobs that end within it.
            let slot = row.end.0.saturating_sub(epoch).div_ceil(500_000_000) * 500;
            let entry = self.rows.entry(slot).or_default();
            entry.0[op] += row.bytes;
            entry.1 = entry.1.max(row.duration_ns);
        }
        let last = self.rows.last_key_value().map_or(0, |(&slot, _)| slot);
        self.settle(last);
    }

    /// Writes all that is older than `until_ms`.
    fn settle(&mut self, until_ms: u64) {
        while let Some(entry) = self.rows.first_entry() {
            if *entry.key() >= until_ms {
                break;
            }
            let (ms, (bytes, ns)) = entry.remove_entry();
            for (op, log) in self.logs.iter_mut().enumerate() {
                let kib = u128::from(bytes[op]) * 1_000_000_000 / 1024 / u128::from(ns.max(1));
                let _ = writeln!(log, "{ms}, {kib}, {op}, 0, 0");
            }
        }
    }
}

/// The time of day as `ctime(3)` writes it, where this machine is.
pub(super) fn now_in_words() -> String {
    jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string()
}

impl Observer for Shown<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => {
                if let Some(idle) = &mut self.idle {
                    idle.load_begins();
                }
                self.progress(progress);
            }
            Event::Rows(rows) => self.bandwidth.take(rows),
            Event::Standing(standing) => {
                let due = self.status_next.is_some_and(|next| self.elapsed >= next);
                if due || self.asked.swap(false, Ordering::Relaxed) {
                    self.status_next = self.outputs.status_interval.map(|step| self.elapsed + step);
                    self.results(&standing.accounts(), &standing.disks(), false);
                }
            }
            Event::LaidOut => {
                if let Some(idle) = &mut self.idle {
                    idle.load_begins();
                }
            }
            Event::LoadEnded => {
                if let Some(idle) = &mut self.idle {
                    idle.load_ended();
                }
            }
            Event::Unmarked(_)
            | Event::NotRecorded(_)
            | Event::RecordStays(_)
            | Event::RecordFailed(_)
            | Event::Shared { .. }
            | Event::Stays { .. }
            | Event::LayingOut { .. }
            | Event::Latencies(_)
            | Event::Machine { .. }
            | Event::Sweep(_) => {}
        }
    }
}

impl Shows for Shown<'_> {
    fn header(&mut self) {
        let jobs: Vec<HeaderJob<'_>> = (self.workload.jobs.iter().zip(&self.options.threads))
            .map(|(job, &threads)| HeaderJob { job, threads })
            .collect();
        let text = start_lines(&jobs);
        self.normal(&text);
    }

    fn normal(&mut self, text: &str) {
        if self.outputs.formats.normal {
            self.print(text);
        }
    }

    fn always(&mut self, text: &str) {
        self.end_drawn();
        self.print(text);
    }

    fn error(&mut self, text: &str) {
        terminal::say(text);
    }

    fn ended(&mut self, accounts: &[WorkerAccount], disks: &[DiskSummary], _exit: u8) {
        let signal = self.caught.load(Ordering::Relaxed);
        if signal != 0 {
            self.always(&format!("\nfio: terminating on signal {signal}\n"));
        }
        self.states = states::of(self.workload, accounts);
        self.results(accounts, disks, true);
    }
}
