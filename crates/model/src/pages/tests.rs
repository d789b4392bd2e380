use super::{CHUNK_PAGES, PAGE_BYTES, Pages};
use crate::testing::seed;
use fathom_core::rng::Rng;
use std::collections::BTreeSet;

/// The same with sets.
#[derive(Default)]
struct Sets {
    cached: BTreeSet<u64>,
    dirty: BTreeSet<u64>,
}

impl Sets {
    fn mark(&mut self, offset: u64, len: u64, dirty: bool) {
        for page in (0..)
            .map(|step| offset / PAGE_BYTES + step)
            .take_while(|page| page * PAGE_BYTES < offset + len)
        {
            self.cached.insert(page);
            if dirty {
                self.dirty.insert(page);
            }
        }
    }

    fn missing(&self, offset: u64, len: u64) -> Option<(u64, u64)> {
        let pages = offset / PAGE_BYTES..=(offset + len - 1) / PAGE_BYTES;
        let absent: Vec<u64> = pages.filter(|page| !self.cached.contains(page)).collect();
        let (first, last) = (*absent.first()?, *absent.last()?);
        Some((first * PAGE_BYTES, (last - first + 1) * PAGE_BYTES))
    }

    /// A run ends with its chunk.
    fn take_run(&mut self, from: u64, most: u32) -> Option<(u64, u32)> {
        let first = *self.dirty.range(from..).next()?;
        let mut count = 0;
        while count < most
            && (first + u64::from(count)) / CHUNK_PAGES == first / CHUNK_PAGES
            && self.dirty.remove(&(first + u64::from(count)))
        {
            count += 1;
        }
        Some((first, count))
    }
}

/// A range near the border of a chunk, or anywhere in the first three.
fn range(rng: &mut Rng) -> (u64, u64) {
    let border = (1 + rng.below(2)) * CHUNK_PAGES * PAGE_BYTES;
    let offset = match rng.below(3) {
        0 => border - rng.below(64 * PAGE_BYTES),
        1 => border + rng.below(64 * PAGE_BYTES),
        _ => rng.below(3 * CHUNK_PAGES * PAGE_BYTES),
    };
    let longest = PAGE_BYTES << rng.below(8);
    (offset, 1 + rng.below(longest))
}

#[test]
fn agree_with_sets() {
    let seed = seed();
    for case in 0..20 {
        let mut rng = Rng::stream(seed, case);
        let (mut pages, mut sets) = (Pages::default(), Sets::default());
        for _ in 0..2000 {
            let (offset, len) = range(&mut rng);
            match rng.below(10) {
                0..3 => {
                    pages.mark(offset, len, true);
                    sets.mark(offset, len, true);
                }
                3..5 => {
                    pages.mark(offset, len, false);
                    sets.mark(offset, len, false);
                }
                5..9 => {
                    let (from, most) = (offset / PAGE_BYTES, 1 + rng.below(100) as u32);
                    assert_eq!(
                        pages.take_run(from, most),
                        sets.take_run(from, most),
                        "seed {seed}, case {case}"
                    );
                }
                _ => assert_eq!(
                    pages.missing(offset, len),
                    sets.missing(offset, len),
                    "seed {seed}, case {case}"
                ),
            }
            let counts = (pages.dirty(), pages.cached());
            let expected = (sets.dirty.len() as u64, sets.cached.len() as u64);
            assert_eq!(counts, expected, "seed {seed}, case {case}");
        }
        // Taken one after the other, all dirty pages come, once.
        let mut from = 0;
        while let Some((page, count)) = pages.take_run(from, 1000) {
            assert_eq!(sets.take_run(from, 1000), Some((page, count)));
            from = page + u64::from(count);
        }
        assert_eq!((pages.dirty(), sets.dirty.len()), (0, 0));
    }
}

#[test]
fn forgetting_keeps_what_is_dirty() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    let (mut pages, mut sets) = (Pages::default(), Sets::default());
    for turn in 0..300 {
        let (offset, len) = range(&mut rng);
        pages.mark(offset, len, turn % 3 == 0);
        sets.mark(offset, len, turn % 3 == 0);
    }
    let (all, dirty) = (pages.cached(), pages.dirty());
    pages.shrink(all);
    assert_eq!(pages.cached(), all, "there is room");
    pages.shrink(all - 1);
    assert!(pages.cached() < all && pages.cached() >= dirty);
    pages.shrink(0);
    assert_eq!((pages.cached(), pages.dirty()), (dirty, dirty), "seed {seed}");
    for page in 0..3 * CHUNK_PAGES {
        let missing = pages.missing(page * PAGE_BYTES, PAGE_BYTES).is_some();
        assert_eq!(missing, !sets.dirty.contains(&page), "seed {seed}, page {page}");
    }
}

#[test]
fn a_run_ends_with_its_chunk_and_goes_on_in_the_next() {
    let mut pages = Pages::default();
    let start = CHUNK_PAGES - 2;
    pages.mark(start * PAGE_BYTES, 5 * PAGE_BYTES, true);
    assert_eq!(pages.take_run(0, 100), Some((start, 2)));
    assert_eq!(pages.take_run(CHUNK_PAGES, 100), Some((CHUNK_PAGES, 3)));
    assert_eq!(pages.take_run(0, 100), None);
    assert_eq!(pages.take_run(100 * CHUNK_PAGES, 100), None, "beyond what exists");
}
