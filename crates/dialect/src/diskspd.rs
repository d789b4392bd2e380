//! The dialect of diskspd: its command line and its XML profiles in, [`Profile`]s and workloads out.
//!
//! Duty: read what diskspd v2.2 and its Linux port read, say what is wrong or not carried out, print a profile as diskspd
//! does, and turn each time span into a [`Workload`](fathom_core::workload::Workload). Data in: words; through closures of
//! the caller the texts of profiles, the contents of files and what exists. Data out: plain data and diagnostics. It must
//! not know files or clocks.
//!
//! The stages, one module each: `flags` (the table of flags), `draft` (a profile while flags are applied), `command_line`
//! (words to a profile), `xml` (a profile's XML), `validate` (what excludes what), `print` (the way back), `lower`
//! (profiles to workloads), `results` (what came out, in diskspd's layout).

mod command_line;
mod draft;
mod flags;
mod lower;
mod print;
mod profile;
pub mod results;
mod validate;
mod value;
mod xml;

pub use command_line::parse;
pub use flags::{FlagRow, InLinuxPort, flag_rows};
pub use lower::{Lowered, LoweredProfile, Lowering, ReadBytes, RowSource, lower};
pub use print::{profile_as_text, profile_as_xml};
pub use profile::{
    Affinity, CacheMode, Distribution, FlushMode, LinuxEngine, Precreate, Profile, Range, ResultFormat,
    Target, ThreadTarget, Throughput, TimeSpan, WriteSource,
};

use crate::diagnostic::{Diagnostic, Severity};
use std::fmt;

/// Whose command line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// diskspd's, unless a flag has a form that only the Linux port knows.
    #[default]
    Auto,
    /// diskspd's, on Windows.
    Windows,
    /// The Linux port's (diskspd-for-linux). What only diskspd has is taken as well.
    Linux,
}

/// The size in bytes of the file or device of a name; `None`: there is none.
pub type Look<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// The text of a file; the error is a text for people.
pub type ReadText<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// What a command line may ask about its surroundings.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Whose command line it is.
    pub dialect: Dialect,
    /// Whether a word that begins with a slash is a path.
    pub look: Look<'a>,
    /// Reads the profile that `-X` names. The caller may refuse files larger than [`PROFILE_BYTES_MAX`] without reading them.
    pub read_profile: ReadText<'a>,
    /// The seed of a bare `-z`: another one each time.
    pub seed: u32,
}

/// The largest XML profile, in bytes.
pub const PROFILE_BYTES_MAX: usize = 1 << 20;

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("dialect", &self.dialect)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// What a command line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedProfile {
    /// The profile, or `None` where there is an error or help is asked for.
    pub profile: Option<Profile>,
    /// `-?` was given.
    pub help: bool,
    /// Errors, warnings and notes, in the order found.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedProfile {
    /// The errors among the diagnostics; not empty exactly if there is neither a profile nor a call for help.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error)
    }
}

#[cfg(test)]
mod tests;
