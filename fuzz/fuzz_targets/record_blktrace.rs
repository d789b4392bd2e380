//! Any bytes as blktrace's files of two processors, cut where records of version 7 may end: see `recorded`. The first byte says how long a piece is.
#![no_main]

#[path = "../recorded.rs"]
mod recorded;

use fathom_core::workload::RecordFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((&choice, bytes)) = data.split_first() {
        let (first, second) = bytes.split_at(bytes.len() / 2 / 48 * 48);
        recorded::check(RecordFormat::Blktrace, &[first, second], choice.into());
        recorded::check(RecordFormat::Blktrace, &[bytes], choice.into());
    }
});
