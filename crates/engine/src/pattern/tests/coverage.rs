//! Every block once.

use crate::pattern::{Draw, Generator, Span};
use crate::testing::{job, one_pass, random_job, seed, whole};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::workload::{BlockSize, FileChoice, Job, Mix, RandomMap, SplitEntry};
use proptest::prelude::*;

fn all(generator: &mut Generator) -> Vec<Draw> {
    std::iter::from_fn(|| generator.draw()).collect()
}

/// How often each granule of each file was visited. Panics where a draw leaves its span or its grid.
fn visits(draws: &[Draw], spans: &[Span], granule: u64) -> Vec<Vec<u32>> {
    let mut visits: Vec<Vec<u32>> = (spans.iter())
        .map(|span| vec![0; (span.bytes / granule) as usize])
        .collect();
    for draw in draws {
        let span = spans[draw.file as usize];
        assert!(draw.offset >= span.start, "{draw:?} before {span:?}");
        let at = draw.offset - span.start;
        assert!(at + u64::from(draw.len) <= span.bytes, "{draw:?} beyond {span:?}");
        assert_eq!(at % granule, 0, "{draw:?} is not on the grid of {span:?}");
        let end = (at + u64::from(draw.len)).div_ceil(granule);
        for block in at / granule..end {
            visits[draw.file as usize][block as usize] += 1;
        }
    }
    visits
}

/// One pass, a second, and the replay of both: every granule exactly once a pass.
fn check_passes(job: &Job, spans: &[Span], granule: u64, seed: u64) {
    let mut generator = one_pass(job, spans, seed);
    let mut replay = generator.clone();
    let once = |draws: &[Draw]| {
        for (file, counts) in visits(draws, spans, granule).iter().enumerate() {
            let wrong = counts.iter().position(|&count| count != 1);
            assert_eq!(
                wrong.map(|block| (block, counts[block])),
                None,
                "file {file}, seed {seed}"
            );
        }
    };
    let first = all(&mut generator);
    once(&first);
    assert_eq!(generator.draw(), None, "the end comes again");
    generator.rewind();
    assert_eq!(all(&mut generator), first, "rewound, seed {seed}");
    generator.restart();
    let second = all(&mut generator);
    once(&second);
    assert_eq!(all(&mut replay), first, "a clone replays, seed {seed}");
    generator.rewind();
    assert_eq!(
        all(&mut generator),
        first,
        "rewound to the first pass, seed {seed}"
    );
    generator.restart();
    assert_eq!(all(&mut generator), second, "and on to the second, seed {seed}");
}

#[test]
fn random_visits_every_block_once() {
    let mut rng = Rng::new(seed());
    let mut counts = vec![1, 2, 3, 4, 5, 100, 100_000];
    for power in [4, 8, 12] {
        counts.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
    }
    for blocks in counts {
        for mix in [Mix::Read, Mix::Write, Mix::ReadWrite { read_percent: 30 }] {
            let job = random_job(mix, 4096);
            // The odd bytes at the end hold no block.
            let span = Span {
                start: 8192,
                bytes: blocks * 4096 + 100,
            };
            check_passes(&job, &[span], 4096, rng.next_u64());
        }
    }
}

/// The next free block, found by looking at one after the other: the same blocks in the same order, pass for pass.
#[test]
fn the_next_free_block_is_that_of_a_plain_list() {
    let mut rng = Rng::new(seed());
    for blocks in [1, 2, 63, 64, 65, 1000, 5000] {
        let seed = rng.next_u64();
        let mut job = random_job(Mix::Write, 4096);
        job.pattern.random_map = RandomMap::NextFree;
        let span = Span {
            start: 8192,
            bytes: blocks * 4096 + 100,
        };
        check_passes(&job, &[span], 4096, seed);
        let mut generator = one_pass(&job, &[span], seed);
        let mut chance = Rng::new(seed);
        // The file's own seed, which this order does not use, at each beginning of a pass.
        chance.next_u64();
        for pass in 0..2 {
            let mut taken = vec![false; blocks as usize];
            let mut expected = Vec::new();
            for _ in 0..blocks {
                let mut at = chance.below(blocks) as usize;
                while taken[at] {
                    at = (at + 1) % blocks as usize;
                }
                taken[at] = true;
                expected.push(8192 + at as u64 * 4096);
            }
            let got: Vec<u64> = all(&mut generator).iter().map(|draw| draw.offset).collect();
            assert_eq!(got, expected, "{blocks} blocks, pass {pass}, seed {seed}");
            generator.restart();
            chance.next_u64();
        }
    }
}

