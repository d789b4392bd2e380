use super::{Content, HEADER_BYTES};
use crate::plan::Plan;
use crate::testing::{count_byte, job, random_job, seed};
use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_core::workload::{
    Amount, Buffers, Compression, Dedupe, Job, Mix, Verify, VerifyAlgorithm, Workload,
};
use proptest::prelude::*;

const ALGORITHMS: [VerifyAlgorithm; 5] = [
    VerifyAlgorithm::Crc32c,
    VerifyAlgorithm::Md5,
    VerifyAlgorithm::Xxhash,
    VerifyAlgorithm::Sha256,
    VerifyAlgorithm::Pattern,
];

/// Of file 0; file 1 differs from it in one bit.
const SALT: u64 = 0x1234_5678_9abc_def0;

fn write(offset: u64, len: u32) -> Request {
    Request {
        slot: 0,
        op: Op::Write,
        file: 0,
        offset,
        len,
    }
}

fn verifying(algorithm: VerifyAlgorithm, interval_bytes: u32, pattern: &[u8], seed: u64) -> Content {
    let mut job = job(Mix::Write, 4096);
    job.verify = Some(Verify {
        algorithm,
        interval_bytes,
        pattern: pattern.to_vec(),
        only: false,
        read_back: true,
        fatal: false,
    });
    Content::new(&job, &[SALT, SALT ^ (1 << 32)], seed)
}

/// A buffer as it is written.
fn filled(content: &mut Content, request: &Request) -> Vec<u8> {
    // What was in it before must not matter.
    let mut buffer = vec![0xEE; request.len as usize];
    content.fill(&mut buffer, request);
    buffer
}

#[test]
fn what_was_written_is_found_again() {
    let mut rng = Rng::new(seed());
    for algorithm in ALGORITHMS {
        for interval in [0, 512, 4096, 1 << 20] {
            for pattern in [&b""[..], b"\xAA", b"abc"] {
                let mut content = verifying(algorithm, interval, pattern, rng.next_u64());
                // Another run, with another seed, checks it.
                let other = verifying(algorithm, interval, pattern, rng.next_u64());
                for len in [64, 100, 512, 4096, 4100, 65536] {
                    let request = write(rng.below(1 << 40) & !511, len);
                    let buffer = filled(&mut content, &request);
                    assert!(content.check(&buffer, &request), "{algorithm:?} {interval} {len}");
                    assert!(other.check(&buffer, &request), "{algorithm:?} {interval} {len}");
                    assert_eq!(
                        filled(&mut content, &request),
                        buffer,
                        "the same place, the same bytes"
                    );
                }
            }
        }
    }
}

#[test]
fn another_file_is_not_taken_for_it() {
    for algorithm in ALGORITHMS {
        for pattern in [&b""[..], b"same"] {
            let mut content = verifying(algorithm, 512, pattern, 1);
            // With a tail that has no room for a header.
            for len in [4096, 1000, 40] {
                let request = write(8192, len);
                let elsewhere = Request { file: 1, ..request };
                let buffer = filled(&mut content, &request);
                assert!(content.check(&buffer, &request));
                // A bare pattern says nothing of its place.
                let taken = algorithm == VerifyAlgorithm::Pattern;
                assert_eq!(content.check(&buffer, &elsewhere), taken, "{algorithm:?} {len}");
            }
        }
    }
}

#[test]
fn another_place_is_not_taken_for_it() {
    for algorithm in ALGORITHMS {
        if algorithm == VerifyAlgorithm::Pattern {
            continue;
        }
        let mut content = verifying(algorithm, 0, b"same", 1);
        let buffer = filled(&mut content, &write(8192, 4096));
        assert!(content.check(&buffer, &write(8192, 4096)));
        assert!(
            !content.check(&buffer, &write(12288, 4096)),
            "{algorithm:?}: a misplaced write"
        );
        assert!(
            !content.check(&vec![0; 4096], &write(8192, 4096)),
            "{algorithm:?}: a lost write"
        );
    }
}

