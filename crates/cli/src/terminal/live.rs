//! What is seen while a run goes on: a line for each running group on a terminal, now and then a line elsewhere.
//!
//! Data in: the engine's progress. Data out: text on stderr. It must not know results.

mod line;

use crate::terminal;
use fathom_core::units::Nanos;
use fathom_engine::plan::FileAction;
use fathom_engine::run::{GroupProgress, Progress};
use fathom_session::{Event, Observer};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use line::{Position, View};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Redraws a second.
const REDRAWS: u8 = 10;
/// Away from a terminal: how long a group runs before its first line, and between its lines.
const FIRST_LINE: Nanos = Nanos::from_millis(1_500);
const NEXT_LINE: Nanos = Nanos::from_secs(10);

/// Shows how far a run is.
pub(crate) struct Live {
    how: Shown,
    groups: BTreeMap<u32, Watch>,
    layout: Option<Instant>,
}

/// How progress is shown.
pub(crate) enum Shown {
    Silent,
    /// Lines now and then.
    Lines,
    /// Lines that are drawn anew.
    Terminal(Screen),
}

impl Shown {
    /// `quiet`: nothing at all.
    pub(crate) fn new(quiet: bool) -> Self {
        if quiet {
            Self::Silent
        } else if terminal::stderr_redraws() {
            Self::Terminal(Screen::new())
        } else {
            Self::Lines
        }
    }

    /// Leaves the terminal clean.
    pub(crate) fn clear(&mut self) {
        if let Self::Terminal(screen) = self {
            screen.clear();
        }
    }
}

/// The lines of a terminal.
pub(crate) struct Screen {
    all: MultiProgress,
    bars: BTreeMap<u32, ProgressBar>,
}

/// What is remembered of a group.
#[derive(Debug, Clone, Copy)]
struct Watch {
    /// When it was first seen to run.
    since: Nanos,
    /// The end of its last second in which anything completed.
    active: Nanos,
    /// When it last had a line.
    last_shown: Option<Nanos>,
}

impl Live {
    /// `quiet`: nothing at all.
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            how: Shown::new(quiet),
            groups: BTreeMap::new(),
            layout: None,
        }
    }

    /// A file is being laid out.
    fn laying_out(&mut self, action: &FileAction, done_bytes: u64, total_bytes: u64) {
        let begin = *self.layout.get_or_insert_with(Instant::now);
        let elapsed = begin.elapsed();
        let name = action.path.display().to_string();
        match &mut self.how {
            Shown::Silent => {}
            Shown::Terminal(screen) => {
                let text = line::layout(&name, done_bytes, total_bytes, elapsed);
                screen.show(0, &text);
            }
            Shown::Lines => {
                let watch = self.groups.entry(0).or_insert(Watch::since(Nanos::ZERO));
                let now = nanos(elapsed);
                if is_due(watch, now) {
                    watch.last_shown = Some(now);
                    terminal::say(&line::layout(&name, done_bytes, total_bytes, elapsed));
                }
            }
        }
    }

    /// That file is done.
    fn laid_out(&mut self) {
        self.layout = None;
        self.groups.clear();
        self.how.clear();
    }

    /// Ten times a second.
    fn progress(&mut self, progress: &Progress) {
        if matches!(self.how, Shown::Silent) {
            return;
        }
        let count = progress.groups.len();
        for (index, group) in progress.groups.iter().enumerate() {
            let running = group.started && !group.done;
            if !running {
                self.groups.remove(&group.group);
                if let Shown::Terminal(screen) = &mut self.how {
                    screen.remove(group.group);
                }
                continue;
            }
            let first = Watch::since(progress.elapsed);
            let watch = self.groups.entry(group.group).or_insert(first);
            watch.see(group);
            let view = View {
                group,
                position: (count > 1).then_some(Position {
                    number: index + 1,
                    of: count,
                }),
                silent: progress.elapsed - watch.active,
            };
            match &mut self.how {
                Shown::Terminal(screen) => {
                    screen.show(group.group, &view.terminal_line(terminal::stderr_columns()));
                }
                Shown::Lines if is_due(watch, progress.elapsed) => {
                    watch.last_shown = Some(progress.elapsed);
                    terminal::say(&view.plain_line(progress.elapsed));
                }
                Shown::Lines | Shown::Silent => {}
            }
        }
    }
}

