use super::Content;
use crate::testing::{count_byte, job, random_job, seed};
use fathom_core::backend::{Op, Request};
use fathom_core::workload::{Amount, Buffers, Compression, Dedupe, Mix, Verify, VerifyAlgorithm};

fn write(offset: u64, len: u32) -> Request {
    Request {
        slot: 0,
        op: Op::Write,
        file: 0,
        offset,
        len,
    }
}

/// A buffer as it is written.
fn filled(content: &mut Content, request: &Request) -> Vec<u8> {
    // What was in it before must not matter.
    let mut buffer = vec![0xEE; request.len as usize];
    content.fill(&mut buffer, request);
    buffer
}

/// Blocks that do not match are left beside what they should have been, under the name of their file.
#[test]
fn blocks_that_do_not_match_are_left_in_files() {
    let scratch = tempfile::tempdir().expect("scratch directory");
    let mut job = job(Mix::Write, 4096);
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Md5,
        dump: true,
        ..Verify::default()
    });
    let mut content = Content::new(&job, 0, 1);
    let name = scratch.path().join("f").display().to_string();
    content.dump_as(vec![name.clone()]);
    let request = write(8192, 4096);
    let mut buffer = filled(&mut content, &request);
    assert!(content.check(&mut buffer, &request));
    let good = buffer.clone();
    buffer[4000] ^= 1;
    assert!(!content.check(&mut buffer, &request));
    let left = |ending: &str| std::fs::read(format!("{name}.8192.{ending}"));
    assert_eq!(left("received").expect("received"), buffer);
    assert_eq!(left("expected").expect("expected"), good);
    buffer[0] ^= 1;
    assert!(!content.check(&mut buffer, &request));
    assert_eq!(left("hdr_fail").expect("hdr_fail"), buffer);
}

fn buffers(change: impl FnOnce(&mut Buffers)) -> Content {
    let mut job = job(Mix::Write, 4096);
    change(&mut job.buffers);
    Content::new(&job, 0, 42)
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
        let mut content = Content::new(&job, 0, seed);
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
