//! Options that are read and checked, and not carried out: a row says no more of them than what they are, and why not.
//!
//! Data in: literals. Data out: rows whose rules keep nothing. It must not know what would be kept.

use super::rule::{Field, Rule};
use crate::value::TimeUnit;

/// Rows of `name | alias for INTERFACES, rule, default, example, help => support;`.
macro_rules! not_carried_out {
    ($(
        $name:literal $(| $alias:literal)* $(for $engines:expr)?,
        $rule:expr, $default:literal, $example:literal, $help:literal => $support:expr;
    )*) => {
        &[$(
            Row::new($name, $rule, $help)
                .aliases(&[$($alias),*])
                $(.only_for($engines))?
                .default($default)
                .example($example)
                .support($support),
        )*]
    };
}
pub(super) use not_carried_out;

/// One of a few words, with bars between them.
macro_rules! words {
    ($names:literal) => {
        $crate::table::rule::Rule::Choice(&[$crate::table::rule::Choice::nothing(
            $names,
            $crate::table::Support::Exact,
        )])
    };
}
pub(super) use words;

pub(super) const FLAG: Rule = Rule::Flag(Field::ignored());
pub(super) const BOOL: Rule = Rule::Bool(Field::ignored());
pub(super) const NUMBER: Rule = number(0, i64::MAX);
pub(super) const SIZE: Rule = size(0, u64::MAX);

pub(super) const fn number(min: i64, max: i64) -> Rule {
    Rule::Number(min, max, Field::ignored())
}
pub(super) const fn size(min: u64, max: u64) -> Rule {
    Rule::Size(min, max, Field::ignored())
}
pub(super) const fn time(bare: TimeUnit) -> Rule {
    Rule::Time(bare, Field::ignored())
}
pub(super) const fn text(shape: &'static str) -> Rule {
    Rule::Text(shape, |_, _| Ok(()), |_| None)
}
