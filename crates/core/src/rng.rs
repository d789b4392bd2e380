//! Random numbers: small, fast, seeded, the same on every machine.
//!
//! Data in: a seed. Data out: uniform integers and floats. The generator is xoshiro256++ (Blackman and
//! Vigna, 2019, public domain), seeded through `SplitMix64` as its authors advise; kept here so that a seed
//! replays a run forever, whatever a library changes.

/// A random number generator; cloning it forks the same sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The generator of `seed`; any seed is good.
    pub fn new(seed: u64) -> Self {
        let mut mixer = seed;
        let mut next = || {
            mixer = mixer.wrapping_add(0x9e37_79b9_7f4a_7c15);
            split_mix(mixer)
        };
        Self {
            state: [next(), next(), next(), next()],
        }
    }

    /// A generator for stream `stream` of `seed`: streams of one seed are independent of each other.
    pub fn stream(seed: u64, stream: u64) -> Self {
        Self::new(split_mix(
            seed ^ split_mix(stream.wrapping_add(0x6a09_e667_f3bc_c909)),
        ))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in `0..n` by multiply and shift (Lemire 2019, without rejection: the bias is below
    /// `n / 2^64`). 0 for `n == 0`.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in `[0, 1)` with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `(0, 1]`: safe to take the logarithm of.
    #[inline]
    pub fn unit_open_low(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Whether an event of `percent` in 100 happens.
    #[inline]
    pub fn percent(&mut self, percent: u8) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// Fills `bytes` with random bits.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let mut chunks = bytes.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes());
        }
        let tail = chunks.into_remainder();
        let last = self.next_u64().to_le_bytes();
        tail.copy_from_slice(&last[..tail.len()]);
    }
}

/// One step of `SplitMix64` (Steele, Lea, Flood 2014): a strong mix of 64 bits, also good as a hash.
#[inline]
pub const fn split_mix(x: u64) -> u64 {
    let mut z = x;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
