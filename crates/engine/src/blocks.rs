//! Verified blocks, laid out as fio lays them out: either program checks what the other wrote.
//!
//! Data in: a buffer and the I/O that it belongs to. Data out: the buffer filled, or what is wrong with it. The layout is that of
//! fio up to 3.40 (a header of 40 bytes, a checksum, the payload, for each interval); that of later ones (48 bytes) is read as
//! well. Where each block is written once before it is read back, a block also has to be of the write that it was drawn for:
//! the header holds a number of the write, and a random one whose sequence the reader repeats. It must not know when or by whom
//! a buffer is sent.

use crate::checksum::{SUM_BYTES, crc32c, sum, sum_bytes};
use crate::pattern::FilePattern;
use fathom_core::workload::{FileChoice, Job, Verify, VerifyAlgorithm};
use sha2::{Digest as _, Sha512};

const MAGIC: u16 = 0xacca;
/// Of the header that is written.
pub(crate) const HEADER_BYTES: usize = 40;
/// Of the header of later versions, and what tells it.
const LATER_BYTES: usize = 48;
const LATER_VERSION: u8 = 0x81;
/// The factor of fio's random contents, and of the seeds of its generators.
const CONTENT_FACTOR: u64 = 0x61C8_8646_80B5_83EB;
const SEED_FACTOR: u64 = 0x9e37_0001;

/// What tells one write from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// Random.
    seed: u64,
    /// Writes before it.
    number: u64,
}

/// The marks of a worker's writes, one after the other.
#[derive(Debug, Clone)]
struct Marks {
    random: Taus88,
    next: u64,
}

impl Marks {
    /// `worker` counts from 1, over the whole run.
    fn new(random_seed: u64, worker: u64) -> Self {
        // The fourth of fio's generators, each of which is seeded from the one before.
        let start = (0..4).fold(random_seed, |seed, _| seed.wrapping_mul(SEED_FACTOR));
        let fourth = (0..3).fold(start, |seed, _| seed.wrapping_mul(SEED_FACTOR));
        let seed = fourth.wrapping_mul(worker).wrapping_add(3);
        Self {
            random: Taus88::new(seed as u32),
            next: 0,
        }
    }

    fn take(&mut self) -> Mark {
        let (one, other) = (self.random.next(), self.random.next());
        let number = self.next;
        self.next += 1;
        Mark {
            seed: u64::from(one) * u64::from(other),
            number,
        }
    }
}

/// The generator taus88 (L'Ecuyer 1996).
#[derive(Debug, Clone)]
struct Taus88([u32; 3]);

impl Taus88 {
    fn new(seed: u32) -> Self {
        let mixed = |x: u32| x.wrapping_mul(69_069) ^ seed;
        let at_least = |x: u32, least: u32| if x < least { x + least } else { x };
        let one = at_least(mixed(53), 1);
        let two = at_least(mixed(one), 7);
        let three = at_least(mixed(two), 15);
        let mut generator = Self([one, two, three]);
        for _ in 0..6 {
            generator.next();
        }
        generator
    }

    fn next(&mut self) -> u32 {
        let step = |s: u32, a: u32, b: u32, mask: u32, d: u32| ((s & mask) << d) ^ (((s << a) ^ s) >> b);
        let [one, two, three] = &mut self.0;
        *one = step(*one, 13, 19, 0xffff_fffe, 12);
        *two = step(*two, 2, 25, 0xffff_fff8, 4);
        *three = step(*three, 3, 11, 0xffff_fff0, 17);
        *one ^ *two ^ *three
    }
}

/// What is wrong with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The header is not one, or not of this place or write.
    Header,
    /// The bytes behind it are not those that it was made for.
    Contents,
}

/// Fills and checks the blocks of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    verify: Verify,
    /// A header for each so many bytes; 0: one an I/O.
    interval: usize,
    written: Marks,
    read: Marks,
    /// The marks that the I/Os in flight must have, by their slots.
    expected: Box<[Option<Mark>]>,
    /// Whether what is read into a slot was trimmed.
    trimmed: Box<[bool]>,
    /// Whether what is read back must be of the write that it was drawn for.
    pub(crate) knows_marks: bool,
    worker: u64,
}

/// Whether what is read back is the one write of its place.
pub(crate) fn writes_once(job: &Job) -> bool {
    let pattern = &job.pattern;
    let (files, region) = (&job.files, &job.region);
    let each_once = if pattern.random {
        FilePattern::visits_each_block(job)
    } else {
        pattern.skip_bytes == 0
    };
    let whole_files = matches!(
        files.choice,
        FileChoice::RoundRobin | FileChoice::Random | FileChoice::Sequential
    );
    each_once
        && whole_files
        && !pattern.repeats_offset
        && pattern.strides.is_none()
        && !job.limit.time_based
        && region.io_size.is_none()
        && (job.numjobs == 1 || files.names.is_empty() && files.all_below.is_none())
}

