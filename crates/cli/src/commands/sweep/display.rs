//! What is seen while a sweep goes on: the matrix as it fills, which point is under way, when all is done.
//!
//! Data in: steps as they begin and end, the progress of each. Data out: text on stderr; lines that are drawn anew on a terminal,
//! a line now and then elsewhere.

use super::outline::long;
use crate::terminal;
use crate::terminal::live::{Live, Shown};
use fathom_core::run::Status;
use fathom_core::sweep::{Outcome, SweepPlan};
use fathom_core::units::{Bytes, Nanos};
use fathom_engine::run::Progress;
use fathom_report::words::point as point_in_words;
use fathom_session::sweep::{self, Step};
use fathom_session::{Event, Observer, SweepEvent};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Away from a terminal: at most one line in so long.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// A cell of the matrix.
const CELL: usize = 9;

/// Shows how far a sweep is.
pub(crate) struct Display<'a> {
    plan: &'a SweepPlan,
    how: Shown,
    /// Of what is not a point: the layout, the preconditioning, the load beside the matrix.
    live: Live,
    begun: Instant,
    /// Measured since this program began: what the time that is left is reckoned from.
    measured: usize,
    done: usize,
    of: usize,
    /// The points under way, and since when.
    under_way: BTreeMap<Step, UnderWay>,
    /// What one point takes on this machine; `None`: virtual time.
    point_ns: Option<u64>,
    last_line: Option<Instant>,
}

struct UnderWay {
    name: String,
    elapsed: Nanos,
    iops: Option<f64>,
}

impl<'a> Display<'a> {
    /// `modelled`: time is virtual.
    pub(crate) fn new(plan: &'a SweepPlan, quiet: bool, modelled: bool) -> Self {
        Self {
            plan,
            how: Shown::new(quiet),
            live: Live::new(quiet),
            begun: Instant::now(),
            measured: 0,
            done: 0,
            of: plan.points.len() * plan.repeats as usize,
            under_way: BTreeMap::new(),
            point_ns: (!modelled).then_some(plan.timing.total_ns()),
            last_line: None,
        }
    }

    fn begins(&mut self, step: Step) {
        let plan = self.plan;
        let mut name = point_in_words(plan.points[step.point as usize]);
        if plan.repeats > 1 {
            let _ = write!(name, ", pass {} of {}", step.pass + 1, plan.repeats);
        }
        let under_way = UnderWay {
            name,
            elapsed: Nanos::ZERO,
            iops: None,
        };
        self.under_way.insert(step, under_way);
        if self.point_ns.is_some() {
            self.line();
        }
        self.draw_status();
    }

    fn progress(&mut self, step: Step, progress: &Progress) {
        if let Some(under_way) = self.under_way.get_mut(&step) {
            under_way.elapsed = progress.elapsed;
            let live = progress.groups.first().map(|group| &group.live);
            under_way.iops = live.map(|live| live.ios.iter().sum::<u64>() as f64);
        }
        self.draw_status();
    }

    fn ended(&mut self, step: Step, progress: &sweep::Progress<'_>, anew: bool) {
        self.under_way.remove(&step);
        self.measured += usize::from(anew);
        (self.done, self.of) = progress.done_of();
        let due = self
            .last_line
            .is_none_or(|last_line| last_line.elapsed() >= LINE_EVERY);
        if anew && due && self.point_ns.is_none() {
            self.line();
        }
        if let Shown::Terminal(screen) = &mut self.how {
            for (at, text) in matrix(self.plan, progress).into_iter().enumerate() {
                screen.show(at as u32, &text);
            }
        }
        self.draw_status();
    }

    fn line(&mut self) {
        if matches!(self.how, Shown::Lines) {
            self.last_line = Some(Instant::now());
            terminal::say(&self.status());
        }
    }

    fn draw_status(&mut self) {
        let text = self.status();
        if let Shown::Terminal(screen) = &mut self.how {
            screen.show(u32::MAX, &text);
        }
    }

