//! What must hold of every reader of recorded I/O, whatever its bytes.
//!
//! The reader takes or refuses them without a panic, and alike however they are cut into pieces; what it takes could be asked of a
//! disk, and is no more than went in.

use fathom_core::workload::RecordFormat;
use fathom_dialect::trace::{Reader, Row, TraceError, detect};

/// Reads `files` in pieces of so many bytes.
fn read(format: RecordFormat, files: &[&[u8]], piece: usize) -> Result<Vec<Row>, TraceError> {
    let mut left = files.to_vec();
    let mut reader = Reader::new(format, files.len());
    let mut rows = Vec::new();
    while let Some(input) = reader.wants() {
        let (piece, rest) = left[input].split_at(left[input].len().min(piece.max(1)));
        left[input] = rest;
        reader.feed(input, piece)?;
        rows.extend(reader.take());
    }
    Ok(rows)
}

/// `files`, whole and in pieces.
pub fn check(format: RecordFormat, files: &[&[u8]], piece: usize) {
    let bytes: usize = files.iter().map(|file| file.len()).sum();
    // Whatever it is, it is looked at.
    drop(detect(files[0]));
    let whole = read(format, files, bytes);
    assert_eq!(whole, read(format, files, piece), "pieces say something else");
    let Ok(rows) = whole else { return };
    assert!(rows.len() <= 2 * bytes, "more than went in");
    for row in rows {
        let end = row.sent.offset_bytes.checked_add(row.sent.len_bytes.into());
        assert!(end.is_some_and(|end| i64::try_from(end).is_ok()), "{row:?}");
        assert!(row.sent.end_ns >= row.sent.start_ns, "{row:?}");
    }
}
