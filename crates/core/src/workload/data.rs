//! What is written, how it is verified, which errors are borne.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The contents of write buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// All zero (`zero_buffers`).
    pub zero: bool,
    /// New contents for each write (`refill_buffers`); else filled once, before the run.
    pub refill: bool,
    /// Change a few bytes before each write, so that no two blocks are equal (`scramble_buffers`).
    pub scramble: bool,
    /// Repeat these bytes (`buffer_pattern`); empty: random.
    pub pattern: Vec<u8>,
    /// The file that holds them, until it is read.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub pattern_file: Option<PathBuf>,
    /// Take what is written from a store of so many bytes, filled once, each time from another place in it (diskspd's
    /// `-Zsize`). With `pattern`, the store repeats it. `None`: each write buffer has contents of its own.
    #[serde(default)]
    pub source_bytes: Option<u64>,
    /// How far random contents can be compressed.
    pub compression: Option<Compression>,
    /// Blocks that come again (`dedupe_percentage`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub dedupe: Option<Dedupe>,
    /// The buffers lie in large pages, of which the system must have enough (diskspd's `-l`).
    #[serde(default)]
    pub huge_pages: bool,
    /// How large such a page is (`hugepage-size`), in bytes; 0: 2 MiB.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub huge_page_bytes: u64,
}

impl Default for Buffers {
    /// Random, filled once, scrambled: fio's default.
    fn default() -> Self {
        Self {
            zero: false,
            refill: false,
            scramble: true,
            pattern: Vec::new(),
            pattern_file: None,
            source_bytes: None,
            compression: None,
            dedupe: None,
            huge_pages: false,
            huge_page_bytes: 0,
        }
    }
}

/// Blocks that are copies of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dedupe {
    /// The share of copies, 1 to 100.
    pub percent: u8,
    /// Copies are of a set of so many blocks, as a percentage of those of the region; `None`: of the block before.
    pub working_set_percent: Option<u8>,
    /// All jobs share that set.
    pub shared: bool,
}

/// Compressible contents: each chunk ends with a run of equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compression {
    /// The share that a compressor can remove, 0 to 100.
    pub percent: u8,
    /// The chunk in which that share holds, in bytes; 0: the block.
    pub chunk_bytes: u32,
}

/// How written data is checked when read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// The checksum or pattern.
    pub algorithm: VerifyAlgorithm,
    /// A header and a checksum for each so many bytes; 0: one a block.
    pub interval_bytes: u32,
    /// Where in the interval the header is (`verify_offset`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub offset_bytes: u32,
    /// What is stored, where the algorithm is a pattern; else the payload to fill with (empty: random).
    pub pattern: Vec<u8>,
    /// The file that holds it, until it is read.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub pattern_file: Option<PathBuf>,
    /// Where in the pattern the offset of the I/O stands, in 8 bytes with the lowest first (`%o`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub pattern_offsets: Vec<u32>,
    /// The pattern begins anew after so many bytes, with the offset there (`verify_pattern_interval`); 0: with each I/O.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub pattern_interval_bytes: u32,
    /// Do not write, only check what an earlier run wrote (`verify_only`).
    pub only: bool,
    /// Read back after writing (`do_verify`).
    pub read_back: bool,
    /// End the job at the first mismatch (`verify_fatal`).
    pub fatal: bool,
    /// Read back after every so many writes (`verify_backlog`); 0: when all are done.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub backlog_ios: u32,
    /// So many of them at a time (`verify_backlog_batch`); 0: all.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub backlog_batch_ios: u32,
    /// Leave blocks that do not match in files, beside what was expected (`verify_dump`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub dump: bool,
    /// Which write of a block it is, is not looked at (`verify_write_sequence=0`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ignores_sequence: bool,
    /// The random number in the header is not looked at (`verify_header_seed=0`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ignores_seed: bool,
    /// Of the blocks that were written, so many percent are trimmed (`trim_percentage`) …
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub trim_percent: u8,
    /// … after every so many writes (`trim_backlog`; 0: never) …
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub trim_every_ios: u32,
    /// … so many at a time (`trim_backlog_batch`; 0: as many as that).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub trim_batch_ios: u32,
    /// Trimmed blocks may hold anything (`trim_verify_zero=0`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub trimmed_holds_anything: bool,
    /// How far the writes came is not kept (`verify_state_save=0`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub forgets_state: bool,
    /// Read how far an earlier run came from a file (`verify_state_load`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub loads_state: bool,
    /// How far each worker of that run came, once it is read: nothing beyond is read back. Empty: all is there.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub written: Vec<WrittenSoFar>,
}

