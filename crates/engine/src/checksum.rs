//! The checksums of verified blocks, as fio stores them.
//!
//! Data in: the bytes behind a header. Data out: a checksum in the width and the order of bytes that fio has. Digests and cyclic
//! redundancy checks come from libraries; what is fio's own about them (starts, orders, padding) is here, measured against
//! fio 3.33 and 3.42. It must not know headers.

use crc::{Algorithm, Crc, Table};
use fathom_core::workload::VerifyAlgorithm;
use md5::Md5;
use sha1::Sha1;
use sha2::Digest as _;
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Room for the longest: SHA-512 with what fio stores behind it.
pub(crate) const SUM_BYTES: usize = 128;

const fn algorithm<W>(width: u8, poly: W, init: W, reflected: bool, xorout: W, zero: W) -> Algorithm<W>
where
    W: crc::Width + Copy,
{
    Algorithm {
        width,
        poly,
        init,
        refin: reflected,
        refout: reflected,
        xorout,
        check: zero,
        residue: zero,
    }
}

const CRC64: Algorithm<u64> = algorithm(64, u64::reverse_bits(0x95AC_9329_AC4B_C9B5), 0, true, 0, 0);
const CRC32: Algorithm<u32> = algorithm(32, 0x04C1_1DB7, 0, false, 0, 0);
const CRC16: Algorithm<u16> = algorithm(16, u16::reverse_bits(0xA001), 0, true, 0, 0);
const CRC7: Algorithm<u8> = algorithm(7, 0x09, 0, false, 0, 0);

static TABLE64: Crc<u64, Table<1>> = Crc::<u64, Table<1>>::new(&CRC64);
static TABLE32: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC32);
static TABLE16: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC16);
static TABLE7: Crc<u8, Table<1>> = Crc::<u8, Table<1>>::new(&CRC7);

/// CRC-32C without its final inversion, as fio has it.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    !crc32c::crc32c(bytes)
}

/// How many bytes of the checksum are stored.
pub(crate) const fn sum_bytes(algorithm: VerifyAlgorithm) -> usize {
    match algorithm {
        VerifyAlgorithm::Meta
        | VerifyAlgorithm::PatternHeader
        | VerifyAlgorithm::Pattern
        | VerifyAlgorithm::Null => 0,
        VerifyAlgorithm::Md5 => 16,
        VerifyAlgorithm::Crc64 => 8,
        VerifyAlgorithm::Crc32 | VerifyAlgorithm::Crc32c | VerifyAlgorithm::Xxhash => 4,
        VerifyAlgorithm::Crc16 => 2,
        VerifyAlgorithm::Crc7 => 1,
        VerifyAlgorithm::Sha1 => 20,
        VerifyAlgorithm::Sha512 => 128,
        VerifyAlgorithm::Sha3_224 => 28,
        VerifyAlgorithm::Sha3_256 => 32,
        VerifyAlgorithm::Sha3_384 => 48,
        VerifyAlgorithm::Sha256 | VerifyAlgorithm::Sha3_512 => 64,
    }
}

/// The checksum of `payload`, in the first [`sum_bytes`] of what is returned.
pub(crate) fn sum(algorithm: VerifyAlgorithm, payload: &[u8]) -> [u8; SUM_BYTES] {
    let mut sum = [0; SUM_BYTES];
    match algorithm {
        VerifyAlgorithm::Meta
        | VerifyAlgorithm::PatternHeader
        | VerifyAlgorithm::Pattern
        | VerifyAlgorithm::Null => {}
        VerifyAlgorithm::Md5 => put(&mut sum, &Md5::digest(payload)),
        VerifyAlgorithm::Crc64 => put(&mut sum, &TABLE64.checksum(payload).to_le_bytes()),
        VerifyAlgorithm::Crc32 => put(&mut sum, &TABLE32.checksum(payload).to_le_bytes()),
        VerifyAlgorithm::Crc32c => put(&mut sum, &crc32c(payload).to_le_bytes()),
        VerifyAlgorithm::Crc16 => put(&mut sum, &TABLE16.checksum(payload).to_le_bytes()),
        VerifyAlgorithm::Crc7 => put(&mut sum, &[TABLE7.checksum(payload)]),
        VerifyAlgorithm::Xxhash => put(&mut sum, &xxhash_rust::xxh32::xxh32(payload, 1).to_le_bytes()),
        VerifyAlgorithm::Sha1 => {
            put(&mut sum, &Sha1::digest(payload));
            for word in sum[..20].chunks_exact_mut(4) {
                word.reverse();
            }
        }
        VerifyAlgorithm::Sha256 => sha256(&mut sum, payload),
        VerifyAlgorithm::Sha512 => sha512(&mut sum, payload),
        VerifyAlgorithm::Sha3_224 => put(&mut sum, &Sha3_224::digest(payload)),
        VerifyAlgorithm::Sha3_256 => put(&mut sum, &Sha3_256::digest(payload)),
        VerifyAlgorithm::Sha3_384 => put(&mut sum, &Sha3_384::digest(payload)),
        VerifyAlgorithm::Sha3_512 => put(&mut sum, &Sha3_512::digest(payload)),
    }
    sum
}

fn put(sum: &mut [u8], bytes: &[u8]) {
    sum[..bytes.len()].copy_from_slice(bytes);
}

/// The last block of SHA-256: the rest of the payload, a bit, zeros, and the length in bits, lowest byte first as fio has it.
/// The whole block before it, where the length has no room beside the rest.
fn padded256(payload: &[u8]) -> ([u8; 64], Option<[u8; 64]>) {
    let rest = &payload[payload.len() / 64 * 64..];
    let mut first = [0; 64];
    put(&mut first, rest);
    first[rest.len()] = 0x80;
    let length = (payload.len() as u64 * 8).to_le_bytes();
    if rest.len() < 56 {
        first[56..].copy_from_slice(&length);
        return (first, None);
    }
    let mut last = [0; 64];
    last[56..].copy_from_slice(&length);
    (last, Some(first))
}

/// fio stores the low byte of each word of the state, then what its buffer of the last block holds.
fn sha256(sum: &mut [u8; SUM_BYTES], payload: &[u8]) {
    let (last, before) = padded256(payload);
    let mut state = SHA256_START;
    let blocks = payload
        .chunks_exact(64)
        .map(|block| block.try_into().unwrap_or([0; 64]));
    for block in blocks.chain(before).chain([last]) {
        sha2::block_api::compress256(&mut state, &[block]);
    }
    for (byte, word) in sum.iter_mut().zip(state) {
        *byte = word as u8;
    }
    sum[8..64].copy_from_slice(&last[8..]);
}

const SHA256_START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Up to fio 3.38 there is no hash at all: what its buffer of a block holds, the rest over the first block.
fn sha512(sum: &mut [u8; SUM_BYTES], payload: &[u8]) {
    let rest = payload.len() % 128;
    let whole = payload.len() - rest;
    if whole > 0 {
        put(sum, &payload[..128]);
    }
    put(sum, &payload[whole..]);
}
