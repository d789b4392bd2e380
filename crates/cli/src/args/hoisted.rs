//! fathom's own flags among the words of another tool's command line: brought before them, where clap looks for them.
//!
//! Data in: words as typed, fathom's flags. Data out: the same words in another order. It must not know what they mean.

use super::flags::{self, OwnFlags};
use std::ffi::OsString;

/// The program, the command, fathom's own flags with their values, then all else as it was. What follows `--` stays there.
pub(super) fn to_the_front(words: &[OsString], own: &OwnFlags) -> Vec<OsString> {
    let Some((head, rest)) = words.split_at_checked(2) else {
        return words.to_vec();
    };
    let end = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
    let (words, behind) = rest.split_at(end);
    let (mut front, mut others) = (head.to_vec(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match takes_next(word, own) {
            None => others.push(word.clone()),
            Some(takes_next) => {
                front.push(word.clone());
                front.extend(words.by_ref().take(usize::from(takes_next)).cloned());
            }
        }
    }
    front.extend(others);
    front.extend_from_slice(behind);
    front
}

/// Whether a word of its own follows this flag; `None`: it is none of fathom's.
fn takes_next(word: &OsString, own: &OwnFlags) -> Option<bool> {
    let (name, value) = flags::split(word)?;
    own.get(&name).map(|&takes_value| takes_value && value.is_none())
}

#[cfg(test)]
mod tests;