impl Verify {
    /// Whether blocks are trimmed while the load goes on. Where they are read back as it goes on none is, as with fio.
    pub const fn trims(&self) -> bool {
        self.trim_percent > 0 && self.trim_every_ios > 0 && self.backlog_ios == 0 && !self.only
    }
}

/// How far the writes of a worker came.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WrittenSoFar {
    /// Writes sent.
    pub writes: u64,
    /// At most so many of them, the last ones, may not have been completed.
    pub depth: u32,
    /// Which of these were.
    pub last: LastWrites,
}

/// What is known of the last writes of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LastWrites {
    /// These were completed: the number of the file, and the offset in bytes.
    Completed(Vec<(u32, u64)>),
    /// These were not: their numbers, from 0.
    InFlight(Vec<u64>),
}

impl Default for LastWrites {
    fn default() -> Self {
        Self::Completed(Vec::new())
    }
}

impl WrittenSoFar {
    /// Whether the write with the number `index` (from 0), at `offset_bytes` of the file `file`, was completed, as far as
    /// it is known.
    pub fn holds(&self, index: u64, file: u32, offset_bytes: u64) -> bool {
        if index >= self.writes {
            return false;
        }
        match &self.last {
            LastWrites::InFlight(numbers) => !numbers.contains(&index),
            LastWrites::Completed(places) => {
                let certain = self.writes.saturating_sub(self.depth.into());
                index < certain || places.contains(&(file, offset_bytes))
            }
        }
    }
}

impl Default for Verify {
    /// A pattern that is empty still, read back after writing.
    fn default() -> Self {
        Self {
            algorithm: VerifyAlgorithm::Pattern,
            interval_bytes: 0,
            offset_bytes: 0,
            pattern: Vec::new(),
            pattern_file: None,
            pattern_offsets: Vec::new(),
            pattern_interval_bytes: 0,
            only: false,
            read_back: true,
            fatal: false,
            backlog_ios: 0,
            backlog_batch_ios: 0,
            dump: false,
            ignores_sequence: false,
            ignores_seed: false,
            trim_percent: 0,
            trim_every_ios: 0,
            trim_batch_ios: 0,
            trimmed_holds_anything: false,
            forgets_state: false,
            loads_state: false,
            written: Vec::new(),
        }
    }
}

/// A checksum, or the pattern itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyAlgorithm {
    Crc7,
    Crc16,
    Crc32,
    /// CRC-32C (Castagnoli).
    Crc32c,
    Crc64,
    /// MD5.
    Md5,
    /// `xxHash`, 32 bits.
    Xxhash,
    Sha1,
    /// SHA-256.
    Sha256,
    Sha512,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    /// A header, and no checksum.
    Meta,
    /// A header, and the pattern behind it.
    PatternHeader,
    /// The block holds nothing but the pattern.
    Pattern,
    /// A header that is not looked at.
    Null,
}

impl VerifyAlgorithm {
    /// All of them, by the names that job files use.
    pub const ALL: [(&str, Self); 18] = [
        ("crc7", Self::Crc7),
        ("crc16", Self::Crc16),
        ("crc32", Self::Crc32),
        ("crc32c", Self::Crc32c),
        ("crc64", Self::Crc64),
        ("md5", Self::Md5),
        ("xxhash", Self::Xxhash),
        ("sha1", Self::Sha1),
        ("sha256", Self::Sha256),
        ("sha512", Self::Sha512),
        ("sha3-224", Self::Sha3_224),
        ("sha3-256", Self::Sha3_256),
        ("sha3-384", Self::Sha3_384),
        ("sha3-512", Self::Sha3_512),
        ("meta", Self::Meta),
        ("pattern_hdr", Self::PatternHeader),
        ("pattern", Self::Pattern),
        ("null", Self::Null),
    ];
}

/// Errors that are counted without ending the job (`continue_on_error`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ErrorRule {
    /// Errors of reads.
    pub read: bool,
    /// Errors of writes, trims and syncs.
    pub write: bool,
    /// Mismatches found by verification.
    pub verify: bool,
}
