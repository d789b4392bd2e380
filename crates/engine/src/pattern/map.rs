//! Which blocks of a region were visited: a bitmap with summaries, for access in mixed sizes.

/// A set of visited blocks that finds the next free one in a few steps.
#[derive(Debug, Clone)]
pub struct BlockMap {
    blocks: u64,
    granule: u64,
    left: u64,
    /// Level 0: a bit a block, set when visited. Level k: a bit a word of level k-1, set when that is full.
    levels: Vec<Vec<u64>>,
}

impl BlockMap {
    /// `blocks` unvisited blocks of `granule_bytes` each.
    pub fn new(blocks: u64, granule_bytes: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut map = Self {
            blocks,
            granule: granule_bytes,
            left: blocks,
            levels,
        };
        map.clear();
        map
    }

    pub fn blocks(&self) -> u64 {
        self.blocks
    }
    /// The size of one.
    pub fn granule_bytes(&self) -> u64 {
        self.granule
    }
    /// Whether all were visited.
    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Forgets all visits.
    pub fn clear(&mut self) {
        self.left = self.blocks;
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            // The bits beyond the end count as visited forever.
            if let Some(last) = level.last_mut() {
                let used = bits % 64;
                if used != 0 {
                    *last = u64::MAX << used;
                } else if bits == 0 {
                    *last = u64::MAX;
                }
            }
            bits = bits.div_ceil(64);
        }
    }

    /// Visits the first free block at or after `start` (wrapping around), and the free ones right behind it,
    /// `most` at most. The first block and how many; `None` when all were visited.
    pub fn take(&mut self, start: u64, most: u64) -> Option<(u64, u64)> {
        let first = self.next_free(start).or_else(|| self.next_free(0))?;
        let mut count = 0;
        while count < most && first + count < self.blocks && !self.is_visited(first + count) {
            self.visit(first + count);
            count += 1;
        }
        Some((first, count))
    }

    /// Whether a block was visited.
    pub fn is_visited(&self, block: u64) -> bool {
        self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    fn visit(&mut self, block: u64) {
        let mut bit = block;
        self.left -= 1;
        for level in &mut self.levels {
            let word = &mut level[(bit / 64) as usize];
            *word |= 1 << (bit % 64);
            if *word != u64::MAX {
                return;
            }
            bit /= 64;
        }
    }

    /// The first free block at or after `start`.
    fn next_free(&self, start: u64) -> Option<u64> {
        let mut at = start;
        let mut height = 0;
        // Up, until a word has a free bit at or after the place looked for; then down to the block.
        loop {
            let level = self.levels.get(height)?;
            let word = (at / 64) as usize;
            let free = level.get(word).map_or(0, |w| !w & (u64::MAX << (at % 64)));
            if free != 0 {
                let mut found = (at / 64) * 64 + u64::from(free.trailing_zeros());
                for level in self.levels[..height].iter().rev() {
                    let free = !level[found as usize];
                    found = found * 64 + u64::from(free.trailing_zeros());
                }
                return Some(found);
            }
            at = at / 64 + 1;
            height += 1;
        }
    }
}

#[cfg(test)]
mod tests;
