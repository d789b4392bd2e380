//! Sequences that begin within their region, and runs that keep their direction.

use crate::pattern::{Draw, Generator};
use crate::testing::{job, random_job, seed, whole};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::workload::{FileChoice, Job, Mix, RandomMap};

const KIB: u64 = 1 << 10;

fn draws(job: &Job, region: u64, count: usize) -> Vec<Draw> {
    let mut generator = Generator::new(job, &whole(region), u64::MAX, true, seed());
    std::iter::from_fn(|| generator.draw()).take(count).collect()
}

/// At the end of the region it goes on where the steps from its first offset would have come by.
#[test]
fn a_sequence_begins_within_its_region_as_a_naive_one() {
    let mut rng = Rng::new(seed());
    for _ in 0..500 {
        let block = 512 * (1 + rng.below(8));
        let step = block + 512 * rng.below(8);
        let region = block + 512 * rng.below(200);
        let first = 512 * rng.below(region / 512 + 1);
        let mut job = job(Mix::Read, block);
        job.pattern.skip_bytes = (step - block) as i64;
        job.pattern.first_offset_bytes = first;
        let mut next = first;
        let mut expected = Vec::new();
        for _ in 0..300 {
            if next + block > region {
                next = first % step;
            }
            // Where even that does not fit there is nothing to compare: diskspd does not begin there either.
            if next + block > region {
                break;
            }
            expected.push(next);
            next += step;
        }
        let setting = format!("block {block}, step {step}, region {region}, first {first}");
        let found: Vec<u64> = draws(&job, region, expected.len())
            .iter()
            .map(|draw| draw.offset)
            .collect();
        assert_eq!(found, expected, "{setting}");
        // With a sequence for each slot, each of them is the same one.
        job.pattern.same_offset = true;
        job.depth.iodepth = 3;
        let mut generator = Generator::new(&job, &whole(region), u64::MAX, true, seed());
        for &offset in &expected {
            for slot in 0..3 {
                generator.turn_to(slot);
                assert_eq!(
                    generator.draw().map(|draw| draw.offset),
                    Some(offset),
                    "{setting}"
                );
            }
        }
    }
}

fn in_runs(random_percent: u8, read_percent: u8, block: u64, align: u64) -> Job {
    let mut job = random_job(Mix::ReadWrite { read_percent }, block);
    job.pattern.random_map = RandomMap::Independent;
    job.pattern.random_percent = [random_percent; 3];
    job.pattern.keeps_direction = true;
    job.pattern.skip_bytes = align as i64 - block as i64;
    job.block_align = [align; 3];
    job
}

/// Each run has one direction, its I/Os lie the alignment apart, and shares come out as asked for.
#[test]
fn runs_keep_their_direction() {
    const IOS: usize = 200_000;
    // A region so large that a random offset does not follow the last one by chance.
    let region = 1 << 44;
    for (random, read, block, align) in [(30, 70, 8, 8), (50, 50, 8, 64), (10, 20, 8, 4)] {
        let job = in_runs(random, read, block * KIB, align * KIB);
        let all = draws(&job, region, IOS);
        let mut runs: Vec<Vec<Draw>> = Vec::new();
        for draw in all {
            assert_eq!(draw.offset % (align * KIB), 0);
            match runs.last_mut() {
                Some(run)
                    if run
                        .last()
                        .is_some_and(|last| last.offset + align * KIB == draw.offset) =>
                {
                    run.push(draw);
                }
                _ => runs.push(vec![draw]),
            }
        }
        assert!(
            runs.iter().all(|run| run.iter().all(|draw| draw.op == run[0].op)),
            "seed {}",
            seed()
        );
        let share = runs.len() as f64 / IOS as f64 * 100.0;
        let reads =
            runs.iter().filter(|run| run[0].op == Op::Read).count() as f64 / runs.len() as f64 * 100.0;
        // Five standard deviations of the smaller number of runs.
        assert!(
            (share - f64::from(random)).abs() < 0.6,
            "{share} % random, seed {}",
            seed()
        );
        assert!(
            (reads - f64::from(read)).abs() < 2.0,
            "{reads} % reads, seed {}",
            seed()
        );
        // Geometric: as many runs of one I/O as a share of all runs as there are random I/Os.
        let single = runs.iter().filter(|run| run.len() == 1).count() as f64 / runs.len() as f64 * 100.0;
        assert!(
            (single - f64::from(random)).abs() < 2.0,
            "{single} % of one I/O, seed {}",
            seed()
        );
    }
}

/// A run that comes to the end of the region goes on at its beginning.
#[test]
fn runs_wrap_at_the_end() {
    let region = 64 * KIB;
    let job = in_runs(5, 50, 8 * KIB, 8 * KIB);
    for pair in draws(&job, region, 5000).windows(2) {
        let next = (pair[0].offset + 8 * KIB) % region;
        // What is elsewhere was drawn; what goes on has the direction of the one before.
        if pair[0].op != pair[1].op {
            continue;
        }
        assert!(pair[1].offset < region);
        if pair[0].offset + 8 * KIB == region && pair[1].offset != next {
            assert_eq!(pair[1].offset % (8 * KIB), 0);
        }
    }
    let all = draws(&job, region, 5000);
    let wrapped = all
        .windows(2)
        .filter(|pair| pair[0].offset == 56 * KIB && pair[1].offset == 0);
    let ends = all.iter().filter(|draw| draw.offset == 56 * KIB).count();
    assert!(wrapped.count() * 10 > ends * 9, "of {ends}, seed {}", seed());
}

/// Of several files each has its own run.
#[test]
fn each_file_has_its_own_runs() {
    let mut job = in_runs(20, 50, 4 * KIB, 4 * KIB);
    job.files.choice = FileChoice::Random;
    let spans = [whole(1 << 40)[0], whole(1 << 40)[0]];
    let mut generator = Generator::new(&job, &spans, u64::MAX, true, seed());
    let mut last: [Option<Draw>; 2] = [None; 2];
    let mut gone_on = 0;
    for _ in 0..20_000 {
        let draw = generator.draw().expect("endless");
        if let Some(last) = last[draw.file as usize]
            && last.offset + 4 * KIB == draw.offset
        {
            gone_on += 1;
            assert_eq!(last.op, draw.op);
        }
        last[draw.file as usize] = Some(draw);
    }
    assert!((15_000..17_000).contains(&gone_on), "{gone_on}, seed {}", seed());
}
