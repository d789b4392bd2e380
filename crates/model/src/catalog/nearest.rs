//! Which known name a misspelt one may mean.
//!
//! Data in: words. Data out: the nearest of them, or none where nothing is near. It must not know what they name.

use strsim::osa_distance;

/// How many letters may differ: nobody means `size` by `cache`.
fn limit(word: &str) -> usize {
    (word.chars().count() / 3).clamp(1, 4)
}

/// The nearest of `known` to `word`, if any is near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_ascii_lowercase();
    let known = known.into_iter();
    let ranked = known.map(|name| (osa_distance(&lower, &name.to_ascii_lowercase()), name));
    // Of equally near ones, that of the same length: a letter is mistaken more often than forgotten.
    ranked
        .filter(|&(distance, _)| distance <= limit(word) && distance < lower.chars().count())
        .min_by_key(|&(distance, name)| (distance, name.len().abs_diff(word.len())))
        .map(|(_, name)| name)
}

/// What belongs to the up to `count` nearest of `known` to `word`: those that begin with it, and after them the near
/// ones.
pub(super) fn ranked<'a>(
    word: &str,
    known: impl Iterator<Item = (&'a str, usize)> + Clone,
    count: usize,
) -> Vec<usize> {
    let begins = |name: &str| !word.is_empty() && name.starts_with(word);
    let mut places: Vec<usize> = known
        .clone()
        .filter(|(name, _)| begins(name))
        .map(|(_, place)| place)
        .collect();
    let mut near: Vec<(usize, usize)> = known
        .filter(|(name, _)| !begins(name))
        .map(|(name, place)| (osa_distance(word, name), place))
        .filter(|&(distance, _)| distance <= limit(word))
        .collect();
    near.sort_unstable();
    places.extend(near.into_iter().map(|(_, place)| place));
    places.truncate(count);
    places
}

#[cfg(test)]
mod tests;
