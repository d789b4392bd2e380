//! What was done, and whether that is what is said of it.

use super::bench::{Bench, Io};
use crate::Window;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

const MS: u64 = 1_000_000;
/// Of a window that lasts longer than this, half must be reported; of a shorter one, any of it.
const LONG_NS: u64 = 1_000 * MS;
/// What is on its way when a disturbance ends is late for a while.
const NEAR_NS: u64 = 1_000 * MS;
/// A window counts where the victim ran for so long before it and into it.
const MARGIN_NS: u64 = 300 * MS;
/// Far from any window, what is shorter than this may be due to whoever is named, as happens on any machine; but not to one
/// of those that we know to be innocent.
const SMALL_NS: u64 = 20 * MS;
/// The kernel's monitor of memory, which takes a CPU for a millisecond or four a few times a second on some machines: who names
/// it for no more is right, whatever else is done.
const ALWAYS_AT_WORK: &str = "kdamond.0";
/// From this share of an entry's owned time on, an owner is named.
const OWNER_SHARE: f64 = 0.2;
/// The cause that says nothing.
const UNTOLD: &str = "unknown";
/// Causes that are half said without a name.
const NEED_A_NAME: [&str; 2] = ["competing_io", "cpu_starvation"];

/// What was really done.
#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    /// When; none: nothing that may be noticed.
    pub(super) windows: Vec<Window>,
    /// The causes that are right.
    pub(super) causes: &'static [&'static str],
    /// The processes that may be named; of a cause that needs a name, one of them has to be.
    pub(super) guilty: &'static [&'static str],
    /// Those of our own who were there and did no harm.
    pub(super) innocent: &'static [&'static str],
    /// In each window the victim's I/Os took so many times as long as outside, or there were so many times fewer.
    pub(super) slower: f64,
}

/// A disturbance that was recorded.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) truth: Truth,
    /// The victim's own record.
    pub(super) ios: Vec<Io>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    Right,
    Missed,
    Wrong,
    /// The victim was not hurt as claimed.
    NoEffect(String),
}

/// What came of it.
#[derive(Debug, Clone)]
pub(super) struct Judgement {
    pub(super) told: Told,
    pub(super) accused: Vec<String>,
    /// The verdicts in the windows, each with how often.
    pub(super) said: String,
    details: String,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            told, accused, said, ..
        } = self;
        write!(f, "{told:?}, accused {accused:?}: {said}{}", self.details)
    }
}

/// An entry of `spikes.kept`.
struct Entry {
    window: Window,
    cause: String,
    /// Everybody who is named.
    names: Vec<String>,
    worst_ns: u64,
}

impl Recorded {
    pub(super) fn judge(&self, bench: &Bench) -> Judgement {
        let truth = &self.truth;
        let windows = self.whole_windows();
        let document = bench.explained();
        let entries = entries(&document, bench.started_ns());
        let effect = self.effect(&windows);
        let accused = accused(&entries, truth);
        let told = match effect {
            Some(effect) if effect < truth.slower => Told::NoEffect(format!(
                "{effect:.1} times as slow, not {}; {} windows of {} within the run",
                truth.slower,
                windows.len(),
                truth.windows.len()
            )),
            _ => worst(&entries, &windows, truth),
        };
        let told = match told {
            Told::Right if !accused.is_empty() => Told::Wrong,
            told => told,
        };
        Judgement {
            told,
            accused,
            said: said(&entries, &windows),
            details: details(&document, &windows, bench.started_ns(), effect),
        }
    }

    /// Those that the victim saw begin.
    fn whole_windows(&self) -> Vec<Window> {
        let (begin_ns, end_ns) = self.time_ns();
        let whole =
            |window: &&Window| window.start_ns > begin_ns + MARGIN_NS && window.start_ns + MARGIN_NS < end_ns;
        let cut = |window: &Window| Window {
            start_ns: window.start_ns,
            end_ns: window.end_ns.min(end_ns),
        };
        self.truth.windows.iter().filter(whole).map(cut).collect()
    }

