//! Orders and amounts, as fio's own I/O logs show them.

use crate::pattern::{Draw, Generator, Span};
use crate::testing::{job, one_pass, random_job, seed, whole};
use fathom_core::backend::Op;
use fathom_core::workload::{BlockSize, FileChoice, Job, Mix, RandomMap};

const KIB: u64 = 1 << 10;

/// Offsets in KiB, up to `most` of them.
fn offsets(job: &Job, bytes: u64, amount: u64, repeats: bool, most: usize) -> Vec<u64> {
    let mut generator = Generator::new(job, &whole(bytes), amount, repeats, 1);
    std::iter::from_fn(|| generator.draw())
        .take(most)
        .map(|draw| draw.offset / KIB)
        .collect()
}

#[test]
fn sequential_reads_go_up_and_stop() {
    let job = job(Mix::Read, 4 * KIB);
    let expected: Vec<u64> = (0..10).map(|block| 4 * block).collect();
    assert_eq!(offsets(&job, 40 * KIB, 40 * KIB, false, 100), expected);
    // `size=42k bs=4k`: ten I/Os, the last two KiB are left alone.
    assert_eq!(offsets(&job, 42 * KIB, 42 * KIB, false, 100), expected);
}

#[test]
fn a_random_map_stops_with_the_last_whole_block() {
    for mix in [Mix::Read, Mix::Write, Mix::ReadWrite { read_percent: 50 }] {
        let job = random_job(mix, 4 * KIB);
        assert_eq!(offsets(&job, 42 * KIB, 42 * KIB, false, 100).len(), 10, "{mix:?}");
    }
}

#[test]
fn without_a_map_the_bytes_count() {
    let mut job = random_job(Mix::Read, 4 * KIB);
    job.pattern.random_map = RandomMap::Independent;
    assert_eq!(offsets(&job, 42 * KIB, 42 * KIB, false, 100).len(), 11);
}

#[test]
fn io_size_wraps_over_the_region() {
    let job = job(Mix::Write, 4 * KIB);
    let found = offsets(&job, 40 * KIB, 60 * KIB, true, 100);
    assert_eq!(found, [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 0, 4, 8, 12, 16]);
    assert_eq!(offsets(&job, 40 * KIB, 10 * KIB, true, 100), [0, 4, 8]);
}

#[test]
fn holes_wrap_around() {
    let mut job = job(Mix::Write, 4 * KIB);
    job.pattern.skip_bytes = 4 * KIB as i64;
    let found = offsets(&job, 40 * KIB, 40 * KIB, false, 100);
    assert_eq!(found, [0, 8, 16, 24, 32, 0, 8, 16, 24, 32]);
}

#[test]
fn a_step_back_of_a_block_stays() {
    let mut job = job(Mix::Write, 4 * KIB);
    job.pattern.skip_bytes = -4 * KIB as i64;
    assert_eq!(offsets(&job, 40 * KIB, 16 * KIB, false, 100), [0, 0, 0, 0]);
}

#[test]
fn backwards_visits_every_block() {
    let mut job = job(Mix::Write, 4 * KIB);
    job.pattern.skip_bytes = -8 * KIB as i64;
    let found = offsets(&job, 40 * KIB, 40 * KIB, false, 100);
    assert_eq!(found, [0, 36, 32, 28, 24, 20, 16, 12, 8, 4]);
}

#[test]
fn mixed_directions_each_go_up_on_their_own() {
    let job = job(Mix::ReadWrite { read_percent: 50 }, 4 * KIB);
    let mut generator = one_pass(&job, &whole(400 * KIB), seed());
    let draws: Vec<Draw> = std::iter::from_fn(|| generator.draw()).collect();
    assert_eq!(draws.len(), 100);
    for op in [Op::Read, Op::Write] {
        let own: Vec<u64> = draws
            .iter()
            .filter(|d| d.op == op)
            .map(|d| d.offset / KIB)
            .collect();
        assert_eq!(
            own,
            (0..own.len() as u64).map(|block| 4 * block).collect::<Vec<_>>()
        );
    }
}

/// Without an end, each direction goes round the whole region, not only over the part that its share of one
/// pass reaches.
#[test]
fn endless_mixed_directions_go_round() {
    let job = job(Mix::ReadWrite { read_percent: 50 }, 4 * KIB);
    let mut generator = Generator::new(&job, &whole(40 * KIB), u64::MAX, true, seed());
    let mut seen = [[0u32; 10]; 2];
    for _ in 0..400 {
        let draw = generator.draw().expect("endless");
        seen[draw.op.index()][(draw.offset / (4 * KIB)) as usize] += 1;
    }
    for counts in seen {
        let (least, most) = (counts.iter().min(), counts.iter().max());
        assert!(*least.unwrap_or(&0) >= 10, "{counts:?}");
        assert!(most.unwrap_or(&0) - least.unwrap_or(&0) <= 1, "{counts:?}");
    }
}