/// Whether an I/O has one header, whatever its size: no other overlaps it in part.
pub(crate) fn one_header(job: &Job) -> bool {
    let Some(verify) = &job.verify else { return false };
    let one_size = job
        .used_ops()
        .all(|op| job.block_size[op].min() == job.block_size[op].max());
    verify.interval_bytes == 0 && (writes_once(job) || one_size)
}

/// The least that a header and its checksum need.
pub(crate) fn header_bytes(verify: &Verify) -> usize {
    match verify.algorithm {
        VerifyAlgorithm::Pattern => 0,
        algorithm => HEADER_BYTES + sum_bytes(algorithm) + verify.offset_bytes as usize,
    }
}

impl Blocks {
    /// Of worker `worker` of the run (from 0) with so many slots; `None`: its job verifies nothing.
    pub(crate) fn new(job: &Job, worker: u64, slots: u32) -> Option<Self> {
        let verify = job.verify.clone()?;
        let marks = Marks::new(job.random_seed, worker + 1);
        let interval = match verify.interval_bytes as usize {
            _ if one_header(job) => 0,
            0 => job.min_block_bytes().max(1) as usize,
            given => given,
        };
        let has_header = verify.algorithm != VerifyAlgorithm::Pattern;
        Some(Self {
            interval,
            read: marks.clone(),
            written: marks,
            expected: vec![None; slots as usize].into_boxed_slice(),
            trimmed: vec![false; slots as usize].into_boxed_slice(),
            knows_marks: has_header && verify.read_back && !verify.only && writes_once(job),
            verify,
            worker: worker + 1,
        })
    }

    /// The next write in the order in which they were sent is read back into `slot`.
    pub(crate) fn expect(&mut self, slot: u32) {
        let mark = self.read.take();
        if let Some(place) = self.expected.get_mut(slot as usize) {
            *place = Some(mark);
        }
    }

    /// What is read into `slot` was trimmed.
    pub(crate) fn expect_trimmed(&mut self, slot: u32) {
        if let Some(place) = self.trimmed.get_mut(slot as usize) {
            *place = true;
        }
    }

    /// Makes the buffer of a write at `offset` ready.
    pub(crate) fn fill(&mut self, buffer: &mut [u8], offset: u64) {
        let mut mark = self.written.take();
        if self.verify.pattern.is_empty() {
            fill_random(buffer, mark.seed);
        } else {
            fill_pattern(&self.verify, buffer, offset);
            mark.seed = 0;
        }
        if self.verify.algorithm == VerifyAlgorithm::Pattern {
            return;
        }
        let mut at = offset;
        for chunk in buffer.chunks_mut(self.chunk_bytes(buffer.len())) {
            self.put_header(chunk, at, mark);
            at += chunk.len() as u64;
        }
    }

    fn chunk_bytes(&self, io_bytes: usize) -> usize {
        match self.interval {
            0 => io_bytes.max(1),
            interval => interval,
        }
    }

    fn put_header(&self, chunk: &mut [u8], offset: u64, mark: Mark) {
        let algorithm = self.verify.algorithm;
        let used = HEADER_BYTES + sum_bytes(algorithm);
        // The rest of an I/O that has no room for another header.
        if chunk.len() < used + self.verify.offset_bytes as usize {
            return;
        }
        let len = chunk.len() as u32;
        let sum = sum(algorithm, &chunk[used..]);
        chunk[..2].copy_from_slice(&MAGIC.to_le_bytes());
        chunk[2..4].copy_from_slice(&u16::from(number_of(algorithm)).to_le_bytes());
        chunk[4..8].copy_from_slice(&len.to_le_bytes());
        chunk[8..16].copy_from_slice(&mark.seed.to_le_bytes());
        chunk[16..24].copy_from_slice(&offset.to_le_bytes());
        // When it was written: nobody looks at it.
        chunk[24..32].fill(0);
        chunk[32..34].copy_from_slice(&(self.worker as u16).to_le_bytes());
        chunk[34..36].copy_from_slice(&(mark.number as u16).to_le_bytes());
        let seal = crc32c(&chunk[..36]).to_le_bytes();
        chunk[36..HEADER_BYTES].copy_from_slice(&seal);
        chunk[HEADER_BYTES..used].copy_from_slice(&sum[..used - HEADER_BYTES]);
        self.swap_header(chunk, used);
    }