    fn time_ns(&self) -> (u64, u64) {
        let begin_ns = self.ios.iter().map(|io| io.start_ns).min();
        let end_ns = self.ios.iter().map(|io| io.end_ns).max();
        (begin_ns.unwrap_or(0), end_ns.unwrap_or(0))
    }

    /// How many times slower the victim was, in the window in which that was least; `None` where nothing is claimed.
    fn effect(&self, windows: &[Window]) -> Option<f64> {
        if self.truth.windows.is_empty() {
            return None;
        }
        let in_any = |io: &Io| windows.iter().any(|window| io.overlaps(window));
        let outside = self.ios.iter().filter(|io| !in_any(io));
        let mut usual: Vec<u64> = outside.map(Io::length_ns).collect();
        usual.sort_unstable();
        let usual_ns = usual.get(usual.len() / 2).copied().unwrap_or(u64::MAX).max(1) as f64;
        let length_ns = |window: &Window| (window.end_ns - window.start_ns) as f64;
        let (begin_ns, end_ns) = self.time_ns();
        let outside_ns = (end_ns - begin_ns) as f64 - windows.iter().map(length_ns).sum::<f64>();
        let usual_rate = usual.len() as f64 / outside_ns.max(1.0);
        let of_window = |window: &Window| {
            let here: Vec<u64> = self
                .ios
                .iter()
                .filter(|io| io.overlaps(window))
                .map(Io::length_ns)
                .collect();
            let count = here.len().max(1) as f64;
            let mean_ns = here.iter().sum::<u64>() as f64 / count;
            let fewer = usual_rate / (count / length_ns(window).max(1.0));
            (mean_ns / usual_ns).max(fewer)
        };
        windows.iter().map(of_window).min_by(f64::total_cmp).or(Some(0.0))
    }
}

/// The worst of what is told of all windows.
fn worst(entries: &[Entry], windows: &[Window], truth: &Truth) -> Told {
    let all = windows.iter().map(|window| told(entries, window, truth));
    let worst = all.max_by_key(|told| match told {
        Told::Right | Told::NoEffect(_) => 0,
        Told::Wrong => 1,
        Told::Missed => 2,
    });
    worst.unwrap_or(Told::Right)
}

fn told(entries: &[Entry], window: &Window, truth: &Truth) -> Told {
    let named = |entry: &Entry| {
        let is_guilty = |name: &String| truth.guilty.contains(&name.as_str());
        truth.guilty.is_empty()
            || !NEED_A_NAME.contains(&entry.cause.as_str())
            || entry.names.iter().any(is_guilty)
    };
    let right = |entry: &&Entry| truth.causes.contains(&entry.cause.as_str()) && named(entry);
    let length_ns = window.end_ns - window.start_ns;
    let needed_ns = if length_ns > LONG_NS { length_ns / 2 } else { 1 };
    if covered_ns(entries.iter().filter(right), window) >= needed_ns {
        return Told::Right;
    }
    let other = |entry: &&Entry| entry.cause != UNTOLD && !right(entry);
    if covered_ns(entries.iter().filter(other), window) > 0 {
        Told::Wrong
    } else {
        Told::Missed
    }
}

/// How much of `window` the entries report, those that overlap once.
fn covered_ns<'a>(entries: impl Iterator<Item = &'a Entry>, window: &Window) -> u64 {
    let part = |entry: &Entry| {
        let start_ns = entry.window.start_ns.max(window.start_ns);
        // An entry of one I/O may have no length.
        (start_ns, (entry.window.end_ns + 1).min(window.end_ns))
    };
    let mut parts: Vec<(u64, u64)> = entries.map(part).filter(|part| part.0 < part.1).collect();
    parts.sort_unstable();
    let (mut covered_ns, mut until_ns) = (0, 0);
    for (start_ns, end_ns) in parts {
        covered_ns += end_ns.saturating_sub(start_ns.max(until_ns));
        until_ns = until_ns.max(end_ns);
    }
    covered_ns
}

