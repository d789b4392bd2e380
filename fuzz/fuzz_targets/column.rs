//! Any bytes as a column of numbers; the first line says which column. No panic; what is accepted can be compared, and reads the
//! same when it is printed a number a line.
#![no_main]

use fathom_dialect::column::parse_column;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (wanted, text) = text.split_once('\n').unwrap_or(("", text));
    match parse_column(text, Some(wanted).filter(|wanted| !wanted.is_empty())) {
        Ok(column) => {
            assert!(column.values.len() >= 2 && column.values.iter().all(|value| value.is_finite()));
            let printed: String = column.values.iter().map(|value| format!("{value:e}\n")).collect();
            assert_eq!(
                parse_column(&printed, None).expect("printed").values,
                column.values
            );
        }
        Err(error) => assert!(error.line <= text.lines().count()),
    }
});
