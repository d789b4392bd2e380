//! What buffers hold: random, compressible, repeated or checkable bytes; and whether they came back whole.
//!
//! Data in: a buffer and the I/O that it belongs to. Data out: the buffer filled, or a verdict. Contents
//! depend on the place alone (file, offset), so that writing a block again changes nothing and any read of it
//! can be checked. The file is known by its salt: a later process that is to check what this one wrote needs the
//! same seed of the job and the same order of its files. It must not know when or by whom a buffer is sent.

use crate::backends::WriteSource;
use crate::checksum::{DIGEST_BYTES, digest};
use crate::plan::JobPlan;
use crate::thread::StartFailure;
use fathom_core::backend::Request;
use fathom_core::rng::{Rng, split_mix};
use fathom_core::run::StartStep;
use fathom_core::workload::{Amount, Buffers, Compression, Dedupe, EngineKind, Job, Verify, VerifyAlgorithm};
use fathom_sys::source::Source;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Begins each verified chunk: `fathomV1`, as little-endian bytes.
const MAGIC: u64 = u64::from_le_bytes(*b"fathomV1");
/// Magic, offset, length and algorithm, digest of the payload; checksum of all that, and the file's mark.
pub const HEADER_BYTES: usize = 8 + 8 + 8 + DIGEST_BYTES + 8;
/// Scrambled buffers differ in every sector.
const SECTOR_BYTES: usize = 512;

/// Fills and checks the buffers of one worker.
#[derive(Debug, Clone)]
pub struct Content {
    buffers: Buffers,
    verify: Option<Verify>,
    interval: usize,
    rng: Rng,
    salts: Vec<u64>,
    counter: u64,
    /// Copies among the blocks, where there are any.
    copies: Option<Copies>,
    /// What writes are copied from, where they come from a store and the backend cannot take them from there.
    source: Option<WriteSource>,
}

/// Which blocks are copies of others: each block is what its seed makes.
#[derive(Debug, Clone)]
struct Copies {
    percent: u8,
    /// Copies are of one of so many blocks; `None`: of the one before.
    set_blocks: Option<u64>,
    /// Of the set's blocks.
    base: u64,
    last: Option<u64>,
}

impl Copies {
    /// What the set is a share of, where nothing says how large the region is.
    const REGION_BYTES: u64 = 1 << 30;

    fn new(job: &Job, dedupe: Dedupe, seed: u64) -> Self {
        let region = match job.region.size {
            Some(Amount::Bytes(bytes)) => bytes,
            _ => job
                .region
                .file_size
                .map_or(Self::REGION_BYTES, |(_, bytes)| bytes),
        };
        let blocks = region / job.min_block_bytes().max(1);
        let set = |percent: u8| (blocks * u64::from(percent) / 100).max(1);
        Self {
            percent: dedupe.percent,
            set_blocks: dedupe.working_set_percent.map(set),
            base: if dedupe.shared {
                MAGIC
            } else {
                split_mix(seed ^ MAGIC)
            },
            last: None,
        }
    }

    /// The seed of the next block.
    fn next(&mut self, rng: &mut Rng) -> u64 {
        let fresh = rng.next_u64();
        let copy = rng.percent(self.percent);
        let seed = match (self.set_blocks, self.last) {
            (Some(blocks), _) if copy => split_mix(self.base ^ rng.below(blocks)),
            (None, Some(last)) if copy => last,
            _ => fresh,
        };
        self.last = Some(seed);
        seed
    }
}

/// What all writes of `job` are taken from; `None`: each buffer has contents of its own.
pub(crate) fn source(job: &Job) -> Result<Option<Arc<Source>>, StartFailure> {
    let wanted = job.buffers.source_bytes.filter(|_| {
        // What is verified depends on its place.
        job.verify.is_none() && job.pattern.mix.uses()[1] && job.engine.kind != EngineKind::Null
    });
    let Some(bytes) = wanted else { return Ok(None) };
    let mut content = Content::new(job, &[], split_mix(job.random_seed ^ MAGIC));
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let made = Source::new(bytes, |bytes| content.prepare(bytes));
    made.map(|source| Some(Arc::new(source)))
        .map_err(|source| StartFailure {
            what: StartStep::MapWriteSource,
            path: None,
            source,
        })
}