    /// To where it is stored, or back from there.
    fn swap_header(&self, chunk: &mut [u8], used: usize) {
        let to = self.verify.offset_bytes as usize;
        if to == 0 {
            return;
        }
        for at in 0..used {
            chunk.swap(at, to + at);
        }
    }

    /// Whether what was read into `slot` from `offset` is what belongs there: each interval, and what is wrong with it.
    pub(crate) fn check(
        &mut self,
        buffer: &mut [u8],
        offset: u64,
        slot: u32,
        mut found: impl FnMut(Wrong, u64, &[u8]),
    ) -> bool {
        let mark = self.expected.get_mut(slot as usize).and_then(Option::take);
        let trimmed = self.trimmed.get_mut(slot as usize).map(std::mem::take);
        if trimmed == Some(true) {
            let good = self.verify.trimmed_holds_anything || buffer.iter().all(|&byte| byte == 0);
            if !good {
                found(Wrong::Contents, offset, buffer);
            }
            return good;
        }
        if self.verify.algorithm == VerifyAlgorithm::Null {
            return true;
        }
        if self.verify.algorithm == VerifyAlgorithm::Pattern {
            let good = is_pattern(&self.verify, buffer, offset, 0);
            if !good {
                found(Wrong::Contents, offset, buffer);
            }
            return good;
        }
        let mut good = true;
        let mut within = 0;
        for chunk in buffer.chunks_mut(self.chunk_bytes(buffer.len())) {
            let at = offset + within as u64;
            if let Err(wrong) = self.check_chunk(chunk, (offset, within), mark) {
                good = false;
                found(wrong, at, chunk);
            }
            within += chunk.len();
        }
        good
    }

    fn check_chunk(
        &self,
        chunk: &mut [u8],
        (start, within): (u64, usize),
        mark: Option<Mark>,
    ) -> Result<(), Wrong> {
        let algorithm = self.verify.algorithm;
        let stored = sum_bytes(algorithm);
        if chunk.len() < HEADER_BYTES + stored + self.verify.offset_bytes as usize {
            return Ok(());
        }
        // How long the header is decides how much was swapped; the first bytes tell.
        let to = self.verify.offset_bytes as usize;
        let later = chunk.get(to + 2) == Some(&LATER_VERSION);
        let header = if later { LATER_BYTES } else { HEADER_BYTES };
        if chunk.len() < header + stored + to {
            return Err(Wrong::Header);
        }
        self.swap_header(chunk, header + stored);
        let expected = Expected {
            len: chunk.len() as u32,
            offset: start + within as u64,
            mark: mark.map(|mark| Mark {
                seed: if self.verify.pattern.is_empty() {
                    mark.seed
                } else {
                    0
                },
                ..mark
            }),
            seed: !self.verify.ignores_seed,
            sequence: !self.verify.ignores_sequence,
        };
        if !expected.holds(chunk, later) {
            return Err(Wrong::Header);
        }
        let (head, payload) = chunk.split_at(header + stored);
        let is_good = match algorithm {
            VerifyAlgorithm::PatternHeader => {
                is_pattern(&self.verify, payload, start, within + header + stored)
            }
            VerifyAlgorithm::Sha512 => {
                let told = &head[header..];
                told == sum(algorithm, payload) || told[..64] == Sha512::digest(payload)[..]
            }
            algorithm => head[header..] == sum(algorithm, payload)[..stored],
        };
        if is_good { Ok(()) } else { Err(Wrong::Contents) }
    }

    /// What a block at `offset` that does not match should have been, as far as its header tells.
    pub(crate) fn expected(&self, chunk: &[u8], offset: u64) -> Vec<u8> {
        let mut expected = vec![0; chunk.len()];
        if self.verify.pattern.is_empty() {
            let seed = chunk.get(8..16).and_then(|bytes| bytes.try_into().ok());
            fill_random(&mut expected, seed.map_or(0, u64::from_le_bytes));
        } else {
            fill_pattern(&self.verify, &mut expected, offset);
        }
        let header = header_bytes(&self.verify).min(chunk.len());
        expected[..header].copy_from_slice(&chunk[..header]);
        expected
    }
}

/// What a header must say.
struct Expected {
    len: u32,
    offset: u64,
    mark: Option<Mark>,
    /// Whether the random number of the mark counts, and the number of the write.
    seed: bool,
    sequence: bool,
}

