//! The least that can be done: a loop of `pread` and nothing else.

use anyhow::{Context, Result};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Its number differs between architectures.
const O_DIRECT: i32 = rustix::fs::OFlags::DIRECT.bits().cast_signed();
const BLOCK: usize = 4096;

/// Reads blocks of 4 KiB at random offsets for `seconds`, and gives the I/Os a second; the clock is looked at every
/// thousand of them.
pub(super) fn pread(device: &Path, seconds: u32) -> Result<f64> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(O_DIRECT)
        .open(device)
        .with_context(|| format!("cannot open {}", device.display()))?;
    // Aligned by hand: a block somewhere within twice its size.
    let mut memory = vec![0u8; 2 * BLOCK];
    let skew = memory.as_ptr().align_offset(BLOCK);
    let buffer = &mut memory[skew..skew + BLOCK];
    let blocks = (4u64 << 30) / BLOCK as u64;
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut ios = 0u64;
    let start = Instant::now();
    let limit = Duration::from_secs(u64::from(seconds));
    while start.elapsed() < limit {
        for _ in 0..1000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let block = ((u128::from(state) * u128::from(blocks)) >> 64) as u64;
            rustix::io::pread(&file, &mut *buffer, block * BLOCK as u64)?;
        }
        ios += 1000;
    }
    Ok(ios as f64 / start.elapsed().as_secs_f64())
}
