//! Any bytes as an answer of Prometheus' API. No panic; what is accepted has finite values, and no time before 1970.
#![no_main]

use fathom_dialect::prometheus::{instances, numbers, range};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(rows) = range("node_cpu_seconds_total", text) {
        assert!(rows.iter().all(|row| row.value.is_finite()));
        assert!(numbers(text).is_ok() && instances(text).is_ok());
    }
});
