//! The option table as flags of `fathom run`.
//!
//! Data in: the table. Data out: clap's arguments, and what was typed of them as overrides. It must not know
//! what an option does.

use super::flags::is_switch;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use fathom_dialect::{Kind, OptionRow, Override, Support, table};
use std::ffi::OsStr;

/// The flags that the short help shows.
const COMMON: [&str; 16] = [
    "rw",
    "bs",
    "iodepth",
    "ioengine",
    "direct",
    "size",
    "runtime",
    "time_based",
    "ramp_time",
    "numjobs",
    "rwmixread",
    "rate_iops",
    "filename",
    "directory",
    "fsync",
    "group_reporting",
];

/// A word that the dialect will judge: it says more about what is not supported than a list of words could.
/// The list is for completions.
#[derive(Clone)]
struct Word(Vec<PossibleValue>);

impl TypedValueParser for Word {
    type Value = String;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let text = value.to_str().map(str::to_owned);
        text.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidUtf8))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        (!self.0.is_empty()).then(|| Box::new(self.0.iter().cloned()) as Box<_>)
    }
}

/// One flag for each row.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    table().iter().map(argument)
}

fn argument(row: &'static OptionRow) -> Arg {
    let kind = row.kind();
    let arg = Arg::new(row.name)
        .long(row.name)
        .help(help(row, &kind, WORDS_IN_SHORT))
        .long_help(help(row, &kind, usize::MAX))
        .help_heading(row.topic.heading())
        .action(ArgAction::Append)
        .value_name(value_name(&kind))
        .hide_short_help(!COMMON.contains(&row.name))
        .hide(row.support.is_refused())
        .hide_possible_values(true)
        .value_parser(Word(words(&kind)));
    if is_switch(row) {
        arg.num_args(0..=1)
            .require_equals(true)
            .default_missing_value("1")
    } else {
        arg.num_args(1).allow_hyphen_values(false)
    }
}

/// So many words of an option stand in the short help.
const WORDS_IN_SHORT: usize = 8;

/// Its line in the help: what it is, its words, its default, and how far it is carried out.
fn help(row: &OptionRow, kind: &Kind, words_max: usize) -> String {
    let mut text = row.help.to_owned();
    if let Kind::Choice(choices) = kind {
        let supported = choices.iter().filter(|choice| !choice.support.is_refused());
        let names: Vec<&str> = supported.map(|choice| choice.name).collect();
        let (shown, more) = match names.get(..words_max) {
            Some(first) if names.len() > words_max => (first, ", …"),
            _ => (names.as_slice(), ""),
        };
        text = format!("{text}: {}{more}", shown.join(", "));
    }
    let plainly_off = is_switch(row) && row.default == "0";
    if !row.default.is_empty() && !plainly_off {
        text = format!("{text} [default: {}]", row.default);
    }
    if !row.aliases.is_empty() {
        text = format!("{text} [also: {}]", row.aliases.join(", "));
    }
    match row.support {
        Support::NoEffect(_) => format!("{text} (accepted, no effect)"),
        Support::LeftOut(_) => format!("{text} (accepted, left out)"),
        _ => text,
    }
}

fn value_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Flag | Kind::Bool => "0|1",
        Kind::Number { .. } => "N",
        Kind::Size => "SIZE",
        Kind::Amount => "SIZE|%",
        Kind::PerDirection("percent") => "%[,%[,%]]",
        Kind::PerDirection(_) => "SIZE[,SIZE[,SIZE]]",
        Kind::Time(_) => "TIME",
        Kind::Choice(_) => "WORD",
        Kind::Text(_) => "TEXT",
    }
}

fn words(kind: &Kind) -> Vec<PossibleValue> {
    match kind {
        Kind::Choice(choices) => choices
            .iter()
            .map(|choice| PossibleValue::new(choice.name).hide(choice.support.is_refused()))
            .collect(),
        Kind::Flag | Kind::Bool => vec![PossibleValue::new("0"), PossibleValue::new("1")],
        _ => Vec::new(),
    }
}

/// The options that were typed, in the order typed: a later one of the same name wins.
pub(super) fn overrides(matches: &ArgMatches) -> Vec<Override> {
    overrides_but(matches, |_| false)
}

/// The same without the options that the command has no flags for.
pub(super) fn overrides_but(matches: &ArgMatches, without: impl Fn(&str) -> bool) -> Vec<Override> {
    let mut typed: Vec<(usize, Override)> = Vec::new();
    for row in table().iter().filter(|row| !without(row.name)) {
        let values = matches.get_many::<String>(row.name).unwrap_or_default();
        let places = matches.indices_of(row.name).unwrap_or_default();
        typed.extend(
            places
                .zip(values)
                .map(|(at, value)| (at, Override::new(row.name, value))),
        );
    }
    typed.sort_by_key(|&(at, _)| at);
    typed.into_iter().map(|(_, option)| option).collect()
}
