//! Published figures against modelled ones: what a table of figures says, and what a run makes of each.
//!
//! Data in: the text of a table (`figures.csv`), the [`Outcome`]s of runs. Data out: each figure with the modelled value,
//! its deviation and a verdict. It must not know how runs are made or how results are printed.
//!
//! A line of the table is `run,what,measure,published,unit,source,bound_percent,fitted,mechanism,known_miss`:
//!
//! | column | holds |
//! |---|---|
//! | `run` | which outcome: its name, with `*` for any letters; `NAME@SECTION` for some of its jobs; two with ` : ` between for a ratio |
//! | `what` | the figure in words |
//! | `measure` | what is taken from the outcome ([`measure`]) |
//! | `published` | `378`, `2..3` (between), `>60` (at least), `<400` (at most) |
//! | `unit` | one of [`mod@unit`]'s |
//! | `source` | `post`, `linked output`, `graph`, `derived`, `statement` (words of the post, put as a number) |
//! | `bound_percent` | how far the model may be off; empty: 10 |
//! | `fitted` | `yes`: a constant of the model was fitted to this figure (or assumed for its sake), so that it tests the fit only; empty: it was not |
//! | `mechanism` | what in the model makes the figure |
//! | `known_miss` | why the model misses it; empty: it must not |

#[cfg(test)]
mod fixture;
pub mod measure;
mod outcome;
mod seconds;
pub mod table;
pub mod unit;
mod value;

pub use outcome::Outcome;
pub use table::{TableError, read};
pub use value::{ValueError, value};

use measure::Measure;
use unit::Unit;

/// How far a figure may be off where its line does not say: 10 %.
pub const BOUND_PERCENT: f64 = 10.0;

/// A published figure, and how to take the same from a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Which outcome or outcomes.
    pub run: String,
    /// In words.
    pub what: String,
    /// What is taken from them.
    pub measure: Measure,
    pub published: Published,
    pub unit: Unit,
    /// Where it was published.
    pub source: Source,
    /// How far the modelled value may be off.
    pub bound_percent: f64,
    /// Whether a constant was fitted to it.
    pub fitted: bool,
    /// What in the model makes it.
    pub mechanism: String,
    /// Why the model is known to miss it.
    pub known_miss: Option<String>,
}

/// A published value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Published {
    /// This.
    Value(f64),
    /// Between these, both included.
    Between(f64, f64),
    /// No less than this.
    AtLeast(f64),
    /// No more than this.
    AtMost(f64),
}

/// Where a figure is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The text or a table of the post.
    Post,
    /// Output of a program that the post links.
    LinkedOutput,
    /// Read off a graph of the post.
    Graph,
    /// Reckoned from figures of the post.
    Derived,
    /// Words of the post ("scales linearly"), put as a number.
    Statement,
}

impl Source {
    /// All, by name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("post", Self::Post),
        ("linked output", Self::LinkedOutput),
        ("graph", Self::Graph),
        ("derived", Self::Derived),
        ("statement", Self::Statement),
    ];

    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, source)| *source == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Published {
    /// How far `modelled` is off, in percent of what was published; 0 within a range. Off a published 0, anything is
    /// infinitely far.
    pub fn deviation_percent(self, modelled: f64) -> f64 {
        let off = |from: f64| {
            if (modelled - from).abs() < f64::EPSILON {
                0.0
            } else {
                (modelled - from) / from.abs() * 100.0
            }
        };
        match self {
            Self::Value(value) => off(value),
            Self::Between(low, _) | Self::AtLeast(low) if modelled < low => off(low),
            Self::Between(_, high) | Self::AtMost(high) if modelled > high => off(high),
            _ => 0.0,
        }
    }
}

/// A figure with what the model makes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// As published.
    pub figure: Figure,
    /// As modelled, in the figure's unit.
    pub modelled: f64,
    /// Off by so much.
    pub deviation_percent: f64,
}

/// What is to be said of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within its bound.
    Met,
    /// Beyond its bound, for a reason that is known.
    KnownMiss,
    /// Said to be a miss, but within its bound: the table is out of date.
    NotMissed,
    /// Beyond its bound.
    Missed,
}

impl Judged {
    /// Takes `figure` from `outcomes`.
    ///
    /// # Errors
    /// There is no such outcome, or it has no such measure.
    pub fn new(figure: &Figure, outcomes: &[Outcome]) -> Result<Self, ValueError> {
        let modelled = value(figure, outcomes)?;
        Ok(Self {
            figure: figure.clone(),
            modelled,
            deviation_percent: figure.published.deviation_percent(modelled),
        })
    }

    pub fn within(&self, percent: f64) -> bool {
        self.deviation_percent.abs() <= percent
    }

    /// What is to be said of it.
    pub fn verdict(&self) -> Verdict {
        match (&self.figure.known_miss, self.within(self.figure.bound_percent)) {
            (None, true) => Verdict::Met,
            (None, false) => Verdict::Missed,
            (Some(_), true) => Verdict::NotMissed,
            (Some(_), false) => Verdict::KnownMiss,
        }
    }
}

#[cfg(test)]
mod tests;
