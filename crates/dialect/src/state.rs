//! fio's state file: how far the writes of a verified job came.
//!
//! Data in: the bytes of a file, or what a worker wrote. Data out: the other of the two. Written is the version of fio 3.33;
//! that of 3.42 is read as well. It must not know where files are.

use fathom_core::workload::{LastWrites, WrittenSoFar};

/// Version, size of the rest, and its checksum.
const HEAD_BYTES: usize = 24;
/// What stands before the completed writes, and each of them.
const OLD_BYTES: usize = 152;
const PLACE_BYTES: usize = 16;
/// What stands before the numbers of the writes in flight.
const NEW_BYTES: usize = 144;
const NAME: std::ops::Range<usize> = 88..152;
/// Where the states of the generators of random orders are.
const RANDOM: std::ops::Range<usize> = 32..88;
const NEW_RANDOM: std::ops::Range<usize> = 32..80;
/// No file of this kind is larger: a depth of a million, on each file.
pub const STATE_BYTES_MAX: u64 = 64 << 20;

/// The version that is written.
const OLD: u64 = 3;
/// That of fio 3.42.
const NEW: u64 = 7;

/// A state file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub written: WrittenSoFar,
    /// fio wrote it, of a job whose order is drawn at random: an order that fathom does not repeat.
    pub is_of_random_order: bool,
}

/// The name of the state file of worker `index` (from 0, over all jobs of the run).
pub fn state_name(job: &str, index: usize) -> String {
    format!("local-{}-{index}-verify.state", job.replace('/', "."))
}

/// The state file of a worker of the job `name` that has `files` files.
pub fn write_state(written: &WrittenSoFar, name: &str, files: u32) -> Vec<u8> {
    let places: &[(u32, u64)] = match &written.last {
        LastWrites::Completed(places) => places,
        LastWrites::InFlight(_) => &[],
    };
    let mut rest = vec![0; OLD_BYTES];
    rest[..8].copy_from_slice(&(places.len() as u64).to_le_bytes());
    rest[8..12].copy_from_slice(&written.depth.to_le_bytes());
    rest[12..16].copy_from_slice(&files.to_le_bytes());
    rest[16..24].copy_from_slice(&written.writes.to_le_bytes());
    // The last byte stays zero.
    let name = name.as_bytes();
    let kept = name.len().min(NAME.len() - 1);
    rest[NAME.start..NAME.start + kept].copy_from_slice(&name[..kept]);
    for (file, offset) in places {
        rest.extend(u64::from(*file).to_le_bytes());
        rest.extend(offset.to_le_bytes());
    }
    let mut bytes = Vec::with_capacity(HEAD_BYTES + rest.len());
    bytes.extend(OLD.to_le_bytes());
    bytes.extend((rest.len() as u64).to_le_bytes());
    bytes.extend(u64::from(crc32c(&rest)).to_le_bytes());
    bytes.extend(rest);
    bytes
}

/// Reads a state file.
///
/// # Errors
/// What is wrong with it, without a full stop.
pub fn read_state(bytes: &[u8]) -> Result<State, String> {
    if bytes.len() < HEAD_BYTES {
        return Err(format!("it has {} bytes, and no state is so short", bytes.len()));
    }
    let [version, size, sum] = [0, 8, 16].map(|at| number(bytes, at));
    let rest = &bytes[HEAD_BYTES..];
    if size != rest.len() as u64 {
        return Err(format!(
            "it is cut off or damaged: {} bytes where it names {size}",
            rest.len()
        ));
    }
    if sum != u64::from(crc32c(rest)) {
        return Err(String::from("its checksum does not match: it is damaged"));
    }
    match version {
        OLD => read_old(rest),
        NEW => read_new(rest),
        other => Err(format!(
            "it is of version {other}, which is not known: use fio up to 3.38 or from 3.42 on"
        )),
    }
}

fn read_old(rest: &[u8]) -> Result<State, String> {
    let too_short = || String::from("it ends too early");
    let head = rest.get(..OLD_BYTES).ok_or_else(too_short)?;
    let places = &rest[OLD_BYTES..];
    let (count, depth, writes) = (number(head, 0), half(head, 8), number(head, 16));
    if count.checked_mul(PLACE_BYTES as u64) != Some(places.len() as u64) {
        return Err(too_short());
    }
    let place = |place: &[u8]| Some((u32::try_from(number(place, 0)).ok()?, number(place, 8)));
    let completed: Option<Vec<(u32, u64)>> = places.chunks_exact(PLACE_BYTES).map(place).collect();
    let completed = completed.ok_or_else(|| String::from("it names a file that there cannot be"))?;
    Ok(State {
        written: WrittenSoFar {
            writes,
            depth,
            last: LastWrites::Completed(completed),
        },
        is_of_random_order: head[RANDOM].iter().any(|&byte| byte != 0),
    })
}

fn read_new(rest: &[u8]) -> Result<State, String> {
    let too_short = || String::from("it ends too early");
    let head = rest.get(..NEW_BYTES).ok_or_else(too_short)?;
    let (depth, writes) = (half(head, 0), number(head, 8));
    let numbers = &rest[NEW_BYTES..];
    if u64::from(depth) * 8 != numbers.len() as u64 {
        return Err(too_short());
    }
    let in_flight = numbers.chunks_exact(8).map(|bytes| number(bytes, 0));
    Ok(State {
        written: WrittenSoFar {
            writes,
            depth,
            last: LastWrites::InFlight(in_flight.filter(|&index| index != u64::MAX).collect()),
        },
        is_of_random_order: head[NEW_RANDOM].iter().any(|&byte| byte != 0),
    })
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let mut wide = [0; 8];
    wide.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(wide)
}

fn half(bytes: &[u8], at: usize) -> u32 {
    let mut wide = [0; 4];
    wide.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(wide)
}

/// CRC-32C without its final inversion, as fio has it. These files are short.
fn crc32c(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0x82f6_3b78 & 0u32.wrapping_sub(crc & 1))
        })
    })
}

#[cfg(test)]
mod tests;