/// Neighbours come together much more often than by chance: that is what the order is for.
#[test]
fn next_free_blocks_come_in_runs() {
    let seed = seed();
    let follows = |map: RandomMap| {
        let mut job = random_job(Mix::Write, 4096);
        job.pattern.random_map = map;
        let draws = all(&mut one_pass(&job, &whole(20_000 * 4096), seed));
        let last = &draws[18_000..];
        last.windows(2)
            .filter(|pair| pair[1].offset == pair[0].offset + 4096)
            .count()
    };
    let (next_free, permuted) = (follows(RandomMap::NextFree), follows(RandomMap::EachOnce));
    assert!(
        permuted < 5 && next_free > 5 * (permuted + 1),
        "{next_free} {permuted}, seed {seed}"
    );
}

#[test]
fn a_restart_comes_in_another_order() {
    let job = random_job(Mix::Read, 4096);
    let mut generator = one_pass(&job, &whole(1000 * 4096), seed());
    let first = all(&mut generator);
    generator.restart();
    assert_ne!(all(&mut generator), first);
}

#[test]
fn partly_sequential_and_runs_visit_every_block_once() {
    let mut rng = Rng::new(seed());
    for (random_percent, run_length) in [(50, 1), (100, 8), (0, 1), (90, 3), (1, 100)] {
        let mut job = random_job(Mix::Write, 4096);
        job.pattern.random_percent = [random_percent; 3];
        job.pattern.run_length = run_length;
        for blocks in [1, 2, 64, 1000] {
            check_passes(&job, &whole(blocks * 4096), 4096, rng.next_u64());
        }
    }
}

/// Mostly in order: the share that goes on where the last one ended is what was asked for.
#[test]
fn the_random_percentage_is_kept() {
    let mut job = random_job(Mix::Read, 4096);
    job.pattern.random_percent = [25; 3];
    job.pattern.random_map = RandomMap::Independent;
    let mut generator = Generator::new(&job, &whole(1 << 40), 40_000 * 4096, true, seed());
    let draws = all(&mut generator);
    let goes_on = draws
        .windows(2)
        .filter(|pair| pair[1].offset == pair[0].offset + u64::from(pair[0].len))
        .count();
    let share = goes_on as f64 / draws.len() as f64;
    // Five standard deviations of 40,000 throws: 0.011.
    assert!((share - 0.75).abs() < 0.011, "{share}");
}

#[test]
fn runs_have_their_length() {
    let mut job = random_job(Mix::Read, 4096);
    job.pattern.run_length = 4;
    job.pattern.random_map = RandomMap::Independent;
    let mut generator = Generator::new(&job, &whole(1 << 40), 4000 * 4096, true, seed());
    for run in all(&mut generator).chunks(4) {
        for pair in run.windows(2) {
            assert_eq!(pair[1].offset, pair[0].offset + 4096);
        }
    }
}

#[test]
fn mixed_sizes_visit_every_granule_once() {
    let mut rng = Rng::new(seed());
    let range = BlockSize::Range {
        min: 4096,
        max: 65536,
        unaligned: false,
    };
    let entry = |kib: u64, percent| SplitEntry {
        bytes: kib << 10,
        percent,
    };
    let split = BlockSize::Split(vec![entry(4, 50), entry(8, 20), entry(64, 30)]);
    for sizes in [range, split] {
        for mix in [Mix::Write, Mix::ReadWrite { read_percent: 50 }] {
            let mut job = random_job(mix, 4096);
            job.block_size = [sizes.clone(), sizes.clone(), sizes.clone()];
            for blocks in [16, 17, 1000] {
                check_passes(&job, &whole(blocks * 4096 + 512), 4096, rng.next_u64());
            }
        }
    }
}

#[test]
fn directions_of_two_sizes_share_the_region() {
    let mut job = random_job(Mix::ReadWrite { read_percent: 50 }, 4096);
    job.block_size[1] = BlockSize::Fixed(16384);
    check_passes(&job, &whole(4096 * 999), 4096, seed());
}

/// A size that is no multiple of the smallest keeps its length; only its last granule is not full.
#[test]
fn odd_sizes_of_a_split_are_kept() {
    let mut job = random_job(Mix::Write, 4096);
    let entry = |bytes, percent| SplitEntry { bytes, percent };
    job.block_size[1] = BlockSize::Split(vec![entry(4096, 50), entry(6144, 50)]);
    let spans = whole(4096 * 1000);
    let mut generator = Generator::new(&job, &spans, u64::MAX, false, seed());
    let draws = all(&mut generator);
    assert!(visits(&draws, &spans, 4096)[0].iter().all(|&count| count == 1));
    let long = draws.iter().filter(|draw| draw.len == 6144).count();
    assert!(draws.iter().all(|draw| draw.len == 6144 || draw.len == 4096));
    // Some find no two blocks side by side towards the end; most do.
    assert!(long * 5 > draws.len(), "{long} of {}", draws.len());
}

