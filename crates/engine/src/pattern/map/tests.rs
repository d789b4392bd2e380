use super::BlockMap;
use fathom_core::rng::Rng;
use fathom_testkit::seed;
use proptest::prelude::*;

/// The same by looking at each block.
fn naive_take(visited: &mut [bool], start: u64, most: u64) -> Option<(u64, u64)> {
    let n = visited.len() as u64;
    let free = |range: std::ops::Range<u64>| range.into_iter().find(|&block| !visited[block as usize]);
    let first = free(start.min(n)..n).or_else(|| free(0..n))?;
    let mut count = 0;
    while count < most && first + count < n && !visited[(first + count) as usize] {
        visited[(first + count) as usize] = true;
        count += 1;
    }
    Some((first, count))
}

/// Takes at random until all was visited, beside the naive map.
fn check(blocks: u64, most: u64, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut map = BlockMap::new(blocks, 4096);
    for pass in 0..2 {
        let mut visited = vec![false; blocks as usize];
        let mut left = blocks;
        while left > 0 {
            assert!(!map.is_full());
            let start = rng.below(blocks);
            let wanted = 1 + rng.below(most);
            let expected = naive_take(&mut visited, start, wanted);
            let taken = map.take(start, wanted);
            assert_eq!(
                taken, expected,
                "{blocks} blocks, start {start}, {wanted} wanted, pass {pass}, seed {seed}"
            );
            left -= taken.map_or(0, |(_, count)| count);
            let probe = rng.below(blocks);
            assert_eq!(map.is_visited(probe), visited[probe as usize]);
        }
        assert!(map.is_full());
        assert_eq!(map.take(0, 1), None);
        map.clear();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn takes_what_a_naive_map_takes(blocks in 1u64..700, most in 1u64..70, seed: u64) {
        check(blocks, most, seed);
    }
}

#[test]
fn edges_of_words_and_levels() {
    let mut rng = Rng::new(seed());
    for blocks in [1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097] {
        check(blocks, 1, rng.next_u64());
        check(blocks, 100, rng.next_u64());
    }
}

#[test]
fn three_levels_are_searched_quickly() {
    // 2^19 blocks are 3 levels and a half; a naive search of each would be 2^37 steps.
    let blocks = (1 << 19) + 1;
    let mut map = BlockMap::new(blocks, 512);
    let mut count = 0;
    while let Some((block, taken)) = map.take(0, 1) {
        assert_eq!((block, taken), (count, 1));
        count += 1;
    }
    assert_eq!(count, blocks);
}

#[test]
fn an_empty_map_is_full() {
    let mut map = BlockMap::new(0, 4096);
    assert!(map.is_full());
    assert_eq!(map.take(0, 1), None);
}
