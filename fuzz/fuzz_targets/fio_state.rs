//! Any bytes as a state file of fio's, and behind a head that fits them.
#![no_main]

use fathom_core::workload::LastWrites;
use fathom_dialect::state::{read_state, write_state};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for version in [3u64, 7] {
        let mut file = Vec::new();
        file.extend(version.to_le_bytes());
        file.extend((data.len() as u64).to_le_bytes());
        file.extend(u64::from(crc32c(data)).to_le_bytes());
        file.extend(data);
        check(&file);
    }
    check(data);
});

/// CRC-32C without its final inversion, as fio has it.
fn crc32c(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0x82f6_3b78 & 0u32.wrapping_sub(crc & 1))
        })
    })
}

fn check(file: &[u8]) {
    let Ok(state) = read_state(file) else { return };
    let written = state.written;
    for index in [0, 1, written.writes.saturating_sub(1), written.writes, u64::MAX] {
        assert!(index < written.writes || !written.holds(index, 0, 0));
    }
    if let LastWrites::Completed(_) = written.last {
        let again = read_state(&write_state(&written, "job", 1)).expect("what was read can be written");
        assert_eq!(again.written, written);
    }
}
