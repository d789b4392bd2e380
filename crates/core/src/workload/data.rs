//! What is written, how it is verified, which errors are borne.

use serde::{Deserialize, Serialize};

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
}

impl Default for Buffers {
    /// Random, filled once, scrambled: fio's default.
    fn default() -> Self {
        Self {
            zero: false,
            refill: false,
            scramble: true,
            pattern: Vec::new(),
            source_bytes: None,
            compression: None,
            dedupe: None,
            huge_pages: false,
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
    /// What is stored, where the algorithm is a pattern; else the payload to fill with (empty: random).
    pub pattern: Vec<u8>,
    /// Do not write, only check what an earlier run wrote (`verify_only`).
    pub only: bool,
    /// Read back after writing (`do_verify`).
    pub read_back: bool,
    /// End the job at the first mismatch (`verify_fatal`).
    pub fatal: bool,
}

/// A checksum, or the pattern itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerifyAlgorithm {
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// MD5.
    Md5,
    /// `xxHash`, 64 bits.
    Xxhash,
    /// SHA-256.
    Sha256,
    /// The block holds nothing but the pattern.
    Pattern,
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
