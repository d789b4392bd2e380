use super::{Blocks, HEADER_BYTES, Wrong, header_bytes};
use crate::testing::{job, random_job, seed};
use fathom_core::rng::Rng;
use fathom_core::workload::{BlockSize, Job, Mix, RandomMap, Verify, VerifyAlgorithm};

fn verifying(algorithm: VerifyAlgorithm) -> Job {
    let mut job = job(Mix::Write, 4096);
    job.random_seed = 0x89;
    job.verify = Some(Verify {
        algorithm,
        pattern: match algorithm {
            VerifyAlgorithm::Pattern | VerifyAlgorithm::PatternHeader => b"a pattern".to_vec(),
            _ => Vec::new(),
        },
        ..Verify::default()
    });
    job
}

fn check(blocks: &mut Blocks, buffer: &[u8], offset: u64) -> Result<(), Wrong> {
    let mut buffer = buffer.to_vec();
    let mut found = Ok(());
    let good = blocks.check(&mut buffer, offset, 0, |wrong, _, _| found = Err(wrong));
    assert_eq!(good, found.is_ok());
    found
}

/// What was written is found to be good, and any changed byte that is looked at is found.
#[test]
fn a_changed_byte_is_found() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    for (name, algorithm) in VerifyAlgorithm::ALL {
        for interval in [0, 512] {
            let mut job = verifying(algorithm);
            if let Some(verify) = &mut job.verify {
                verify.interval_bytes = interval;
            }
            let mut blocks = Blocks::new(&job, 0, 1).expect("it verifies");
            let mut buffer = vec![0; 4096];
            blocks.fill(&mut buffer, 8192);
            assert_eq!(check(&mut blocks, &buffer, 8192), Ok(()), "{name}");
            for _ in 0..200 {
                let mut changed = buffer.clone();
                let at = rng.below(4096) as usize;
                changed[at] ^= 1 << rng.below(8);
                let chunk = if interval == 0 { 4096 } else { interval as usize };
                let in_header = at % chunk < HEADER_BYTES;
                let looked_at = match algorithm {
                    VerifyAlgorithm::Null => false,
                    VerifyAlgorithm::Meta => in_header,
                    _ => true,
                };
                let result = check(&mut blocks, &changed, 8192);
                // SHA-512 of fio up to 3.38 is no hash: it holds the end of the payload.
                if algorithm != VerifyAlgorithm::Sha512 || in_header {
                    assert_eq!(result.is_err(), looked_at, "{name} {interval}: byte {at}");
                }
            }
        }
    }
}

#[test]
fn a_block_of_another_place_or_write_is_found() {
    let job = verifying(VerifyAlgorithm::Md5);
    let mut blocks = Blocks::new(&job, 0, 1).expect("it verifies");
    assert!(blocks.knows_marks);
    let mut first = vec![0; 4096];
    let mut second = vec![0; 4096];
    blocks.fill(&mut first, 0);
    blocks.fill(&mut second, 0);
    assert_eq!(
        check(&mut blocks, &first, 4096),
        Err(Wrong::Header),
        "another place"
    );
    blocks.expect(0);
    assert_eq!(
        check(&mut blocks, &second, 0),
        Err(Wrong::Header),
        "a later write"
    );
    blocks.expect(0);
    assert_eq!(check(&mut blocks, &second, 0), Ok(()));
}

#[test]
fn marks_are_known_where_each_block_is_written_once() {
    let known = |change: fn(&mut Job)| {
        let mut job = random_job(Mix::Write, 4096);
        job.verify = verifying(VerifyAlgorithm::Crc32c).verify;
        change(&mut job);
        Blocks::new(&job, 0, 1).expect("it verifies").knows_marks
    };
    assert!(known(|_| {}));
    assert!(known(|job| job.block_size[1] = BlockSize::Range {
        min: 4096,
        max: 8192,
        unaligned: false
    }));
    assert!(!known(|job| job.pattern.random_map = RandomMap::Independent));
    assert!(!known(|job| job.limit.time_based = true));
    assert!(!known(
        |job| (job.numjobs, job.files.names) = (2, vec!["f".into()])
    ));
}

/// The header lies elsewhere in the interval, and what was there at its beginning.
#[test]
fn an_offset_moves_the_header() {
    let mut job = verifying(VerifyAlgorithm::Crc32c);
    let verify = job.verify.as_mut().expect("it verifies");
    verify.offset_bytes = 100;
    assert_eq!(header_bytes(verify), 144);
    let mut blocks = Blocks::new(&job, 0, 1).expect("it verifies");
    let mut buffer = vec![0; 4096];
    blocks.fill(&mut buffer, 0);
    assert_eq!(buffer[100..102], 0xacca_u16.to_le_bytes());
    assert_eq!(check(&mut blocks, &buffer, 0), Ok(()));
    buffer[3] ^= 1;
    assert_eq!(check(&mut blocks, &buffer, 0), Err(Wrong::Contents));
}

