//! The checksums of verification, in one fixed width.

use fathom_core::workload::VerifyAlgorithm;
use md5::Md5;
use sha2::{Digest as _, Sha256};

/// Room for the longest digest.
pub(crate) const DIGEST_BYTES: usize = 32;

/// The digest of `payload`, padded with zeros.
pub(crate) fn digest(algorithm: VerifyAlgorithm, payload: &[u8]) -> [u8; DIGEST_BYTES] {
    let mut result = [0; DIGEST_BYTES];
    match algorithm {
        VerifyAlgorithm::Crc32c => result[..4].copy_from_slice(&crc32c::crc32c(payload).to_le_bytes()),
        VerifyAlgorithm::Xxhash => {
            result[..8].copy_from_slice(&xxhash_rust::xxh64::xxh64(payload, 0).to_le_bytes());
        }
        VerifyAlgorithm::Md5 => result[..16].copy_from_slice(&Md5::digest(payload)),
        VerifyAlgorithm::Sha256 => result.copy_from_slice(&Sha256::digest(payload)),
        // A pattern is its own checksum.
        VerifyAlgorithm::Pattern => {}
    }
    result
}