/// What the verified contents of each file depend on besides the offset, for each worker of a job: its seed and
/// the file's number among the job's files. Workers that share a file agree; a block that went to another file
/// of the job is found.
pub(crate) fn salts(plan: &JobPlan) -> Vec<Vec<u64>> {
    let mut numbers: BTreeMap<&Path, u64> = BTreeMap::new();
    let workers = plan.workers.iter().map(|worker| {
        let files = worker.files.iter().map(|file| {
            let next = numbers.len() as u64;
            let number = *numbers.entry(&file.path).or_insert(next);
            split_mix(split_mix(MAGIC ^ plan.job.random_seed) ^ number)
        });
        files.collect()
    });
    workers.collect()
}

impl Content {
    /// The contents that `job` asks for. `salts`: what each file's verified contents depend on (0 where there is
    /// none); `seed`: that of contents which are not verified.
    pub fn new(job: &Job, salts: &[u64], seed: u64) -> Self {
        let interval = match &job.verify {
            // A bare pattern has no headers to be spread: as in fio, it begins anew with each block.
            Some(verify) if verify.algorithm != VerifyAlgorithm::Pattern => verify.interval_bytes as usize,
            _ => 0,
        };
        let interval = if interval == 0 {
            job.min_block_bytes().max(1) as usize
        } else {
            interval
        };
        Self {
            buffers: job.buffers.clone(),
            verify: job.verify.clone(),
            interval,
            rng: Rng::new(seed),
            salts: salts.to_vec(),
            counter: 0,
            copies: job.buffers.dedupe.map(|dedupe| Copies::new(job, dedupe, seed)),
            source: None,
        }
    }

    /// Writes come from a store: the backend takes them from there, or, with `copied`, they are copied into the buffers.
    pub(crate) fn comes_from(&mut self, copied: Option<WriteSource>) {
        (self.buffers.refill, self.buffers.scramble) = (false, false);
        self.source = copied;
    }

    /// Whether buffers change before each write.
    #[inline]
    pub fn fills_each(&self) -> bool {
        self.verify.is_some()
            || self.source.is_some()
            || self.copies.is_some()
            || self.buffers.refill
            || (self.buffers.scramble && self.is_random())
    }

    fn is_random(&self) -> bool {
        !self.buffers.zero && self.buffers.pattern.is_empty()
    }

    /// Fills a buffer for the first time, before the run.
    pub fn prepare(&mut self, buffer: &mut [u8]) {
        if self.buffers.zero {
            buffer.fill(0);
        } else if !self.buffers.pattern.is_empty() {
            repeat(&self.buffers.pattern, buffer);
        } else {
            match self.buffers.compression {
                None => self.rng.fill(buffer),
                Some(compression) => self.fill_compressible(buffer, compression),
            }
        }
    }

    /// Makes the buffer of a write ready. `buffer` is exactly as long as the write.
    pub fn fill(&mut self, buffer: &mut [u8], request: &Request) {
        if self.verify.is_some() {
            self.fill_verifiable(buffer, request);
        } else if let Some(source) = &mut self.source {
            buffer.copy_from_slice(source.take(request.len));
        } else if let Some(copies) = &mut self.copies {
            let seed = copies.next(&mut self.rng);
            let own = std::mem::replace(&mut self.rng, Rng::new(seed));
            self.prepare(buffer);
            self.rng = own;
        } else if self.buffers.refill {
            self.prepare(buffer);
        } else {
            self.scramble(buffer, request);
        }
    }

    /// A number of its own at the head of each sector: no two blocks are equal.
    fn scramble(&mut self, buffer: &mut [u8], request: &Request) {
        self.counter = self.counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let stamp = (self.counter ^ request.offset).to_le_bytes();
        for sector in buffer.chunks_mut(SECTOR_BYTES) {
            let len = sector.len().min(stamp.len());
            sector[..len].copy_from_slice(&stamp[..len]);
        }
    }

    fn fill_compressible(&mut self, buffer: &mut [u8], compression: Compression) {
        let chunk = match compression.chunk_bytes as usize {
            0 => buffer.len().max(1),
            given => given,
        };
        for part in buffer.chunks_mut(chunk) {
            let random = part.len() * (100 - usize::from(compression.percent.min(100))) / 100;
            let (first, rest) = part.split_at_mut(random);
            self.rng.fill(first);
            rest.fill(0);
        }
    }