impl Expected {
    fn holds(&self, chunk: &[u8], later: bool) -> bool {
        let number = |at: usize, bytes: usize| {
            let mut wide = [0; 8];
            wide[..bytes].copy_from_slice(&chunk[at..at + bytes]);
            u64::from_le_bytes(wide)
        };
        let sealed = if later { 44 } else { 36 };
        let place = number(0, 2) == u64::from(MAGIC)
            && number(4, 4) == u64::from(self.len)
            && number(16, 8) == self.offset
            && number(sealed, 4) == u64::from(crc32c(&chunk[..sealed]));
        let write = self.mark.is_none_or(|mark| {
            let told = if later { number(32, 8) } else { number(34, 2) };
            let expected = if later { mark.number } else { mark.number & 0xffff };
            (!self.seed || number(8, 8) == mark.seed) && (!self.sequence || told == expected)
        });
        place && write
    }
}

/// The number of a checksum in a header.
fn number_of(algorithm: VerifyAlgorithm) -> u8 {
    match algorithm {
        VerifyAlgorithm::Meta => 1,
        VerifyAlgorithm::Md5 => 2,
        VerifyAlgorithm::Crc64 => 3,
        VerifyAlgorithm::Crc32 => 4,
        VerifyAlgorithm::Crc32c => 5,
        VerifyAlgorithm::Crc16 => 7,
        VerifyAlgorithm::Crc7 => 8,
        VerifyAlgorithm::Sha256 => 9,
        VerifyAlgorithm::Sha512 => 10,
        VerifyAlgorithm::Sha3_224 => 11,
        VerifyAlgorithm::Sha3_256 => 12,
        VerifyAlgorithm::Sha3_384 => 13,
        VerifyAlgorithm::Sha3_512 => 14,
        VerifyAlgorithm::Xxhash => 15,
        VerifyAlgorithm::Sha1 => 16,
        VerifyAlgorithm::PatternHeader => 17,
        VerifyAlgorithm::Pattern => 18,
        VerifyAlgorithm::Null => 19,
    }
}

/// fio's random contents: words of four lanes in turn.
fn fill_random(buffer: &mut [u8], seed: u64) {
    let mut lanes = [1u64, 2, 3, 5].map(|factor| seed.wrapping_mul(factor));
    for part in buffer.chunks_mut(32) {
        for (word, lane) in part.chunks_mut(8).zip(&mut lanes) {
            *lane = lane.wrapping_mul(CONTENT_FACTOR);
            let bytes = lane.to_le_bytes();
            word.copy_from_slice(&bytes[..word.len()]);
        }
    }
}

/// The pattern over and over, from the start of the I/O at `offset`, and from each of its intervals anew.
fn fill_pattern(verify: &Verify, buffer: &mut [u8], offset: u64) {
    if verify.pattern.is_empty() {
        buffer.fill(0);
        return;
    }
    let interval = pattern_interval(verify);
    let mut offset = offset;
    for piece in buffer.chunks_mut(interval) {
        fill_piece(verify, piece, offset);
        offset = offset.wrapping_add(interval as u64);
    }
}

/// After how many bytes the pattern begins anew.
fn pattern_interval(verify: &Verify) -> usize {
    match verify.pattern_interval_bytes {
        0 => usize::MAX,
        bytes => bytes as usize,
    }
}

fn fill_piece(verify: &Verify, piece: &mut [u8], offset: u64) {
    let pattern = &verify.pattern;
    for part in piece.chunks_mut(pattern.len()) {
        part.copy_from_slice(&pattern[..part.len()]);
        for &at in &verify.pattern_offsets {
            let at = (at as usize).min(part.len());
            let end = (at + 8).min(part.len());
            part[at..end].copy_from_slice(&offset.to_le_bytes()[..end - at]);
        }
    }
}

/// Whether `bytes`, which begin `within` an I/O at `offset`, are the pattern.
fn is_pattern(verify: &Verify, bytes: &[u8], offset: u64, within: usize) -> bool {
    let len = verify.pattern.len();
    if len == 0 {
        return bytes.iter().all(|&byte| byte == 0);
    }
    let interval = pattern_interval(verify);
    let expected = |at: usize| {
        let anew = if verify.pattern_interval_bytes == 0 {
            0
        } else {
            at - at % interval
        };
        let place = (at - anew) % len;
        let stands = |&start: &u32| (start as usize..start as usize + 8).contains(&place);
        match verify.pattern_offsets.iter().rev().find(|start| stands(start)) {
            Some(&start) => {
                let offset = offset.wrapping_add(anew as u64);
                offset.to_le_bytes()[place - start as usize]
            }
            None => verify.pattern[place],
        }
    };
    if verify.pattern_offsets.is_empty() && within == 0 && interval == usize::MAX {
        return bytes
            .chunks(len)
            .all(|part| *part == verify.pattern[..part.len()]);
    }
    bytes.iter().zip(within..).all(|(&byte, at)| byte == expected(at))
}

// What is read is at least as long as the longest checksum, where it is compared in full.
const _: () = assert!(SUM_BYTES == 128);

#[cfg(test)]
mod tests;
