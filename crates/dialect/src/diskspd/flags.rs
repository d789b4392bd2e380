//! The table of diskspd's flags: one row a flag; parser, help, documentation and tests walk it.
//!
//! Data in: the literals of the topic modules. Data out: [`FlagRow`]s. It must not know in which order flags come, nor what
//! they mean together. The grammar of each is that of diskspd v2.2 (`CmdLineParser.cpp`).

mod load;
mod run;
mod targets;

pub(super) use run::NO_ETW;

use super::draft::Draft;
use super::value::{number, number_or};
use crate::diagnostic::Fault;
use crate::table::{Support, reads};

/// Reads the value that is glued to a flag.
pub(super) type Read = fn(&mut Draft, &str) -> Result<(), Fault>;

/// What the Linux port makes of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InLinuxPort {
    Same,
    /// It has no such flag.
    Missing,
    /// Something else, which the text says.
    Differs(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub struct FlagRow {
    /// Its letters, without the dash. Where one begins another, the longer one that fits is meant.
    pub flag: &'static str,
    /// What is glued to it; empty: nothing.
    pub value: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// How far it is carried out.
    pub support: Support,
    /// What the Linux port makes of it.
    pub linux: InLinuxPort,
    /// Whether it may stand beside `-X`.
    pub beside_profile: bool,
    /// A use of it, as a whole word.
    pub example: &'static str,
    /// The test that covers it.
    pub test: &'static str,
    /// Whether a text could be its value: a word that begins with a slash is a flag only if so.
    pub(super) fits: fn(&str) -> bool,
    pub(super) read: Read,
}

/// Switches the field at a path on.
macro_rules! switches {
    ($($path:ident).+) => {
        |draft, _| {
            draft.$($path).+ = true;
            Ok(())
        }
    };
}
use switches;

/// As C's `int`, which is what diskspd reads counts into.
const INT_MAX: u32 = i32::MAX as u32;

fn count(text: &str) -> Result<u32, Fault> {
    number(text, 1, INT_MAX)
}

/// Seconds, or how often; nothing at all stands for 0.
fn perhaps_count(text: &str) -> Result<u32, Fault> {
    number_or(text, 0, 0, INT_MAX)
}

impl FlagRow {
    const fn new(flag: &'static str, value: &'static str, read: Read, doc: &'static str) -> Self {
        Self {
            flag,
            value,
            default: "",
            doc,
            support: Support::Exact,
            linux: InLinuxPort::Same,
            beside_profile: false,
            example: "",
            test: "",
            fits: str::is_empty,
            read,
        }
    }
    /// A flag whose value is like a number.
    const fn number(flag: &'static str, value: &'static str, read: Read, doc: &'static str) -> Self {
        Self::new(flag, value, read, doc).fits(like_a_number)
    }
    const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }
    const fn support(mut self, support: Support) -> Self {
        self.support = support;
        self
    }
    const fn not_in_linux(mut self) -> Self {
        self.linux = InLinuxPort::Missing;
        self
    }
    const fn linux(mut self, differs: &'static str) -> Self {
        self.linux = InLinuxPort::Differs(differs);
        self
    }
    const fn beside_profile(mut self) -> Self {
        self.beside_profile = true;
        self
    }
    const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }
    const fn test(mut self, test: &'static str) -> Self {
        self.test = test;
        self
    }
    const fn fits(mut self, fits: fn(&str) -> bool) -> Self {
        self.fits = fits;
        self
    }
    /// The flag as it is written, with what is glued to it: `-b<size>`.
    pub fn spelling(&self) -> String {
        format!("-{}{}", self.flag, self.value)
    }
}

/// All flags, in the order of the alphabet within their topics.
pub fn flag_rows() -> impl Iterator<Item = &'static FlagRow> {
    targets::ROWS.iter().chain(load::ROWS).chain(run::ROWS)
}

/// The row of a word without its dash, and what is glued to it.
pub(super) fn find(word: &str) -> Option<(&'static FlagRow, &str)> {
    flag_rows()
        .filter_map(|row| Some((row, word.strip_prefix(row.flag)?)))
        .max_by_key(|(row, _)| row.flag.len())
}

/// Digits, and perhaps one letter of a unit.
fn like_a_number(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    text.len() <= digits.len() + 1 && digits.chars().all(|c| c.is_ascii_digit())
}
