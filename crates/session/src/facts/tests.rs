//! Facts of small plans.

use super::{facts, gcd, join};
use fathom_core::workload::{BlockSize, Job, Mix, SplitEntry};

fn job(mix: Mix, size: BlockSize) -> Job {
    let mut job = Job::default();
    job.pattern.mix = mix;
    job.block_size = [size.clone(), size.clone(), size];
    job
}

#[test]
fn gcd_is_the_greatest_common_divisor() {
    assert_eq!(gcd(0, 4096), 4096);
    assert_eq!(gcd(4096, 0), 4096);
    assert_eq!(gcd(12288, 8192), 4096);
    assert_eq!(gcd(5, 7), 1);
}

#[test]
fn blocks_of_several_sizes_are_multiples_of_their_common_divisor() {
    let entry = |bytes| SplitEntry { bytes, percent: 50 };
    let split = job(Mix::Read, BlockSize::Split(vec![entry(4096), entry(6144)]));
    assert_eq!(facts(&split, true, 0..1 << 20).min_block_bytes, 2048);
    let any = BlockSize::Range {
        min: 4096,
        max: 8192,
        unaligned: true,
    };
    assert_eq!(facts(&job(Mix::Read, any), true, 0..1 << 20).min_block_bytes, 1);
}

#[test]
fn an_odd_offset_spoils_the_alignment() {
    let job = job(Mix::Write, BlockSize::Fixed(4096));
    assert_eq!(facts(&job, true, 0..8192).alignment_bytes, 4096);
    assert_eq!(facts(&job, true, 512..8192).alignment_bytes, 512);
    let mut aligned = job;
    aligned.block_align = [0, 1024, 0];
    assert_eq!(facts(&aligned, true, 0..8192).alignment_bytes, 1024);
}

#[test]
fn two_loads_on_one_file_are_taken_together() {
    let mut known = facts(&job(Mix::Read, BlockSize::Fixed(4096)), true, 4096..8192);
    join(
        &mut known,
        &facts(&job(Mix::Write, BlockSize::Fixed(6144)), true, 12288..24576),
    );
    assert!(known.reads && known.writes);
    assert_eq!(known.region, 4096..24576);
    assert_eq!(known.min_block_bytes, 2048);
}
