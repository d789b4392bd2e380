//! Any bytes as fio's iolog: see `recorded`. The first byte says how long a piece is.
#![no_main]

#[path = "../recorded.rs"]
mod recorded;

use fathom_core::workload::RecordFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((&choice, bytes)) = data.split_first() {
        recorded::check(RecordFormat::FioIolog, &[bytes], choice.into());
    }
});
