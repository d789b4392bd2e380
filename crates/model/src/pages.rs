//! Which pages the guest holds, and which of them are dirty: two bitmaps in chunks that exist where they are used.
//!
//! Data in: ranges of bytes. Data out: how many pages changed; runs of dirty pages from a place on. It must not know
//! when or why anything is written.

pub(crate) const PAGE_BYTES: u64 = 4096;
/// Words of a chunk's bitmaps.
const WORDS: usize = 512;
/// Pages of a chunk: 128 MiB.
const CHUNK_PAGES: u64 = WORDS as u64 * 64;

#[derive(Debug, Clone)]
struct Chunk {
    cached: [u64; WORDS],
    dirty: [u64; WORDS],
    dirty_pages: u32,
    cached_pages: u32,
}

/// The pages of a volume.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    chunks: Vec<Option<Box<Chunk>>>,
    cached: u64,
    dirty: u64,
    /// Where forgetting goes on.
    hand: usize,
}

/// The pages that a range of bytes touches.
fn pages_of(offset: u64, len: u64) -> std::ops::Range<u64> {
    offset / PAGE_BYTES..(offset + len).div_ceil(PAGE_BYTES)
}

impl Pages {
    /// Pages that are dirty.
    pub(crate) fn dirty(&self) -> u64 {
        self.dirty
    }
    /// Pages that are held, dirty ones included.
    #[cfg(test)]
    pub(crate) fn cached(&self) -> u64 {
        self.cached
    }

    fn chunk(&mut self, number: u64) -> &mut Chunk {
        let number = number as usize;
        if self.chunks.len() <= number {
            self.chunks.resize_with(number + 1, || None);
        }
        self.chunks[number].get_or_insert_with(|| {
            Box::new(Chunk {
                cached: [0; WORDS],
                dirty: [0; WORDS],
                dirty_pages: 0,
                cached_pages: 0,
            })
        })
    }

    /// Marks the pages of a range as held, and as dirty where `dirty`.
    pub(crate) fn mark(&mut self, offset: u64, len: u64, dirty: bool) {
        for page in pages_of(offset, len) {
            let chunk = self.chunk(page / CHUNK_PAGES);
            let (word, bit) = place(page);
            let newly_cached = u32::from(chunk.cached[word] & bit == 0);
            chunk.cached[word] |= bit;
            chunk.cached_pages += newly_cached;
            let newly_dirty = u32::from(dirty && chunk.dirty[word] & bit == 0);
            if dirty {
                chunk.dirty[word] |= bit;
            }
            chunk.dirty_pages += newly_dirty;
            self.cached += u64::from(newly_cached);
            self.dirty += u64::from(newly_dirty);
        }
    }

    /// The part of a range that is not held: from its first missing page to its last, in bytes; `None`: all is there.
    pub(crate) fn missing(&self, offset: u64, len: u64) -> Option<(u64, u64)> {
        let absent = |&page: &u64| {
            let (word, bit) = place(page);
            let chunk = self.chunks.get((page / CHUNK_PAGES) as usize);
            chunk
                .and_then(Option::as_ref)
                .is_none_or(|chunk| chunk.cached[word] & bit == 0)
        };
        let first = pages_of(offset, len).find(absent)?;
        let last = pages_of(offset, len).rev().find(absent)?;
        Some((first * PAGE_BYTES, (last + 1 - first) * PAGE_BYTES))
    }

    /// Takes the first run of dirty pages at or after page `from`, at most `most` long, and makes them clean. The first
    /// page and how many; `None`: there is none up to the end of the volume.
    pub(crate) fn take_run(&mut self, from: u64, most: u32) -> Option<(u64, u32)> {
        let mut at = from;
        loop {
            let number = (at / CHUNK_PAGES) as usize;
            let chunk = self.chunks.get_mut(number)?;
            let next_chunk = (number as u64 + 1) * CHUNK_PAGES;
            let Some(chunk) = chunk.as_deref_mut().filter(|chunk| chunk.dirty_pages > 0) else {
                at = next_chunk;
                continue;
            };
            let Some(start) = first_dirty(chunk, at % CHUNK_PAGES) else {
                at = next_chunk;
                continue;
            };
            // A run ends with its chunk: one request more in 128 MiB.
            let mut count = 0;
            while count < most && start + u64::from(count) < CHUNK_PAGES {
                let (word, bit) = place(start + u64::from(count));
                if chunk.dirty[word] & bit == 0 {
                    break;
                }
                chunk.dirty[word] &= !bit;
                count += 1;
            }
            chunk.dirty_pages -= count;
            self.dirty -= u64::from(count);
            return Some((number as u64 * CHUNK_PAGES + start, count));
        }
    }

    /// Forgets clean pages, chunk by chunk in turn, until no more than `most` pages are held or none is clean.
    pub(crate) fn shrink(&mut self, most: u64) {
        for _ in 0..self.chunks.len() {
            if self.cached <= most {
                return;
            }
            self.hand = (self.hand + 1) % self.chunks.len();
            let Some(chunk) = self.chunks[self.hand].as_deref_mut() else {
                continue;
            };
            self.cached -= u64::from(chunk.cached_pages - chunk.dirty_pages);
            chunk.cached = chunk.dirty;
            chunk.cached_pages = chunk.dirty_pages;
        }
    }
}

/// The word and the bit of a page within its chunk.
fn place(page: u64) -> (usize, u64) {
    let within = page % CHUNK_PAGES;
    ((within / 64) as usize, 1 << (within % 64))
}

/// The first dirty page of a chunk at or after `from`.
fn first_dirty(chunk: &Chunk, from: u64) -> Option<u64> {
    let (word, bit) = place(from);
    let rest = chunk.dirty[word] & !(bit - 1);
    if rest != 0 {
        return Some(word as u64 * 64 + u64::from(rest.trailing_zeros()));
    }
    let later = chunk.dirty[word + 1..].iter().position(|&word| word != 0)? + word + 1;
    Some(later as u64 * 64 + u64::from(chunk.dirty[later].trailing_zeros()))
}

#[cfg(test)]
mod tests;