    fn fill_verifiable(&mut self, buffer: &mut [u8], request: &Request) {
        let Some(verify) = &self.verify else { return };
        if verify.algorithm == VerifyAlgorithm::Pattern {
            // In a larger block it begins anew where a smaller one may begin: the same place, the same bytes.
            for part in buffer.chunks_mut(self.interval) {
                repeat(&verify.pattern, part);
            }
            return;
        }
        let mut offset = request.offset;
        let salt = self.salt(request.file);
        for chunk in buffer.chunks_mut(self.interval.max(HEADER_BYTES)) {
            if chunk.len() >= HEADER_BYTES {
                fill_chunk(chunk, offset, verify, salt);
            } else {
                fill_tail(chunk, offset, salt);
            }
            offset += chunk.len() as u64;
        }
    }

    fn salt(&self, file: u32) -> u64 {
        self.salts.get(file as usize).copied().unwrap_or(0)
    }

    /// Whether what was read is what belongs there.
    pub fn check(&self, buffer: &[u8], request: &Request) -> bool {
        let Some(verify) = &self.verify else { return true };
        if verify.algorithm == VerifyAlgorithm::Pattern {
            if verify.pattern.is_empty() {
                return buffer.iter().all(|byte| *byte == 0);
            }
            let repeats = |part: &[u8]| part == &verify.pattern[..part.len()];
            return buffer
                .chunks(self.interval)
                .all(|part| part.chunks(verify.pattern.len()).all(repeats));
        }
        let mut offset = request.offset;
        let salt = self.salt(request.file);
        buffer.chunks(self.interval.max(HEADER_BYTES)).all(|chunk| {
            let good = if chunk.len() >= HEADER_BYTES {
                check_chunk(chunk, offset, verify, salt)
            } else {
                let mut expected = [0; HEADER_BYTES];
                fill_tail(&mut expected[..chunk.len()], offset, salt);
                chunk == &expected[..chunk.len()]
            };
            offset += chunk.len() as u64;
            good
        })
    }
}

/// `pattern` over and over.
fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    if pattern.is_empty() {
        buffer.fill(0);
        return;
    }
    for part in buffer.chunks_mut(pattern.len()) {
        part.copy_from_slice(&pattern[..part.len()]);
    }
}

/// The rest of a block that is too short for a header: known bytes, compared as they are.
fn fill_tail(tail: &mut [u8], offset: u64, salt: u64) {
    Rng::new(split_mix(salt ^ offset)).fill(tail);
}

fn fill_chunk(chunk: &mut [u8], offset: u64, verify: &Verify, salt: u64) {
    let len = chunk.len() as u64;
    let (header, payload) = chunk.split_at_mut(HEADER_BYTES);
    if verify.pattern.is_empty() {
        Rng::new(split_mix(salt ^ offset)).fill(payload);
    } else {
        repeat(&verify.pattern, payload);
    }
    header[..8].copy_from_slice(&MAGIC.to_le_bytes());
    header[8..16].copy_from_slice(&offset.to_le_bytes());
    header[16..24].copy_from_slice(&(len << 8 | verify.algorithm as u64).to_le_bytes());
    header[24..24 + DIGEST_BYTES].copy_from_slice(&digest(verify.algorithm, payload));
    let seal = seal(header, salt);
    header[HEADER_BYTES - 8..].copy_from_slice(&seal.to_le_bytes());
}

/// The end of a header: its checksum in the low half, the mark of the file in the high one.
fn seal(header: &[u8], salt: u64) -> u64 {
    u64::from(crc32c::crc32c(&header[..HEADER_BYTES - 8])) | (salt >> 32 << 32)
}

fn check_chunk(chunk: &[u8], offset: u64, verify: &Verify, salt: u64) -> bool {
    let (header, payload) = chunk.split_at(HEADER_BYTES);
    header[..8] == MAGIC.to_le_bytes()
        && header[8..16] == offset.to_le_bytes()
        && header[16..24] == ((chunk.len() as u64) << 8 | verify.algorithm as u64).to_le_bytes()
        && header[HEADER_BYTES - 8..] == seal(header, salt).to_le_bytes()
        && header[24..24 + DIGEST_BYTES] == digest(verify.algorithm, payload)
}

#[cfg(test)]
mod tests;
