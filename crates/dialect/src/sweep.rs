//! A sweep as written: a TOML file, flags, or both.
//!
//! Data in: the text of a file and the flags of the command line, which share one vocabulary ([`settings`]): the axes of
//! the matrix, the times of a point, how points are gone through, and options that all jobs share. A flag overrides the
//! file. Data out: a [`SweepSpec`], or diagnostics. It must not know how points are carried out, nor what the options of a
//! job mean beyond their names.

mod file;
mod words;

use crate::diagnostic::{Diagnostic, Fault, Findings, Place};
use crate::input::{Override, Source};
use crate::table::{find, nearest_among};
use crate::value::{self, TimeUnit};
use fathom_core::sweep::{Axes, PointOrder, SteadyRule, Timing};
pub use words::{SweepWord, words};

/// A kibibyte is `k`: sizes on the axes are as in the field's tables.
const KB_BASE: u64 = 1024;
/// A larger matrix is taken for a mistake.
const POINTS_MAX: usize = 100_000;
/// What a bare `stop-when-steady` asks for.
const STEADY_HALF_WIDTH: f64 = 0.02;
/// Fewer seconds say nothing of the others.
const STEADY_LEAST_SECONDS: u32 = 30;
const SECOND_NS: u64 = 1_000_000_000;

/// What is to be swept, with every default filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepSpec {
    /// What the file says of itself.
    pub about: String,
    /// The target that the file names; the command line's goes before it.
    pub target: Option<String>,
    /// The matrix.
    pub axes: Axes,
    /// The times of a point.
    pub timing: Timing,
    /// How often each point is measured.
    pub repeats: u32,
    pub order: PointOrder,
    /// Seed of the order and of each point.
    pub seed: u64,
    /// Write the whole region first.
    pub precondition: bool,
    /// When a point may end early.
    pub steady: Option<SteadyRule>,
    /// Skip what follows from other points.
    pub adaptive: bool,
    /// What all points share, under the options' canonical names.
    pub options: Vec<Override>,
}

/// One key and its value, wherever it was written. Lists are joined by commas.
#[derive(Debug, Clone)]
struct Setting {
    name: String,
    value: Option<String>,
    at: Place,
}

/// Reads a sweep: the file, where there is one, then the flags over it.
///
/// # Errors
/// All that is wrong, each with its place.
pub fn parse_sweep(file: Option<Source<'_>>, flags: &[Override]) -> Result<SweepSpec, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let mut settings = Vec::new();
    if let Some(source) = file {
        settings.extend(file::settings(source, &mut findings));
    }
    settings.extend(flags.iter().map(|flag| Setting {
        name: flag.name.clone(),
        value: flag.value.clone(),
        at: Place::Flag(flag.name.clone()),
    }));
    let mut draft = Draft::new();
    for setting in &settings {
        if let Err(fault) = draft.apply(setting) {
            findings.error(setting.at.clone(), fault);
        }
    }
    let spec = draft.finish();
    let points = spec.axes.count();
    if points > POINTS_MAX {
        let fault = Fault::new(format!("the matrix has {points} points, {POINTS_MAX} at most"))
            .remedy("leave values of some axes out");
        findings.error(None, fault);
    }
    if spec.adaptive && spec.order == PointOrder::Shuffled {
        let fault = Fault::new("an adaptive sweep chooses its order itself");
        findings.error(None, fault.remedy("leave order=shuffled or adaptive out"));
    }
    if findings.has_errors() {
        return Err(findings.into_list());
    }
    Ok(spec)
}

/// A sweep while its settings are applied.
struct Draft {
    spec: SweepSpec,
    /// Order and share of reads of each word of `rw`.
    rw: Vec<(bool, u8)>,
    mix: Vec<u8>,
    steady: Option<f64>,
}

impl Draft {
    /// What holds where nothing is said.
    fn new() -> Self {
        Self {
            spec: SweepSpec {
                about: String::new(),
                target: None,
                axes: Axes {
                    random: Vec::new(),
                    read_percent: Vec::new(),
                    block_size_bytes: vec![4096],
                    iodepth: vec![1],
                    threads: vec![1],
                },
                timing: Timing {
                    idle_ns: 0,
                    warmup_ns: 5 * SECOND_NS,
                    duration_ns: 30 * SECOND_NS,
                    cooldown_ns: 0,
                },
                repeats: 1,
                order: PointOrder::default(),
                seed: 0,
                precondition: false,
                steady: None,
                adaptive: false,
                options: Vec::new(),
            },
            rw: vec![(true, 100)],
            mix: Vec::new(),
            steady: None,
        }
    }

    fn apply(&mut self, setting: &Setting) -> Result<(), Fault> {
        let Some(word) = words::find(&setting.name) else {
            return self.option(setting);
        };
        let Some(text) = setting.value.as_deref().or(word.bare) else {
            let fault = Fault::new(format!("`{}` has no value", word.name));
            return Err(fault.remedy(format!("write such as {}", word.example)));
        };
        (word.read)(self, text)
    }

