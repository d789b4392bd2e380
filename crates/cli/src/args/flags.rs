//! The pass over the words of the command line before clap sees them.
//!
//! Data in: words as typed. Data out: words in which each flag of the option table has its canonical name and
//! its value joined to it. fio's users write `--blocksize=4k`, `--block-size 4k`, `--direct 1`, `--direct` and
//! `--offset -4k`; clap alone would take the file name after a bare `--time_based` for its value, and `-4k` for a
//! flag. Flags that nobody knows end here, in the dialect's words. It must not know what the values mean.

use fathom_dialect::{Diagnostic, Kind, OptionRow, find, find_exact, unknown_flag};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The flags that are not in the option table: name, and whether a value follows.
pub(crate) type OwnFlags = BTreeMap<String, bool>;

/// Whether a bare name of this option means 1.
pub(crate) fn is_switch(row: &OptionRow) -> bool {
    matches!(row.kind(), Kind::Flag | Kind::Bool)
}

/// Rewrites the words that follow `run`. `--` and what is behind it stay as they are.
///
/// # Errors
/// A diagnostic for each flag that is neither in the table nor one of `own`.
pub(crate) fn canonical(words: &[OsString], own: &OwnFlags) -> Result<Vec<OsString>, Vec<Diagnostic>> {
    let mut result = Vec::with_capacity(words.len());
    let mut unknown = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if words[at] == "--" {
            result.extend_from_slice(&words[at..]);
            break;
        }
        match one(&words[at..], own) {
            Ok((word, used)) => {
                result.extend(word);
                at += used;
            }
            Err(diagnostic) => {
                unknown.push(diagnostic);
                at += 1;
            }
        }
    }
    if unknown.is_empty() {
        Ok(result)
    } else {
        Err(unknown)
    }
}

/// The first word, with its value where it takes one; and how many words that used up.
fn one(words: &[OsString], own: &OwnFlags) -> Result<(Vec<OsString>, usize), Diagnostic> {
    let as_it_is = |used: usize| Ok((words[..used].to_vec(), used));
    let Some((name, value)) = split(&words[0]) else {
        return as_it_is(1);
    };
    if let Some(&takes_value) = own.get(&name) {
        let used = if takes_value && value.is_none() { 2 } else { 1 };
        return as_it_is(used.min(words.len()));
    }
    let Some(row) = row_of(&name) else {
        let others: Vec<&str> = own.keys().map(String::as_str).collect();
        return Err(unknown_flag(&name, &others));
    };
    let joined = |value: &OsStr, used| {
        let mut word = OsString::from(format!("--{}=", row.name));
        word.push(value);
        (vec![word], used)
    };
    Ok(match (value, words.get(1)) {
        (Some(value), _) => joined(&value, 1),
        (None, Some(next)) if is_switch(row) && (next == "0" || next == "1") => joined(next, 2),
        (None, _) if is_switch(row) => joined(OsStr::new("1"), 1),
        (None, Some(next)) if !is_flag(next, own) => joined(next, 2),
        // No value: clap says so.
        (None, _) => (vec![OsString::from(format!("--{}", row.name))], 1),
    })
}

/// `--name` or `--name=value`; `None` for any other word.
pub(crate) fn split(word: &OsStr) -> Option<(String, Option<OsString>)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = word.as_bytes().strip_prefix(b"--")?;
    let (name, value) = match bytes.iter().position(|&b| b == b'=') {
        Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
        None => (bytes, None),
    };
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    Some((name.to_owned(), value))
}

/// The row that a flag means: by name, alias or unique beginning, dashes for underscores.
fn row_of(name: &str) -> Option<&'static OptionRow> {
    let plain = name.replace('-', "_");
    find_exact(name)
        .or_else(|| find_exact(&plain))
        .or_else(|| find(&plain))
}

/// Whether a word is a known flag, and so not the value of the one before.
fn is_flag(word: &OsStr, own: &OwnFlags) -> bool {
    split(word).is_some_and(|(name, _)| own.contains_key(&name) || row_of(&name).is_some())
}

#[cfg(test)]
mod tests;