impl Observer for Live {
    fn event(&mut self, event: Event<'_>) {
        let quiet = matches!(self.how, Shown::Silent);
        match event {
            Event::LayingOut {
                file,
                done_bytes,
                total_bytes,
            } => self.laying_out(file, done_bytes, total_bytes),
            Event::LaidOut => self.laid_out(),
            Event::Progress(progress) => self.progress(progress),
            Event::LoadEnded => self.how.clear(),
            Event::Rows(_)
            | Event::Latencies(_)
            | Event::Machine { .. }
            | Event::Sweep(_)
            | Event::Standing(_) => {}
            Event::RecordFailed(error) => terminal::error(error),
            Event::RecordStays(error) => terminal::note(error),
            Event::Shared { .. } | Event::Stays { .. } | Event::Unmarked(_) | Event::NotRecorded(_)
                if quiet => {}
            Event::Shared { path, pid } => terminal::warning(&format!(
                "{} is measured by another fathom at the same time, process {pid}: both have the disk together. Wait for \
                 that to end",
                path.display()
            )),
            Event::Stays { path } => terminal::note(&format!(
                "unlink: {} was there before this run and stays: only what the run makes is removed",
                path.display()
            )),
            Event::Unmarked(files) => tell_unmarked(files),
            Event::NotRecorded(missing) => terminal::note(&format!("not recorded: {missing}")),
        }
    }
}

fn tell_unmarked(files: &[PathBuf]) {
    let Some(first) = files.first().map(|path| path.display()) else {
        return;
    };
    let more = match files.len() {
        1 => String::new(),
        n => format!(" (and {} more files)", n - 1),
    };
    terminal::note(&format!(
        "{first}{more} could not be marked as made by fathom (the file system has no user attributes): the next run that \
         writes to it needs --allow-overwrite {first}"
    ));
}

impl Watch {
    fn since(now: Nanos) -> Self {
        Self {
            since: now,
            active: now,
            last_shown: None,
        }
    }

    fn see(&mut self, group: &GroupProgress) {
        if group.live.ios.iter().any(|&ios| ios > 0) {
            let end = Nanos::from_secs(group.live.second + 1);
            self.active = self.active.max(end);
        }
    }
}

/// Whether a group gets a line now, away from a terminal.
fn is_due(watch: &Watch, now: Nanos) -> bool {
    match watch.last_shown {
        None => now - watch.since >= FIRST_LINE,
        Some(last) => now - last >= NEXT_LINE,
    }
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self {
            all: MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(REDRAWS)),
            bars: BTreeMap::new(),
        }
    }

    /// Leaves the terminal clean.
    pub(crate) fn clear(&mut self) {
        for (_, bar) in std::mem::take(&mut self.bars) {
            bar.finish_and_clear();
        }
        // The terminal may be gone.
        let _gone = self.all.clear();
    }

    /// Puts a line in its place; new ones go below those that are there.
    pub(crate) fn show(&mut self, group: u32, text: &str) {
        let bar = self.bars.entry(group).or_insert_with(|| {
            // It draws to where all do.
            self.all.add(bar(None, "{wide_msg}", true))
        });
        bar.set_message(text.to_owned());
    }

    fn remove(&mut self, group: u32) {
        if let Some(bar) = self.bars.remove(&group) {
            bar.finish_and_clear();
            self.all.remove(&bar);
        }
    }
}

/// A line that is drawn anew, of so many steps where they are known; nothing where it is `hidden`, or where stderr is no
/// terminal.
pub(crate) fn bar(steps: Option<u64>, template: &str, hidden: bool) -> ProgressBar {
    let target = if hidden {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(REDRAWS)
    };
    let bar = ProgressBar::with_draw_target(steps, target);
    // Templates are constants without keys that could be wrong.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

fn nanos(duration: Duration) -> Nanos {
    Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