#[test]
fn the_offset_stands_in_a_pattern() {
    let mut job = verifying(VerifyAlgorithm::Pattern);
    let verify = job.verify.as_mut().expect("it verifies");
    verify.pattern = b"ab00000000c".to_vec();
    verify.pattern_offsets = vec![2];
    let mut blocks = Blocks::new(&job, 0, 1).expect("it verifies");
    let mut buffer = vec![0; 64];
    blocks.fill(&mut buffer, 0x0102_0304);
    assert_eq!(buffer[..12], *b"ab\x04\x03\x02\x01\0\0\0\0ca");
    assert_eq!(check(&mut blocks, &buffer, 0x0102_0304), Ok(()));
    assert_eq!(check(&mut blocks, &buffer, 0), Err(Wrong::Contents));
}

#[test]
fn a_pattern_begins_anew_after_its_interval() {
    let mut job = verifying(VerifyAlgorithm::Pattern);
    let verify = job.verify.as_mut().expect("it verifies");
    verify.pattern = b"ab00000000c".to_vec();
    verify.pattern_offsets = vec![2];
    verify.pattern_interval_bytes = 16;
    let mut blocks = Blocks::new(&job, 0, 1).expect("it verifies");
    let mut buffer = vec![0; 40];
    blocks.fill(&mut buffer, 0x0102_03f8);
    assert_eq!(buffer[..16], *b"ab\xf8\x03\x02\x01\0\0\0\0cab\xf8\x03\x02");
    assert_eq!(buffer[16..28], *b"ab\x08\x04\x02\x01\0\0\0\0ca");
    assert_eq!(buffer[32..], *b"ab\x18\x04\x02\x01\0\0");
    assert_eq!(check(&mut blocks, &buffer, 0x0102_03f8), Ok(()));
    buffer[18] ^= 0x10;
    assert_eq!(check(&mut blocks, &buffer, 0x0102_03f8), Err(Wrong::Contents));
}

/// What a later fio writes: a header of 48 bytes.
#[test]
fn headers_of_later_versions_are_read() {
    let mut job = verifying(VerifyAlgorithm::Md5);
    job.block_size = [512, 512, 512].map(BlockSize::Fixed);
    let mut blocks = Blocks::new(&job, 0, 1).expect("it verifies");
    let mut block = vec![7; 512];
    block[..64].fill(0);
    block[..2].copy_from_slice(&0xacca_u16.to_le_bytes());
    (block[2], block[3]) = (0x81, 2);
    block[4..8].copy_from_slice(&512u32.to_le_bytes());
    block[16..24].copy_from_slice(&1024u64.to_le_bytes());
    let seal = crate::checksum::crc32c(&block[..44]);
    block[44..48].copy_from_slice(&seal.to_le_bytes());
    let sum = crate::checksum::sum(VerifyAlgorithm::Md5, &block[64..]);
    block[48..64].copy_from_slice(&sum[..16]);
    assert_eq!(check(&mut blocks, &block, 1024), Ok(()));
    block[500] ^= 1;
    assert_eq!(check(&mut blocks, &block, 1024), Err(Wrong::Contents));
}

/// A block that an earlier write left is of another number and another random number: each is looked at unless it is not
/// to be.
#[test]
fn the_order_and_the_random_number_count_unless_they_are_not_to() {
    for (ignores_sequence, ignores_seed) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut job = verifying(VerifyAlgorithm::Crc32c);
        if let Some(verify) = &mut job.verify {
            (verify.ignores_sequence, verify.ignores_seed) = (ignores_sequence, ignores_seed);
        }
        let mut blocks = Blocks::new(&job, 0, 1).expect("it verifies");
        let mut first = vec![0; 4096];
        blocks.fill(&mut first, 0);
        let mut second = vec![0; 4096];
        blocks.fill(&mut second, 0);
        blocks.expect(0);
        assert_eq!(check(&mut blocks, &first, 0), Ok(()));
        blocks.expect(0);
        let stale = check(&mut blocks, &first, 0);
        assert_eq!(
            stale.is_ok(),
            ignores_sequence && ignores_seed,
            "{ignores_sequence} {ignores_seed}"
        );
    }
}