/// Each algorithm has its own header: a block of one is none of another.
#[test]
fn another_algorithm_is_not_taken_for_it() {
    let mut crc = verifying(VerifyAlgorithm::Crc32c, 0, b"", 1);
    let md5 = verifying(VerifyAlgorithm::Md5, 0, b"", 1);
    let buffer = filled(&mut crc, &write(0, 4096));
    assert!(!md5.check(&buffer, &write(0, 4096)));
}

/// An interval divides blocks alike whatever their size, so that blocks of one size check those of another.
#[test]
fn intervals_are_checked_in_blocks_of_any_size() {
    let mut content = verifying(VerifyAlgorithm::Crc32c, 512, b"", 1);
    let buffer = filled(&mut content, &write(4096, 4096));
    for part in 0..8 {
        let request = write(4096 + 512 * part, 512);
        assert!(content.check(&buffer[512 * part as usize..][..512], &request));
    }
    assert!(!content.check(&buffer[512..1024], &write(4096, 512)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_flipped_bit_anywhere_is_found(
        which in 0usize..5,
        interval in prop_oneof![Just(0u32), Just(512), Just(1000)],
        len in 65u32..6000,
        offset in 0u64..1 << 40,
        bit in any::<prop::sample::Index>(),
        pattern in prop_oneof![Just(&b""[..]), Just(&b"xyz"[..])],
    ) {
        let mut content = verifying(ALGORITHMS[which], interval, pattern, 1);
        let request = write(offset, len);
        let mut buffer = filled(&mut content, &request);
        prop_assert!(content.check(&buffer, &request));
        let bit = bit.index(buffer.len() * 8);
        buffer[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(!content.check(&buffer, &request), "bit {} of {}", bit, len * 8);
    }
}

/// Every bit of one small block with its header.
#[test]
fn every_bit_of_a_block_is_checked() {
    for algorithm in ALGORITHMS {
        let mut content = verifying(algorithm, 0, b"pattern", 1);
        let request = write(512, HEADER_BYTES as u32 + 9);
        let mut buffer = filled(&mut content, &request);
        for bit in 0..buffer.len() * 8 {
            buffer[bit / 8] ^= 1 << (bit % 8);
            assert!(!content.check(&buffer, &request), "{algorithm:?}, bit {bit}");
            buffer[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(content.check(&buffer, &request));
    }
}

fn buffers(change: impl FnOnce(&mut Buffers)) -> Content {
    let mut job = job(Mix::Write, 4096);
    change(&mut job.buffers);
    Content::new(&job, &[], 42)
}

fn zeros(buffer: &[u8]) -> usize {
    count_byte(buffer, 0)
}

/// The entropy of the bytes, in bits each.
fn entropy(buffer: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in buffer {
        counts[usize::from(byte)] += 1;
    }
    let share = |count: u32| f64::from(count) / buffer.len() as f64;
    let shares = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|&count| share(count));
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

#[test]
fn random_buffers_are_incompressible() {
    let mut buffer = vec![0; 1 << 16];
    buffers(|_| {}).prepare(&mut buffer);
    assert!(entropy(&buffer) > 7.99, "{}", entropy(&buffer));
}

#[test]
fn zero_buffers_are_zero() {
    let mut buffer = vec![1; 4096];
    let mut content = buffers(|buffers| buffers.zero = true);
    content.prepare(&mut buffer);
    assert_eq!(zeros(&buffer), 4096);
    assert!(!content.fills_each());
}

#[test]
fn patterns_repeat() {
    let mut buffer = vec![0; 10];
    let mut content = buffers(|buffers| buffers.pattern = b"abc".to_vec());
    content.prepare(&mut buffer);
    assert_eq!(&buffer, b"abcabcabca");
    assert!(!content.fills_each());
}

/// The share that a compressor can remove is what was asked for, in each chunk.
#[test]
fn compressible_shares_hold_in_each_chunk() {
    for percent in [0, 25, 50, 90, 100] {
        for chunk_bytes in [0, 512, 4096] {
            let mut buffer = vec![0xFF; 1 << 16];
            let mut content = buffers(|buffers| {
                buffers.compression = Some(Compression { percent, chunk_bytes });
            });
            content.prepare(&mut buffer);
            let chunk = if chunk_bytes == 0 {
                buffer.len()
            } else {
                chunk_bytes as usize
            };
            for part in buffer.chunks(chunk) {
                let expected = part.len() * usize::from(percent) / 100;
                let tail = part.iter().rev().take_while(|byte| **byte == 0).count();
                // Random bytes before the tail may be zero too.
                assert!(
                    (expected..expected + 6).contains(&tail),
                    "{percent} %: {tail} of {}",
                    part.len()
                );
            }
        }
    }
}

#[test]
fn scrambled_blocks_differ_from_each_other() {
    for len in [512, 4096, 100, 8] {
        let mut content = buffers(|_| {});
        assert!(content.fills_each());
        let mut buffer = vec![0; len];
        content.prepare(&mut buffer);
        let mut met = std::collections::HashSet::new();
        for block in 0..1000 {
            // The same place written twice is not written alike either.
            let request = write(block / 2 * len as u64, len as u32);
            content.fill(&mut buffer, &request);
            for sector in buffer.chunks(512) {
                assert!(met.insert(sector.to_vec()), "block {block} of {len} bytes");
            }
        }
    }
}

#[test]
fn refilled_blocks_share_nothing() {
    let mut content = buffers(|buffers| buffers.refill = true);
    let mut last = vec![0; 4096];
    content.prepare(&mut last);
    for block in 0..10 {
        let next = filled(&mut content, &write(block * 4096, 4096));
        let same = next.iter().zip(&last).filter(|(a, b)| a == b).count();
        assert!(same < 60, "{same} of 4096 bytes are the same");
        last = next;
    }
}

#[test]
fn plain_buffers_stay_as_they_are() {
    assert!(!buffers(|buffers| buffers.scramble = false).fills_each());
}

/// Workers agree on a file that they share; all others differ, and so do other seeds.
#[test]
fn each_file_of_a_job_has_a_salt_of_its_own() {
    let mut job = job(Mix::Write, 4096);
    job.numjobs = 2;
    job.region.size = Some(Amount::Bytes(1 << 20));
    let salts = |job: &Job| {
        let workload = Workload {
            jobs: vec![job.clone()],
        };
        super::salts(&Plan::new(&workload).expect("a plan").jobs[0])
    };
    job.files.nrfiles = 3;
    let own = salts(&job);
    let mut all = own.concat();
    assert_eq!(own, salts(&job), "a later process finds the same");
    all.sort_unstable();
    all.dedup();
    assert_eq!((own.len(), all.len()), (2, 6));
    job.random_seed += 1;
    assert!(salts(&job).concat().iter().all(|salt| !all.contains(salt)));
    job.files.names = vec!["a".into(), "b".into()];
    let shared = salts(&job);
    assert_eq!(shared[0], shared[1]);
    assert_ne!(shared[0][0], shared[0][1]);
}

/// So many of the blocks are equal to an earlier one.
#[test]
fn copies_come_as_often_as_asked_for() {
    let seed = seed();
    for (percent, set) in [(30, None), (80, None), (50, Some(10)), (100, Some(5))] {
        let mut job = random_job(Mix::Write, 4096);
        job.region.size = Some(Amount::Bytes(4 << 20));
        job.buffers.dedupe = Some(Dedupe {
            percent,
            working_set_percent: set,
            shared: false,
        });
        let mut content = Content::new(&job, &[], seed);
        assert!(content.fills_each());
        let mut seen = std::collections::HashSet::new();
        let mut copies = 0;
        for block in 0..2000 {
            let mut buffer = vec![0; 4096];
            let request = Request {
                slot: 0,
                op: Op::Write,
                file: 0,
                offset: block * 4096,
                len: 4096,
            };
            content.fill(&mut buffer, &request);
            copies += u64::from(!seen.insert(buffer));
        }
        // The first of each block of a set is none.
        let firsts = set.map_or(1, |set| 1024 * u64::from(set) / 100);
        let expected = (2000 * u64::from(percent) / 100).saturating_sub(firsts);
        assert!(copies.abs_diff(expected) < 120, "{percent} {set:?}: {copies}");
    }
}