    /// An option of a job, which all points share.
    fn option(&mut self, setting: &Setting) -> Result<(), Fault> {
        let name = setting.name.replace('-', "_");
        let Some(row) = find(&name) else {
            let near = nearest_among(&name, words::names);
            let fault = Fault::new(format!(
                "`{}` is neither a setting of sweeps nor an option of jobs",
                setting.name
            ));
            return Err(match near {
                Some(near) => fault.remedy(format!("did you mean `{near}`?")),
                None => fault.remedy("`fathom sweep --help` has the settings, `fathom options` the options"),
            });
        };
        if let Some(instead) = words::instead_of(row.name) {
            let fault = Fault::new(format!("`{}` is what the sweep itself decides", row.name));
            return Err(fault.remedy(instead));
        }
        if row.name.starts_with("write_") && row.name.ends_with("log") {
            let fault = Fault::new(format!(
                "`{}` writes one file, and a sweep has many points",
                row.name
            ));
            return Err(fault.remedy("leave it out: each point has a record of its own"));
        }
        self.spec.options.retain(|option| option.name != row.name);
        self.spec.options.push(Override {
            name: row.name.to_owned(),
            value: setting.value.clone(),
        });
        Ok(())
    }

    fn finish(self) -> SweepSpec {
        let mut spec = self.spec;
        spec.axes.random = distinct(self.rw.iter().map(|&(random, _)| random));
        spec.axes.read_percent = match self.mix {
            mix if mix.is_empty() => distinct(self.rw.iter().map(|&(_, reads)| reads)),
            mix => mix,
        };
        for (name, value) in [("ioengine", "libaio"), ("direct", "1")] {
            if !spec.options.iter().any(|option| option.name == name) {
                spec.options.push(Override::new(name, value));
            }
        }
        let seconds = (spec.timing.duration_ns / SECOND_NS).max(1) as u32;
        spec.steady = self.steady.map(|half_width| SteadyRule {
            half_width,
            least_seconds: STEADY_LEAST_SECONDS.min(seconds),
        });
        spec
    }
}

/// The values in the order given, each once.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// Values with commas between them, each once.
fn list<T: PartialEq>(text: &str, one: impl Fn(&str) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    let values = text.split(',').map(str::trim).map(one);
    Ok(distinct(values.collect::<Result<Vec<_>, _>>()?.into_iter()))
}

/// The order and the share of reads of a word of `rw`.
fn direction(word: &str) -> Result<(bool, u8), Fault> {
    Ok(match word {
        "read" => (false, 100),
        "write" => (false, 0),
        "rw" | "readwrite" => (false, 50),
        "randread" => (true, 100),
        "randwrite" => (true, 0),
        "randrw" => (true, 50),
        other => {
            let fault = Fault::new(format!("`{other}` is not a direction"));
            return Err(
                fault.remedy("write read, write, rw, randread, randwrite or randrw, with commas between")
            );
        }
    })
}

fn whole(text: &str, min: u32, max: u32) -> Result<u32, Fault> {
    let number = text.parse().ok().filter(|n| (min..=max).contains(n));
    number.ok_or_else(|| {
        Fault::new(format!("`{text}` is not a whole number"))
            .remedy(format!("write numbers from {min} to {max}, with commas between"))
    })
}

fn block_size(text: &str) -> Result<u64, Fault> {
    // A job of fio's drops what stands behind a unit; a sweep is fathom's own, and nobody means that.
    if value::read_in_part(text, KB_BASE).is_some() {
        return Err(Fault::new(format!("`{text}` is not a size"))
            .remedy("write a whole number with an optional unit, as 4k"));
    }
    let bytes = value::positive_size(text, KB_BASE)?;
    // What one I/O of Linux can carry.
    if bytes > i32::MAX as u64 {
        return Err(
            Fault::new(format!("a block of {text} is too large for one I/O")).remedy("write at most 1g")
        );
    }
    Ok(bytes)
}

fn time(text: &str) -> Result<u64, Fault> {
    value::time(text, TimeUnit::Seconds).map(|time| time.0)
}

fn positive_time(text: &str) -> Result<u64, Fault> {
    match time(text)? {
        0 => Err(Fault::new("a point that lasts no time measures nothing").remedy("write such as 60s")),
        ns => Ok(ns),
    }
}

fn order(text: &str) -> Result<PointOrder, Fault> {
    match text {
        "as-given" | "as_given" => Ok(PointOrder::AsGiven),
        "shuffled" => Ok(PointOrder::Shuffled),
        other => Err(Fault::new(format!("`{other}` is not an order"))
            .remedy("write as-given or shuffled; interleaved is for several targets (--on twice)")),
    }
}

fn switch(text: &str) -> Result<bool, Fault> {
    match text {
        "1" | "true" | "yes" => Ok(true),
        "0" | "false" | "no" => Ok(false),
        other => Err(Fault::new(format!("`{other}` is neither yes nor no")).remedy("write 1 or 0")),
    }
}

/// `2%`, or whether at all.
fn steady(text: &str) -> Result<Option<f64>, Fault> {
    if let Some(percent) = text.strip_suffix('%') {
        let half_width = value::float(percent.trim())? / 100.0;
        if half_width > 0.0 && half_width < 1.0 {
            return Ok(Some(half_width));
        }
        return Err(
            Fault::new(format!("`{text}` is no half width of an interval")).remedy("write such as 2%")
        );
    }
    Ok(switch(text)
        .map_err(|fault| fault.remedy("write half the width of the interval, such as 2%"))?
        .then_some(STEADY_HALF_WIDTH))
}

#[cfg(test)]
mod tests;