    fn status(&self) -> String {
        let mut text = format!("{} of {}", self.done, self.of);
        let names: Vec<&str> = self.under_way.values().map(|point| point.name.as_str()).collect();
        match (&names[..], self.under_way.values().next(), self.point_ns) {
            ([name], Some(point), Some(point_ns)) => {
                let whole = Nanos(point_ns);
                let _ = write!(
                    text,
                    "  {name}: {} of {whole}",
                    Nanos::from_secs(point.elapsed.0 / 1_000_000_000)
                );
                if let Some(iops) = point.iops {
                    let _ = write!(text, ", {iops:.0} IOPS");
                }
            }
            ([], ..) => {}
            _ => {
                let _ = write!(text, "  {}", names.join("; "));
            }
        }
        if let Some(left) = self.left() {
            let _ = write!(text, "  done in {}", long(left.as_nanos() as u64));
        }
        text
    }

    /// The time that is left, in whole seconds.
    fn left(&self) -> Option<Duration> {
        let steps = self.of.saturating_sub(self.done);
        let seconds = match self.point_ns {
            Some(point_ns) => {
                let gone: u64 = self.under_way.values().map(|point| point.elapsed.0).sum();
                (point_ns * steps as u64).saturating_sub(gone) / 1_000_000_000
            }
            None if self.measured < 3 => return None,
            None => (self.begun.elapsed().as_secs_f64() / self.measured as f64 * steps as f64).ceil() as u64,
        };
        Some(Duration::from_secs(seconds))
    }
}

impl Observer for Display<'_> {
    fn event(&mut self, event: Event<'_>) {
        let Event::Sweep(event) = event else {
            return self.live.event(event);
        };
        match event {
            SweepEvent::StepBegins { step } => self.begins(step),
            SweepEvent::Progress { step, progress } => self.progress(step, progress),
            SweepEvent::StepEnded { step, progress, anew } => self.ended(step, progress, anew),
            SweepEvent::ProbeBegins => {
                self.how.clear();
                if !matches!(self.how, Shown::Silent) {
                    terminal::say("one load of two block sizes, to tell how large I/O is counted");
                }
            }
            SweepEvent::ProbeFailed { name, why } => {
                terminal::say(&format!("the load {name} could not be measured: {why}"));
            }
            SweepEvent::Ended => self.how.clear(),
        }
    }
}

/// The matrix: a row an order and mix, a column a size; the most IOPS so far, and how many points that is out of.
fn matrix(plan: &SweepPlan, progress: &sweep::Progress<'_>) -> Vec<String> {
    let results = progress.results(Status::Running);
    let mut header = format!("{:24}", "most IOPS (points)");
    for &size in &plan.axes.block_size_bytes {
        let _ = write!(header, "{:>width$}", Bytes(size).to_string(), width = CELL + 6);
    }
    let mut lines = vec![header];
    for &random in &plan.axes.random {
        for &read_percent in &plan.axes.read_percent {
            let order = if random { "random" } else { "sequential" };
            let mut line = format!("{:24}", format!("{order}, {read_percent} % reads"));
            for &size in &plan.axes.block_size_bytes {
                let in_cell = results.points.iter().filter(|result| {
                    let at = &result.coordinates;
                    (at.random, at.read_percent, at.block_size_bytes) == (random, read_percent, size)
                });
                let (mut most, mut known, mut all) = (None::<f64>, 0, 0);
                for result in in_cell {
                    all += 1;
                    known += usize::from(result.outcome != Outcome::Pending);
                    most = most.into_iter().chain(result.iops()).reduce(f64::max);
                }
                let value = most.map_or(String::from("·"), |iops| format!("{iops:.0}"));
                let _ = write!(line, "{value:>CELL$} {:>5}", format!("{known}/{all}"));
            }
            lines.push(line);
        }
    }
    lines
}
