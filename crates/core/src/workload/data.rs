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
            only: false,
            read_back: true,
            fatal: false,
            backlog_ios: 0,
            backlog_batch_ios: 0,
            dump: false,
            ignores_sequence: false,
            ignores_seed: false,
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
