//! Any bytes as the CSV of public traces: see `recorded`. The first byte says how long a piece is, and which of them.
#![no_main]

#[path = "../recorded.rs"]
mod recorded;

use fathom_core::workload::RecordFormat;
use libfuzzer_sys::fuzz_target;

const FORMATS: [RecordFormat; 3] = [
    RecordFormat::MsrCambridge,
    RecordFormat::Alibaba,
    RecordFormat::Tencent,
];

fuzz_target!(|data: &[u8]| {
    if let Some((&choice, bytes)) = data.split_first() {
        let format = FORMATS[usize::from(choice) % FORMATS.len()];
        recorded::check(format, &[bytes], choice.into());
    }
});