/// Everybody who is named and did nothing, or is named far from what he did.
fn accused(entries: &[Entry], truth: &Truth) -> Vec<String> {
    let mut accused = Vec::new();
    for entry in entries {
        let near = |apart_ns: u64| {
            let mut windows = truth.windows.iter();
            windows.any(|window| {
                entry.window.start_ns <= window.end_ns + apart_ns
                    && window.start_ns <= entry.window.end_ns + apart_ns
            })
        };
        for name in &entry.names {
            let ours = truth.innocent.contains(&name.as_str());
            let elsewhere = !near(0) || name == ALWAYS_AT_WORK;
            let judged = ours || entry.worst_ns >= SMALL_NS || !elsewhere;
            let guilty = truth.guilty.contains(&name.as_str()) && near(NEAR_NS);
            if judged && !guilty && !accused.contains(name) {
                accused.push(name.clone());
            }
        }
    }
    accused
}

/// The verdicts that touch a window, or all where there is none.
fn said(entries: &[Entry], windows: &[Window]) -> String {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for entry in entries {
        let here = |window| covered_ns(std::iter::once(entry), window) > 0;
        if !windows.is_empty() && !windows.iter().any(here) {
            continue;
        }
        let mut said = entry.cause.clone();
        if !entry.names.is_empty() {
            said = format!("{said} by {}", entry.names.join("+"));
        }
        *counts.entry(said).or_default() += 1;
    }
    let said = counts.iter().map(|(said, count)| format!("{count} {said}"));
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        return "nothing".to_owned();
    }
    said.join(", ")
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn entries(document: &Value, started_ns: u64) -> Vec<Entry> {
    let entry = |spike: &Value| {
        let start_ns = started_ns + number(spike, "/start_ns");
        Entry {
            window: Window {
                start_ns,
                end_ns: start_ns + number(spike, "/duration_ns"),
            },
            cause: text(spike, "/verdict/cause").unwrap_or(UNTOLD).to_owned(),
            names: names(spike),
            worst_ns: number(spike, "/worst/response_ns"),
        }
    };
    list(document, "/spikes/kept").map(entry).collect()
}

/// Everybody who is named in an entry: by its verdict, or as an owner of much.
fn names(spike: &Value) -> Vec<String> {
    let of_verdict = text(spike, "/verdict/process/comm");
    let mut names: Vec<String> = of_verdict.map(str::to_owned).into_iter().collect();
    let owned_ns: u64 = list(spike, "/owners").map(|owner| number(owner, "/ns")).sum();
    for owner in list(spike, "/owners") {
        let name = text(owner, "/process/comm").or_else(|| text(owner, "/process"));
        let much = number(owner, "/ns") as f64 >= OWNER_SHARE * owned_ns as f64;
        if let Some(name) = name.filter(|name| much && !names.iter().any(|known| known == name)) {
            names.push(name.to_owned());
        }
    }
    names
}

/// What was done and what is said, one a line.
fn details(document: &Value, windows: &[Window], started_ns: u64, effect: Option<f64>) -> String {
    let done = windows.iter().map(|window| {
        let at_ms = window.start_ns.saturating_sub(started_ns) / MS;
        let length_ms = (window.end_ns - window.start_ns) / MS;
        format!("\ndone at {at_ms} ms for {length_ms} ms")
    });
    let effect = effect.map(|effect| format!("\n{effect:.1} times as slow, where least"));
    let found = list(document, "/spikes/kept").map(|spike| {
        format!(
            "\nsaid at {} ms for {} ms, worst {} ms: {}",
            number(spike, "/start_ns") / MS,
            number(spike, "/duration_ns") / MS,
            number(spike, "/worst/response_ns") / MS,
            spike["verdict"]
        )
    });
    done.chain(effect).chain(found).collect()
}
