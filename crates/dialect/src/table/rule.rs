//! How an option's value is read, where it goes, and how it is shown again: the rule of a row.
//!
//! Data in: the value's text and the draft. Data out: a changed draft, or a fault; or the text of what a draft holds. It must
//! not know the row that it belongs to.

use super::distance;
use super::row::{ChoiceRow, Kind, Support};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value;
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, PerOp};
use std::fmt::Display;

/// What a setter returns that can refuse.
pub(super) type Set = Result<(), Fault>;

/// Words that an option may have as its value, all with one meaning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    /// With bars between them.
    names: &'static str,
    support: Support,
    set: fn(&mut Draft),
}

impl Choice {
    /// Words that are carried out exactly.
    pub(super) const fn new(names: &'static str, set: fn(&mut Draft)) -> Self {
        Self::but(names, Support::Exact, set)
    }
    /// Words that are not, or in another way.
    pub(super) const fn but(names: &'static str, support: Support, set: fn(&mut Draft)) -> Self {
        Self { names, support, set }
    }
    /// Words without consequences.
    pub(super) const fn nothing(names: &'static str, support: Support) -> Self {
        Self::but(names, support, |_| {})
    }
}

/// Where a value goes, and where it is found again to be shown; `None`: there is nothing to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<T> {
    pub(super) set: fn(&mut Draft, T),
    pub(super) get: fn(&Draft) -> Option<T>,
}

impl<T> Field<T> {
    /// Another way to set what another option shows.
    pub(super) const fn only(set: fn(&mut Draft, T)) -> Self {
        Self { set, get: |_| None }
    }
    /// Nothing is done with the value.
    pub(super) const fn ignored() -> Self {
        Self::only(|_, _| {})
    }
}

/// The [`Field`] of a draft at a path; `as` a narrower number than the value's; `some`: there may be none.
macro_rules! field {
    (some $($path:ident).+) => {
        $crate::table::rule::Field { set: |d, value| d.$($path).+ = Some(value), get: |d| d.$($path).+ }
    };
    ($($path:ident).+ as $narrow:ty) => {
        $crate::table::rule::Field {
            set: |d, value| d.$($path).+ = value as $narrow,
            get: |d| Some(d.$($path).+.into()),
        }
    };
    ($($path:ident).+) => {
        $crate::table::rule::Field { set: |d, value| d.$($path).+ = value, get: |d| Some(d.$($path).+) }
    };
}
pub(super) use field;

/// A setter that keeps at a path what a reader of texts makes of one.
macro_rules! reads {
    ($($path:ident).+, $read:expr) => {
        |d, text| {
            d.$($path).+ = $read(text)?;
            Ok(())
        }
    };
}
pub(crate) use reads;

/// What shows a value of a shape of its own.
pub(super) type Show = fn(&Draft) -> Option<String>;

