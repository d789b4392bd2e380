//! One row of the table, and the words that describe it.
//!
//! Data in: the literals of the topic modules. Data out: what help and parser read. It must not know the
//! draft of a job beyond passing its rule on.

use super::rule::{Rule, Show};
use crate::draft::Draft;
use std::fmt;

/// What part of a job an option belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Name, workers, processors, order of jobs.
    Identity,
    /// How long, and when.
    Time,
    /// Files and directories.
    Files,
    /// Directions and offsets.
    Pattern,
    /// Block sizes, sizes, amounts.
    Sizes,
    /// What is written, and durability.
    Buffers,
    /// Interface and depth.
    Engine,
    /// Rates and pauses.
    Pace,
    /// Verification.
    Verify,
    /// Errors, and what ends a run.
    Errors,
    Reporting,
    /// Traces.
    Replay,
    /// Zoned devices.
    Zones,
}

impl Topic {
    /// A heading for help and documentation.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Identity => "Jobs and workers",
            Self::Time => "Time",
            Self::Files => "Files",
            Self::Pattern => "Access pattern",
            Self::Sizes => "Sizes",
            Self::Buffers => "Buffers and durability",
            Self::Engine => "Interface and depth",
            Self::Pace => "Rates and pauses",
            Self::Verify => "Verification",
            Self::Errors => "Errors and ends",
            Self::Reporting => "Reporting",
            Self::Replay => "Traces",
            Self::Zones => "Zoned devices",
        }
    }
}

/// How far an option is carried out. The texts are sentences without a full stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// As fio does.
    Exact,
    /// Accepted and carried out in another way; a note says which.
    Approximate(&'static str),
    /// Accepted; it changes neither the I/O nor the results, for the reason given. A note says so.
    NoEffect(&'static str),
    /// Accepted, but what it asks for is not done, for the reason given. A warning says so.
    LeftOut(&'static str),
    /// Refused for now, since the I/O would be another; with what to do instead.
    NotYet(&'static str),
    /// Refused for good, with the reason.
    Never(&'static str),
}

impl Support {
    /// A word for tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Approximate(_) => "approximate",
            Self::NoEffect(_) => "no effect",
            Self::LeftOut(_) => "left out",
            Self::NotYet(_) => "not yet",
            Self::Never(_) => "never",
        }
    }
    /// The reason or remedy; `None` for [`Support::Exact`].
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::Approximate(why)
            | Self::NoEffect(why)
            | Self::LeftOut(why)
            | Self::NotYet(why)
            | Self::Never(why) => Some(why),
        }
    }
    /// Whether using it is an error.
    pub const fn is_refused(self) -> bool {
        matches!(self, Self::NotYet(_) | Self::Never(_))
    }
}

/// One value of an option that takes one of a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceRow {
    /// The word.
    pub name: &'static str,
    /// How far it is carried out.
    pub support: Support,
}

/// The kind of an option's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, or 0 or 1: a bare name switches it on, and the value never is the next word.
    Flag,
    /// 0 or 1; a bare name in a job file means 1.
    Bool,
    /// A whole number between two, both included.
    Number {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A size in bytes.
    Size,
    /// A size in bytes or a percentage.
    Amount,
    /// One to three values for reads, writes, trims; what they are.
    PerDirection(&'static str),
    /// A time; the unit of a bare number.
    Time(&'static str),
    /// One of a few words.
    Choice(Vec<ChoiceRow>),
    /// Anything else; what it looks like.
    Text(&'static str),
}

impl fmt::Display for Kind {
    /// For help: what to write after the equals sign.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("no value, or 0|1"),
            Self::Bool => f.write_str("0|1"),
            Self::Number { min, max: i64::MAX } => write!(f, "number, at least {min}"),
            Self::Number { min, max } => write!(f, "number, {min} to {max}"),
            Self::Size => f.write_str("size"),
            Self::Amount => f.write_str("size or percentage"),
            Self::PerDirection(what) => write!(f, "{what}[,{what}[,{what}]] (reads, writes, trims)"),
            Self::Time(unit) => write!(f, "time (bare: {unit})"),
            Self::Choice(choices) => {
                for (i, choice) in choices.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { "|" }, choice.name)?;
                }
                Ok(())
            }
            Self::Text(shape) => f.write_str(shape),
        }
    }
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct OptionRow {
    /// The name in documentation and in printed job files.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What part of a job it belongs to.
    pub topic: Topic,
    /// The value it has when it is not given; empty: none.
    pub default: &'static str,
    /// One line about it.
    pub help: &'static str,
    /// A value that parses; empty for a flag.
    pub example: &'static str,
    /// How far it is carried out.
    pub support: Support,
    /// The interfaces (`ioengine`) that have it; empty: all.
    pub engines: &'static [&'static str],
    pub(crate) rule: Rule,
    /// What is shown where that is not the rule's.
    shown: Option<Show>,
    /// The row that it stands behind in a printed job, where that is not the order of the table; empty: it is.
    pub(crate) shown_behind: &'static str,
    /// Printed even with its default.
    pub(crate) always_shown: bool,
}

impl OptionRow {
    /// A row that is exact, without default, aliases or example.
    pub(super) const fn new(name: &'static str, rule: Rule, help: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            topic: Topic::Identity,
            default: "",
            help,
            example: "",
            support: Support::Exact,
            engines: &[],
            rule,
            shown: None,
            shown_behind: "",
            always_shown: false,
        }
    }
    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
    pub(super) const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }
    pub(super) const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }
    pub(super) const fn support(mut self, support: Support) -> Self {
        self.support = support;
        self
    }
    pub(super) const fn only_for(mut self, engines: &'static [&'static str]) -> Self {
        self.engines = engines;
        self
    }
    pub(super) const fn shown(mut self, show: Show) -> Self {
        self.shown = Some(show);
        self
    }
    pub(super) const fn shown_behind(mut self, other: &'static str) -> Self {
        self.shown_behind = other;
        self
    }
    pub(super) const fn always_shown(mut self) -> Self {
        self.always_shown = true;
        self
    }
    /// The row in its place in the table. What a switch, a number or a word has as its default is read off a job without
    /// options.
    pub(super) fn under(mut self, topic: Topic, plain: &Draft) -> Self {
        self.topic = topic;
        let counts = matches!(
            self.rule,
            Rule::Flag(_) | Rule::Bool(_) | Rule::Number(..) | Rule::Choice(_)
        );
        if counts && self.support == Support::Exact && self.default.is_empty() {
            self.default = self.show(plain).map_or("", |default| default.leak());
        }
        if matches!(self.rule, Rule::Bool(_)) && self.example.is_empty() {
            self.example = if self.default == "1" { "0" } else { "1" };
        }
        self
    }

    /// Its value in a job file; `None`: it says nothing of the job.
    pub(crate) fn show(&self, draft: &Draft) -> Option<String> {
        self.shown
            .map_or_else(|| self.rule.show(draft), |show| show(draft))
    }

    /// What its value looks like.
    pub fn kind(&self) -> Kind {
        self.rule.kind()
    }
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
    /// Whether it has this name or alias.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
    /// Whether `text` is its default, so that giving it changes nothing.
    pub(crate) fn is_default(&self, text: &str) -> bool {
        let text = text.trim();
        text == self.default || (text == "0" && matches!(self.default, "none" | ""))
    }
}