#[test]
fn the_mix_has_its_share() {
    for read_percent in [0, 1, 70, 100] {
        let job = random_job(Mix::ReadWrite { read_percent }, 512);
        let mut generator = one_pass(&job, &whole(512 * 50_000), seed());
        let reads = std::iter::from_fn(|| generator.draw())
            .filter(|draw| draw.op == Op::Read)
            .count();
        let expected = 50_000.0 * f64::from(read_percent) / 100.0;
        let deviation = (expected * (1.0 - f64::from(read_percent) / 100.0)).sqrt();
        assert!(
            (reads as f64 - expected).abs() <= 5.0 * deviation,
            "{reads}, not {expected}"
        );
    }
}

fn files_of(choice: FileChoice, blocks: [u64; 3]) -> Vec<u32> {
    let mut job = job(Mix::Write, 4 * KIB);
    job.files.choice = choice;
    let spans = blocks.map(|blocks| Span {
        start: 0,
        bytes: blocks * 4 * KIB,
    });
    let mut generator = one_pass(&job, &spans, 1);
    std::iter::from_fn(|| generator.draw())
        .map(|draw| draw.file)
        .collect()
}

#[test]
fn files_are_served_in_their_order() {
    assert_eq!(
        files_of(FileChoice::RoundRobin, [2, 4, 3]),
        [0, 1, 2, 0, 1, 2, 1, 2, 1]
    );
    assert_eq!(files_of(FileChoice::Sequential, [2, 1, 3]), [0, 0, 1, 2, 2, 2]);
}

#[test]
fn random_files_are_served_alike() {
    let mut job = random_job(Mix::Read, 4 * KIB);
    job.files.choice = FileChoice::Random;
    job.pattern.random_map = RandomMap::Independent;
    let spans = [whole(1 << 30)[0]; 4];
    let mut generator = Generator::new(&job, &spans, u64::MAX, true, seed());
    let mut seen = [0u64; 4];
    for _ in 0..40_000 {
        seen[generator.draw().expect("endless").file as usize] += 1;
    }
    let statistic = crate::testing::chi_square(&seen, &[10_000.0; 4]);
    assert!(statistic < crate::testing::chi_square_limit(3), "{seen:?}");
}

#[test]
fn an_alignment_of_its_own_is_kept_and_turns_the_map_off() {
    let mut job = random_job(Mix::Write, 4 * KIB);
    job.block_align = [0, 16 * KIB, 0];
    let span = Span {
        start: 512,
        bytes: 402 * KIB,
    };
    let mut generator = Generator::new(&job, &[span], 100 * 4 * KIB, false, seed());
    let draws: Vec<Draw> = std::iter::from_fn(|| generator.draw()).collect();
    assert_eq!(draws.len(), 100);
    let mut met = [false; 26];
    for draw in draws {
        let at = draw.offset - span.start;
        assert_eq!(at % (16 * KIB), 0);
        assert!(at + u64::from(draw.len) <= span.bytes && draw.len == 4096);
        met[(at / (16 * KIB)) as usize] = true;
    }
    assert!(met.iter().filter(|met| **met).count() > 15);
}

/// Without a map and in mixed sizes, what is cut at the end is cut to whole small blocks: direct I/O takes
/// nothing else.
#[test]
fn the_end_of_the_region_cuts_whole_blocks() {
    for sizes in [
        BlockSize::Fixed(4 * KIB),
        BlockSize::Range {
            min: 4 * KIB,
            max: 64 * KIB,
            unaligned: false,
        },
    ] {
        for random in [false, true] {
            let mut job = job(Mix::Write, 4 * KIB);
            job.pattern.random = random;
            job.pattern.random_map = RandomMap::Independent;
            job.block_size[1] = sizes.clone();
            let span = Span {
                start: 4 * KIB,
                bytes: 102 * KIB,
            };
            let mut generator = Generator::new(&job, &[span], 1 << 22, true, seed());
            let mut ends = 0;
            while let Some(draw) = generator.draw() {
                assert_eq!((draw.offset % (4 * KIB), draw.len % 4096), (0, 0), "{draw:?}");
                assert!(draw.offset >= span.start && draw.len > 0);
                let end = draw.offset + u64::from(draw.len);
                assert!(end <= span.start + 100 * KIB, "{draw:?}");
                ends += u32::from(end == span.start + 100 * KIB);
            }
            assert!(ends > 1, "the end was never met");
        }
    }
}

#[test]
fn a_region_without_a_block_gives_nothing() {
    for random in [false, true] {
        let mut job = job(Mix::Read, 4 * KIB);
        job.pattern.random = random;
        job.pattern.random_map = RandomMap::Independent;
        assert_eq!(offsets(&job, 2 * KIB, 40 * KIB, true, 10), []);
    }
}