/// How a value is read and shown, with the place where it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// See [`Kind::Flag`].
    Flag(Field<bool>),
    /// See [`Kind::Bool`].
    Bool(Field<bool>),
    /// See [`Kind::Number`].
    Number(i64, i64, Field<i64>),
    /// A size of at least the first number, at most the second.
    Size(u64, u64, Field<u64>),
    /// See [`Kind::Amount`].
    Amount(Field<Amount>),
    /// A size of at least so many bytes for each direction.
    Sizes(u64, Field<PerOp<Option<u64>>>),
    /// A percentage for each direction.
    Percents(Field<PerOp<Option<u64>>>),
    /// See [`Kind::Time`].
    Time(value::TimeUnit, Field<Nanos>),
    /// One of a few words.
    Choice(&'static [Choice]),
    /// A text of its own shape that holds sizes.
    SizeText(&'static str, fn(&mut Draft, &str) -> Set, Show),
    /// A text of its own shape, which the setter reads.
    Text(&'static str, fn(&mut Draft, &str) -> Set, Show),
    /// The same where a job file may leave the text out, which is then empty.
    OptionalText(&'static str, fn(&mut Draft, &str) -> Set, Show),
}

/// The largest size that most fields of 32 bits hold.
pub(super) const MAX_U32: u64 = 0xffff_ffff;
/// The largest count that fields of 32 bits hold.
pub(super) const MAX_COUNT: i64 = 0xffff_ffff;

impl Rule {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Flag(_) => Kind::Flag,
            Self::Bool(_) => Kind::Bool,
            Self::Number(min, max, _) => Kind::Number { min: *min, max: *max },
            Self::Size(..) => Kind::Size,
            Self::Amount(_) => Kind::Amount,
            Self::Sizes(..) => Kind::PerDirection("size"),
            Self::Percents(_) => Kind::PerDirection("percent"),
            Self::Time(unit, _) => Kind::Time(unit.name()),
            Self::Choice(choices) => Kind::Choice(
                choices
                    .iter()
                    .flat_map(|choice| choice.names.split('|').map(|name| (name, choice.support)))
                    .map(|(name, support)| ChoiceRow { name, support })
                    .collect(),
            ),
            Self::SizeText(shape, ..) | Self::Text(shape, ..) | Self::OptionalText(shape, ..) => {
                Kind::Text(shape)
            }
        }
    }

    /// What a name without a value means; `None`: it needs one.
    pub(crate) const fn bare(&self) -> Option<&'static str> {
        match self {
            Self::Flag(_) | Self::Bool(_) => Some("1"),
            Self::OptionalText(..) => Some(""),
            _ => None,
        }
    }

    /// Whether the value holds sizes, whose units may not be what they seem.
    pub(crate) const fn holds_sizes(&self) -> bool {
        matches!(
            self,
            Self::Size(..) | Self::Sizes(..) | Self::Amount(_) | Self::SizeText(..)
        )
    }

    /// Reads `text` and applies it. Returns the support of the chosen word where it has its own.
    pub(crate) fn apply(&self, draft: &mut Draft, text: &str) -> Result<Support, Fault> {
        let kb_base = draft.kb_base;
        match *self {
            Self::Flag(field) | Self::Bool(field) => (field.set)(draft, boolean(text)?),
            Self::Number(min, max, field) => {
                (field.set)(draft, within(value::number(text, kb_base)?, min, max)?);
            }
            Self::Size(min, max, field) => (field.set)(draft, within(value::size(text, kb_base)?, min, max)?),
            Self::Amount(field) => (field.set)(draft, value::amount(text, kb_base)?),
            Self::Sizes(min, field) => {
                let size = |field: &str| within(value::size(field, kb_base)?, min, MAX_U32);
                (field.set)(draft, value::per_direction(text, size)?);
            }
            Self::Percents(field) => {
                let percent = |field: &str| within(value::number(field, kb_base)?, 0, 100).map(|p| p as u64);
                (field.set)(draft, value::per_direction(text, percent)?);
            }
            Self::Time(bare, field) => (field.set)(draft, value::time(text, bare)?),
            Self::Choice(choices) => return choose(choices, draft, text),
            Self::SizeText(_, set, _) | Self::Text(_, set, _) | Self::OptionalText(_, set, _) => {
                set(draft, text)?;
            }
        }
        Ok(Support::Exact)
    }

    /// The value as a job file would have it.
    pub(crate) fn show(&self, draft: &Draft) -> Option<String> {
        match self {
            Self::Flag(field) | Self::Bool(field) => {
                (field.get)(draft).map(|on| String::from(if on { "1" } else { "0" }))
            }
            Self::Number(_, _, field) => (field.get)(draft).map(|number| number.to_string()),
            Self::Size(_, _, field) => (field.get)(draft).map(value::show_size),
            Self::Amount(field) => (field.get)(draft).map(value::show_amount),
            Self::Sizes(_, field) => {
                value::show_per_direction((field.get)(draft)?.map(|size| size.map(value::show_size)))
            }
            Self::Percents(field) => {
                value::show_per_direction((field.get)(draft)?.map(|percent| Some(percent?.to_string())))
            }
            Self::Time(_, field) => (field.get)(draft).map(value::show_time),
            Self::Choice(choices) => chosen(choices, draft).map(str::to_owned),
            Self::SizeText(_, _, show) | Self::Text(_, _, show) | Self::OptionalText(_, _, show) => {
                show(draft)
            }
        }
    }
}

fn boolean(text: &str) -> Result<bool, Fault> {
    match text.trim() {
        "0" => Ok(false),
        "1" => Ok(true),
        other => Err(Fault::new(format!("`{other}` is neither 0 nor 1")).remedy("write 1 for yes, 0 for no")),
    }
}

fn within<T: PartialOrd + Display + Copy>(value: T, min: T, max: T) -> Result<T, Fault> {
    if value < min {
        return Err(Fault::new(format!("{value} is less than {min}")));
    }
    if value > max {
        return Err(Fault::new(format!("{value} is more than {max}")));
    }
    Ok(value)
}

fn choose(choices: &[Choice], draft: &mut Draft, text: &str) -> Result<Support, Fault> {
    let text = text.trim();
    let Some(choice) = choices
        .iter()
        .find(|choice| choice.names.split('|').any(|name| name == text))
    else {
        let names: Vec<&str> = choices
            .iter()
            .flat_map(|choice| choice.names.split('|'))
            .collect();
        let near = names.iter().map(|name| (distance(text, name), name)).min();
        return Err(
            Fault::new(format!("`{text}` is not one of its values")).remedy(match near {
                Some((distance, name)) if distance <= 2 && distance < text.len() => {
                    format!("did you mean `{name}`?")
                }
                _ => format!("write one of {}", names.join(", ")),
            }),
        );
    };
    (choice.set)(draft);
    Ok(choice.support)
}

/// The word that holds: the first one that changes nothing.
fn chosen(choices: &[Choice], draft: &Draft) -> Option<&'static str> {
    let holds = |choice: &&Choice| {
        let mut chosen = draft.clone();
        (choice.set)(&mut chosen);
        chosen == *draft
    };
    choices.iter().find(holds)?.names.split('|').next()
}