#[test]
fn every_file_is_used_up() {
    let mut rng = Rng::new(seed());
    let spans = [100, 1, 17, 64].map(|blocks| Span {
        start: blocks * 512,
        bytes: blocks * 4096 + 77,
    });
    for choice in [FileChoice::RoundRobin, FileChoice::Random, FileChoice::Sequential] {
        for random in [false, true] {
            let mut job = job(Mix::Write, 4096);
            job.pattern.random = random;
            job.files.choice = choice;
            check_passes(&job, &spans, 4096, rng.next_u64());
        }
    }
}

/// Twice the region: every block twice, whichever file is served when.
#[test]
fn more_than_the_region_begins_again() {
    let mut rng = Rng::new(seed());
    for files in [1, 3] {
        for choice in [FileChoice::RoundRobin, FileChoice::Random, FileChoice::Sequential] {
            for random in [false, true] {
                let mut job = job(Mix::Write, 4096);
                job.pattern.random = random;
                job.files.choice = choice;
                let spans = vec![whole(40 * 4096)[0]; files];
                let amount = 2 * 40 * 4096 * files as u64;
                let mut generator = Generator::new(&job, &spans, amount, true, rng.next_u64());
                let draws = all(&mut generator);
                assert!(
                    visits(&draws, &spans, 4096)
                        .iter()
                        .flatten()
                        .all(|&count| count == 2),
                    "{choice:?}, random {random}, {files} files"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever the job: inside, on the grid, and each granule once.
    #[test]
    fn any_mapped_job(
        blocks in 1u64..300,
        tail in 0u64..512,
        start in 0u64..10,
        largest in 1u64..20,
        random_percent in 0u8..=100,
        run_length in 1u32..10,
        read_percent in 0u8..=100,
        next_free: bool,
        seed: u64,
    ) {
        let mut job = random_job(Mix::ReadWrite { read_percent }, 512);
        let sizes = BlockSize::Range { min: 512, max: 512 * largest, unaligned: false };
        job.block_size = [sizes.clone(), sizes.clone(), sizes];
        job.pattern.random_percent = [random_percent; 3];
        job.pattern.run_length = run_length;
        if next_free {
            job.pattern.random_map = RandomMap::NextFree;
        }
        let span = Span { start: start * 512, bytes: blocks * 512 + tail };
        check_passes(&job, &[span], 512, seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// What is drawn without a call is what is drawn with one, I/O for I/O, to the end of each pass and beyond it.
    #[test]
    fn the_short_way_draws_the_same(
        blocks in 1u64..40,
        files in 1usize..3,
        mix in 0usize..4,
        random: bool,
        map in 0usize..3,
        largest in 1u64..4,
        random_percent in 95u8..=100,
        repeats: bool,
        seed: u64,
    ) {
        let mixes = [Mix::Read, Mix::Write, Mix::ReadWrite { read_percent: 40 }, Mix::TrimWrite];
        let mut job = random_job(mixes[mix], 512);
        job.pattern.random = random;
        job.pattern.random_map = [RandomMap::EachOnce, RandomMap::NextFree, RandomMap::Independent][map];
        job.pattern.random_percent = [100, random_percent, 100];
        let sizes = BlockSize::Range { min: 512, max: 512 * largest, unaligned: false };
        job.block_size = [sizes.clone(), sizes.clone(), sizes];
        let spans = vec![whole(blocks * 512)[0]; files];
        let amount = blocks * 512 * files as u64 * if repeats { 3 } else { 1 };
        let mut plain = Generator::new(&job, &spans, amount, repeats, seed);
        let mut short = plain.clone();
        for _ in 0..2 {
            loop {
                let expected = plain.draw();
                prop_assert_eq!(short.draw_here().or_else(|| short.draw()), expected);
                if expected.is_none() {
                    break;
                }
            }
            plain.restart();
            short.restart();
        }
    }
}

/// Trim and write go over the blocks together.
#[test]
fn each_block_is_trimmed_then_written() {
    for random in [false, true] {
        let mut job = job(Mix::TrimWrite, 4096);
        job.pattern.random = random;
        let draws = all(&mut one_pass(&job, &whole(50 * 4096), seed()));
        assert_eq!(draws.len(), 100);
        for pair in draws.chunks(2) {
            assert_eq!([pair[0].op, pair[1].op], [Op::Trim, Op::Write]);
            assert_eq!((pair[0].offset, pair[0].len), (pair[1].offset, pair[1].len));
        }
        let writes: Vec<Draw> = draws.into_iter().filter(|draw| draw.op == Op::Write).collect();
        assert!(
            visits(&writes, &whole(50 * 4096), 4096)[0]
                .iter()
                .all(|&count| count == 1)
        );
    }
}
