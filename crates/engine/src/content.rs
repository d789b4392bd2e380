//! What buffers hold: random, compressible, repeated or checkable bytes; and whether they came back whole.
//!
//! Data in: a buffer and the I/O that it belongs to. Data out: the buffer filled, or a verdict. What is verified is laid out by
//! `crate::blocks`. It must not know when or by whom a buffer is sent.

use crate::backends::WriteSource;
use crate::blocks::{Blocks, Wrong};
use crate::thread::{StartFailure, depth_of};
use fathom_core::backend::Request;
use fathom_core::rng::{Rng, split_mix};
use fathom_core::run::StartStep;
use fathom_core::workload::{Amount, Buffers, Compression, Dedupe, EngineKind, Job};
use fathom_sys::source::Source;
use std::path::Path;
use std::sync::Arc;

/// Tells the seeds of contents from those of other things: `fathomV1`, as little-endian bytes.
const MAGIC: u64 = u64::from_le_bytes(*b"fathomV1");
/// Scrambled buffers differ in every sector.
const SECTOR_BYTES: usize = 512;

/// Fills and checks the buffers of one worker.
#[derive(Debug, Clone)]
pub struct Content {
    buffers: Buffers,
    blocks: Option<Blocks>,
    /// Where blocks that do not match are left, by the files that they are of; empty: nowhere.
    dumps: Vec<String>,
    rng: Rng,
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
    let mut content = Content::new(job, 0, split_mix(job.random_seed ^ MAGIC));
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let made = Source::new(bytes, |bytes| content.prepare(bytes));
    made.map(|source| Some(Arc::new(source)))
        .map_err(|source| StartFailure {
            what: StartStep::MapWriteSource,
            path: None,
            source,
        })
}

impl Content {
    /// The contents that `job` asks for, of worker `worker` of the run (from 0). `seed`: that of contents which are not verified.
    pub fn new(job: &Job, worker: u64, seed: u64) -> Self {
        Self {
            buffers: job.buffers.clone(),
            blocks: Blocks::new(job, worker, depth_of(job)),
            dumps: Vec::new(),
            rng: Rng::new(seed),
            counter: 0,
            copies: job.buffers.dedupe.map(|dedupe| Copies::new(job, dedupe, seed)),
            source: None,
        }
    }
    /// Leaves blocks that do not match in files named after these.
    pub(crate) fn dump_as(&mut self, names: Vec<String>) {
        self.dumps = names;
    }
    /// Whether what is read back has to be announced: [`Content::expect`].
    #[inline]
    pub fn expects(&self) -> bool {
        self.blocks.as_ref().is_some_and(|blocks| blocks.knows_marks)
    }
    /// The next write, in the order in which they were sent, is read back into `slot`.
    pub fn expect(&mut self, slot: u32) {
        if let Some(blocks) = &mut self.blocks {
            blocks.expect(slot);
        }
    }
    /// What is read into `slot` was trimmed.
    pub fn expect_trimmed(&mut self, slot: u32) {
        if let Some(blocks) = &mut self.blocks {
            blocks.expect_trimmed(slot);
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
        self.blocks.is_some()
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
        if let Some(blocks) = &mut self.blocks {
            blocks.fill(buffer, request.offset);
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

    /// Whether what was read is what belongs there. `buffer` may be changed.
    pub fn check(&mut self, buffer: &mut [u8], request: &Request) -> bool {
        let Some(blocks) = &mut self.blocks else {
            return true;
        };
        let Some(name) = self.dumps.get(request.file as usize) else {
            return blocks.check(buffer, request.offset, request.slot, |_, _, _| {});
        };
        let mut wrong = Vec::new();
        let good = blocks.check(buffer, request.offset, request.slot, |what, at, bytes| {
            wrong.push((what, at, bytes.to_vec()));
        });
        for (what, at, bytes) in wrong {
            let mut files = vec![(
                if what == Wrong::Header {
                    "hdr_fail"
                } else {
                    "received"
                },
                bytes,
            )];
            if what == Wrong::Contents {
                let expected = blocks.expected(&files[0].1, at);
                files.push(("expected", expected));
            }
            for (ending, bytes) in files {
                // What cannot be left is told with the mismatch itself.
                let path = format!("{name}.{at}.{ending}");
                let _left = fathom_door::output::leave_marked(Path::new(&path), &bytes);
            }
        }
        good
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

#[cfg(test)]
mod tests;
