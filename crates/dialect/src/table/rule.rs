//! How an option's value is read and where it goes: the rule of a row.
//!
//! Data in: the value's text and the draft. Data out: a changed draft, or a fault. It must not know the row
//! that it belongs to.

use super::distance;
use super::row::{ChoiceRow, Kind, Support};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value;
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, PerOp};

/// What a setter returns that can refuse.
pub(super) type Set = Result<(), Fault>;

/// A word that an option may have as its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    name: &'static str,
    support: Support,
    set: fn(&mut Draft),
}

impl Choice {
    /// A word that is carried out exactly.
    pub(super) const fn new(name: &'static str, set: fn(&mut Draft)) -> Self {
        Self {
            name,
            support: Support::Exact,
            set,
        }
    }
    /// A word that is not, or in another way.
    pub(super) const fn but(name: &'static str, support: Support, set: fn(&mut Draft)) -> Self {
        Self { name, support, set }
    }
    /// A word without consequences.
    pub(super) const fn nothing(name: &'static str) -> Self {
        Self::new(name, |_| {})
    }
}

/// How a value is read, with the setter that takes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// See [`Kind::Flag`].
    Flag(fn(&mut Draft, bool)),
    /// See [`Kind::Bool`].
    Bool(fn(&mut Draft, bool)),
    /// See [`Kind::Number`].
    Number(i64, i64, fn(&mut Draft, i64)),
    /// A size of at least the first number, at most the second.
    Size(u64, u64, fn(&mut Draft, u64)),
    /// See [`Kind::Amount`].
    Amount(fn(&mut Draft, Amount)),
    /// A size of at least so many bytes for each direction.
    Sizes(u64, fn(&mut Draft, PerOp<Option<u64>>)),
    /// A percentage for each direction.
    Percents(fn(&mut Draft, PerOp<Option<u64>>)),
    /// See [`Kind::Time`].
    Time(value::TimeUnit, fn(&mut Draft, Nanos)),
    /// One of a few words.
    Choice(&'static [Choice]),
    /// A text of its own shape that holds sizes.
    SizeText(&'static str, fn(&mut Draft, &str) -> Set),
    /// A text of its own shape, which the setter reads.
    Text(&'static str, fn(&mut Draft, &str) -> Set),
}

/// The largest size that most fields of 32 bits hold.
pub(super) const MAX_U32: u64 = 0xffff_ffff;
/// The largest count that fields of 32 bits hold.
pub(super) const MAX_COUNT: i64 = 0xffff_ffff;

impl Rule {
    /// A text that nothing is done with.
    pub(super) const fn ignored_text(shape: &'static str) -> Self {
        Self::Text(shape, |_, _| Ok(()))
    }
    /// A boolean that nothing is done with.
    pub(super) const fn ignored_bool() -> Self {
        Self::Bool(|_, _| {})
    }
    /// A number of at least 0 that nothing is done with.
    pub(super) const fn ignored_number() -> Self {
        Self::Number(0, i64::MAX, |_, _| {})
    }
    /// A time that nothing is done with.
    pub(super) const fn ignored_time(bare: value::TimeUnit) -> Self {
        Self::Time(bare, |_, _| {})
    }

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
                    .map(|c| ChoiceRow {
                        name: c.name,
                        support: c.support,
                    })
                    .collect(),
            ),
            Self::SizeText(shape, _) | Self::Text(shape, _) => Kind::Text(shape),
        }
    }

    /// Whether a bare name means 1.
    pub(crate) const fn may_be_bare(&self) -> bool {
        matches!(self, Self::Flag(_) | Self::Bool(_))
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
            Self::Flag(set) | Self::Bool(set) => set(draft, boolean(text)?),
            Self::Number(min, max, set) => set(draft, bounded(text, kb_base, min, max)?),
            Self::Size(min, max, set) => set(draft, bounded_size(text, kb_base, min, max)?),
            Self::Amount(set) => set(draft, value::amount(text, kb_base)?),
            Self::Sizes(min, set) => {
                let sizes = value::per_direction(text, |field| bounded_size(field, kb_base, min, MAX_U32))?;
                set(draft, sizes);
            }
            Self::Percents(set) => {
                let percent = |field: &str| bounded(field, kb_base, 0, 100).map(|p| p as u64);
                set(draft, value::per_direction(text, percent)?);
            }
            Self::Time(bare, set) => set(draft, value::time(text, bare)?),
            Self::Choice(choices) => return choose(choices, draft, text),
            Self::SizeText(_, set) | Self::Text(_, set) => set(draft, text)?,
        }
        Ok(Support::Exact)
    }
}

fn boolean(text: &str) -> Result<bool, Fault> {
    match text.trim() {
        "0" => Ok(false),
        "1" => Ok(true),
        other => Err(Fault::new(format!("`{other}` is neither 0 nor 1")).remedy("write 1 for yes, 0 for no")),
    }
}

fn bounded(text: &str, kb_base: u64, min: i64, max: i64) -> Result<i64, Fault> {
    let value = value::number(text, kb_base)?;
    if value < min {
        return Err(Fault::new(format!("{value} is less than {min}")));
    }
    if value > max {
        return Err(Fault::new(format!("{value} is more than {max}")));
    }
    Ok(value)
}

fn bounded_size(text: &str, kb_base: u64, min: u64, max: u64) -> Result<u64, Fault> {
    let bytes = value::size(text, kb_base)?;
    if bytes < min {
        return Err(Fault::new(format!("{bytes} is less than {min}")));
    }
    if bytes > max {
        return Err(Fault::new(format!("{bytes} is more than {max}")));
    }
    Ok(bytes)
}

fn choose(choices: &[Choice], draft: &mut Draft, text: &str) -> Result<Support, Fault> {
    let text = text.trim();
    let Some(choice) = choices.iter().find(|choice| choice.name == text) else {
        let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
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
