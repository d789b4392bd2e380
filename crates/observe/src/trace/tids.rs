//! Sets and maps of tasks by number: a task's number is no secret worth a cryptographic hash, at a million events a second.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Task numbers.
pub(super) type Tids = HashSet<u32, BuildHasherDefault<Multiply>>;
/// Something of each task.
pub(super) type TidMap<T> = HashMap<u32, T, BuildHasherDefault<Multiply>>;

/// Fibonacci hashing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Multiply(u64);

impl Hasher for Multiply {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // The map looks at both ends of the number.
        self.0 = mixed ^ (mixed >> 32);
    }
}
